/* hidden, show and local variables; xr and xs; priorities; blocks with names of their own. */
show byte x;
local byte y;
chan q = [1] of { byte };

active proctype A() priority 2 {
    xs q;
    byte t = 1;
    x = t;
    { byte s = 5; x = s; { byte u; u++; s = u }; x = s };
    byte late = 3;
    assert(t == 1 && late == 3);
    q!x
}

active proctype B() {
    xr q;
    byte v;
    q?v;
    y = v
}
