/* A rendezvous channel has no message that could be looked at. */
chan c = [0] of { byte };
byte x;

active proctype P() { c!1 }

active proctype Q() {
    assert(x == 0);
    if
    :: c?<x>
    :: c?x
    fi
}
