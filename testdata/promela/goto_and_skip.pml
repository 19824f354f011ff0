/* Jumps, labels on jumps and selections, redundant skips, labels without statements. */
byte x;

active proctype A() {
    goto start;
dead: x = 9;
start:
    if
    :: x == 0 -> skip; skip; skip; x = 1
    :: x == 1 -> printf("one\n"); skip; x = 2
    :: x == 2 -> goto through
    fi;
    goto start;
through: goto last;
last: skip;
finish:
}
