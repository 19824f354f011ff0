/* Only processes of the highest priority that can move do. The compiled verifier of Spin needs
   -DNOREDUCE for this. */
byte n, m;

active proctype Low() {
    assert(n == 3);
    do
    :: m < 2 -> m++
    :: else -> break
    od
}

active proctype High() priority 5 {
    do
    :: n < 3 -> n++
    :: else -> break
    od
}

proctype Started(byte by) {
    m = by
}

active proctype Middle() priority 3 {
    assert(n == 3 && _priority == 3);
    run Started(1) priority 9;
    assert(m == 1);
    atomic { run Started(2) priority 2; m = 0 }
}
