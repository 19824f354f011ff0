/* Priorities that change: an atomic is interrupted by a process of higher priority, and a process
   that lowers its own priority lets others go on. */
byte order, last;

active proctype A() priority 2 {
    order++;
    last = 1;
    _priority = 1;
    order++;
    last = 4;
    assert(get_priority(0) == 1 && get_priority(1) >= 1)
}

active proctype B() {
    byte i;
    do
    :: i < 2 ->
        atomic {
            last = 2;
            set_priority(2, 4 + i);
            last = 3;
            i++
        }
    :: else -> break
    od
}

active proctype C() provided (last != 1) {
    do
    :: _priority > 3 -> order++; _priority = 1
    :: order > 6 -> break
    od
}
