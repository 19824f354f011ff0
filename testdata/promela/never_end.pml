/* A never claim whose end is reached iff x becomes 3. It cannot, and else stops the claim. */
byte x;

active proctype A() {
    do
    :: atomic { x = 3; x = 1 }
    :: d_step { x = 3; x = 2 }
    :: x = 0
    od
}

never {
    do
    :: x == 3 -> break
    :: else
    od
}
