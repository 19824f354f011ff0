/* A lost update, found by an assertion. */
byte x, done;

active [2] proctype P() {
    byte t;
    t = x;
    x = t + 1;
    done++;
    if
    :: done == 2 -> assert(x == 2)
    :: else -> skip
    fi
}
