/* Escapes: around loops, nested, inside blocks, and covering each other. */
byte x, r;
bool stop, halt;

active proctype A() {
    {
        {
            do
            :: x < 3 -> x++
            :: x > 0 -> x--
            od
        } unless { stop -> r = 1; r = r + 1 };
        r = r + 4
    } unless { halt -> r = r + 8 };
    x = 0;
    { (x == 5); r = 99 } unless { if :: x == 0 -> skip :: x == 1 -> r = 98 fi };
    assert(r < 90)
}

active proctype B() {
    if
    :: stop = true; halt = true
    :: halt = true
    :: stop = true
    fi
}
