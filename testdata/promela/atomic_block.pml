/* Atomics that block in the middle, with choices, loops, and jumps into and out of them. */
byte x, y, n;

active proctype A() {
    atomic { x++; (y > 0); x++; y = 0 };
    atomic {
        if
        :: y == 0 -> x = 0
        :: x > 0 -> n = 1
        fi;
        do
        :: n < 2 -> n++
        :: x < 1 -> x++
        :: n >= 2 && x >= 1 -> goto middle
        od
    };
    assert(false);
    atomic { n = 9; middle: n++; (y < 2); n++ }
}

active proctype B() {
    do
    :: y < 2 -> y++
    :: atomic { y == 2 -> y = 0; x = x * 2 }
    :: x == 0 && n > 2 -> break
    od
}
