/* Hidden variables that only help inside a d_step, or that are never read, are not part of the state. */
hidden byte scratch = 3;
hidden byte seen[4];
hidden int count;
byte a = 1, b = 2;

active [2] proctype Swap() {
    byte n;
    do
    :: n < 2 ->
        d_step { scratch = a; a = b; b = scratch; n++ }
        seen[n] = a
    :: n < 2 -> count = 7; n++
    :: else -> break
    od
}
