/* Every integer type wraps as in C; operators of C. */
bit b;
bool t = true;
byte by = 250;
short sh = 32760;
int i = 2147483640;
unsigned u : 3 = 6;
byte r[8];

active proctype A() {
    b = 3;
    by = by + 10;
    sh = sh + 100;
    i = i + 100;
    u = u + 5;
    assert(b == 1 && by == 4 && sh == -32676 && i < 0 && u == 3);
    i = -7;
    r[0] = -i / 2;
    assert(i / 2 == -3 && i % 2 == -1);
    r[1] = (5 & 6) | (1 << 3) ^ 2;
    r[2] = ~5 & 255;
    r[3] = 200 >> 2;
    r[4] = (t && !b || by > 3);
    r[5] = (by != 4) + 2 * (sh <= 0);
    sh = -by;
    r[6] = sh;
    r[7] = -1;
    assert(r[1] == 14 && r[2] == 250 && r[3] == 50 && r[5] == 2 && r[6] == 252 && r[7] == 255)
}

active proctype Counter() {
    byte c;
    do
    :: c++; if :: c == 255 -> break :: else fi
    od
}
