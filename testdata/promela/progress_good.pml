/* Every loop passes a progress label; one of them is on a goto. */
byte x;

active proctype A() {
again:
    x = (x + 1) % 3;
    if
    :: x == 0 -> progress: goto again
    :: else -> goto again
    fi
}

active proctype B() {
    do
    :: x == 1 -> progress_b: skip
    od
}
