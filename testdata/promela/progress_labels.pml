/* Progress labels: one loop makes progress, the other does not. */
byte x;

active proctype A() {
    do
    :: x < 2 ->
progress_a: x++
    :: x == 2 -> x = 0
    :: x == 1 -> skip
    od
}
