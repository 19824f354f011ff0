/* An acceptance cycle that weak fairness excludes: B always wants to leave. */
bool free;

active proctype A() {
    do
    :: !free ->
accept: skip
    :: free -> break
    od
}

active proctype B() {
    free = true
}
