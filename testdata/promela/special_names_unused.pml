/* Names in macros that nothing uses, and in comments (_last, _priority), are not part of the state. */
#define mine (_last == 1)
#define first (_priority == 1)

byte x = 0, y = 0;

active proctype A() {
    do
    :: x < 3 -> x++
    :: x == 3 -> x = 0
    od
}

active proctype B() {
    do
    :: y < 2 -> y++
    :: y == 2 -> y = 0
    od
}
