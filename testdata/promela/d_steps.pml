/* d_step: loops, selections, jumps, channels, and a guard that waits. */
chan q = [3] of { byte };
byte sum, max, rounds;
bool ready;

active proctype A() {
    byte i, v;
    do
    :: rounds < 2 ->
        d_step {
            ready -> i = 0;
            do
            :: i < 3 -> q!i * rounds; i++
            :: else -> break
            od;
            if
            :: rounds == 0 -> goto skipped
            :: else -> max = max + 1
            fi;
            max = max + 1;
skipped:    i = 0;
            ready = false
        }
    :: d_step { full(q) -> sum = 0;
            do
            :: q?v -> sum = sum + v; if :: v > max -> max = v :: else fi
            :: empty(q) -> break
            od;
            rounds++
        }
    :: rounds == 2 -> break
    od
}

active proctype B() {
    do
    :: d_step { if :: !ready && empty(q) -> ready = true :: rounds == 9 -> skip fi }
    :: rounds == 2 -> break
    od
}
