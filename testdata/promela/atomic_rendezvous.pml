/* Rendezvous inside atomics: control goes to the receiver if it is inside an atomic, too. */
chan c = [0] of { byte };
chan d = [0] of { byte };
byte x, steps;

active proctype S() {
    atomic { x = 1; c!1; x = 2; steps++ };
    atomic { d?x; x++; steps++ }
}

active proctype R() {
    byte v;
    atomic { c?v; steps++; x = x + v; d!v + 4 };
    steps++
}

active proctype Other() {
    do
    :: steps < 3 -> x = (x + 1) % 4
    :: else -> break
    od
}
