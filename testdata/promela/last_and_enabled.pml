/* Who moved last, and who could move. */
byte x;
chan q = [1] of { byte };

active proctype A() {
    do
    :: x < 2 -> x++
    :: q?x
    od
}

active proctype B() {
    do
    :: enabled(0) -> q!0
    :: !enabled(0) && x == 2 -> x = 1
    od
}

ltl turns { [] <> (_last == 1) }
