/* Two processes take two locks in different order. */
bool lock[2];

active proctype A() {
    atomic { !lock[0] -> lock[0] = true };
    atomic { !lock[1] -> lock[1] = true };
    lock[0] = false; lock[1] = false
}

active proctype B() {
    atomic { !lock[1] -> lock[1] = true };
    atomic { !lock[0] -> lock[0] = true };
    lock[0] = false; lock[1] = false
}
