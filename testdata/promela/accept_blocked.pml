/* A process that waits at an accept label for ever is no cycle: nothing moves. */
byte x;

active proctype A() {
    x = 1;
accept: (x == 2)
}
