/* for over ranges, arrays and channels; select; break out of nested loops. */
typedef Msg { byte v; bit odd };
byte a[4], sum, pick, wide;
chan q = [3] of { Msg };

active proctype A() {
    byte i, j;
    Msg m;
    for (i : 1 .. 3) {
        a[i] = i * i
    }
    for (i in a) {
        sum = sum + a[i]
    }
    assert(sum == 14 && i == 4);
    select (pick : 2 .. 4);
    select (wide : pick .. pick + 2);
    assert(wide >= pick && wide <= pick + 2);
    for (i : 1 .. pick) {
        for (j : 1 .. 9) {
            if
            :: j > i -> break
            :: else -> sum--
            fi
        }
    }
    for (i : 0 .. 2) { m.v = i; m.odd = i % 2; q!m }
    sum = 0;
    for (m in q) { sum = sum + m.v }
    assert(sum == 3 && len(q) == 3)
}
