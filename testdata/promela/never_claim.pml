/* A never claim: from some point on x is never 0 again. It is violated. */
byte x;

active proctype A() {
    do
    :: x = (x + 1) % 3
    :: x == 1 -> x = 2
    :: x == 2 -> x = 1
    od
}

never {
    do
    :: true
    :: x != 0 -> break
    od;
accept:
    do
    :: x != 0
    od
}
