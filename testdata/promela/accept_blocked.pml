/* A process that waits at an accept label forever: the last state repeats, and is accepting. */
byte x;

active proctype A() {
    x = 1;
accept: (x == 2)
}
