/* To look for a message in a rendezvous channel is an error, also in a choice. */
chan c = [0] of { byte };
byte x;

active proctype P() {
    assert(x == 0);
    if
    :: c?[1] -> skip
    :: true
    fi
}
