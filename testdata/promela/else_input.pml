/* `else` beside a receive: Spin warns, and takes it for a test of the channel. */
chan c = [1] of { byte };
byte x;

active proctype P() {
    if
    :: c?x -> x = 1
    :: else -> x = 2
    fi;
    assert(x == 2)
}
