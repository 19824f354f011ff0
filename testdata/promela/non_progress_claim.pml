/* np_ in a claim: a run from some point on without progress. */
byte x;

active proctype A() {
    do
    :: x = 1 - x
    :: x == 1 -> progress: skip
    od
}

never {
    do
    :: true
    :: np_ -> break
    od;
accept:
    do
    :: np_
    od
}
