/* A process that may move only if its provided clause allows it. */
byte turn, a, b;

active proctype A() provided (turn == 0) {
    do
    :: a < 3 -> a++
    :: else -> break
    od
}

active proctype B() provided (turn == 1 || a == 3) {
    do
    :: b < 3 -> b++; assert(turn == 1 || a == 3)
    :: else -> break
    od
}

active proctype Scheduler() {
    do
    :: turn = 1 - turn
    :: a == 3 && b == 3 -> break
    od
}
