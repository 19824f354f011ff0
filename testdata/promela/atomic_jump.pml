/* A sender in an `atomic` that jumps out of it after a rendezvous: the receiver is in an `atomic`,
   so it goes on, and the sender waits in front of the jump. */
chan c = [0] of { bit };
chan d = [0] of { bit };
byte at = 0;

active proctype Breaks() {
    do
    :: atomic { c!0; break }
    :: atomic { at < 3; at++ }
    od;
    at = 4;
    goto done;
    skip;
done:
    skip
}

active proctype Selects() {
    atomic {
        if
        :: d!1
        :: at > 1; d!0; goto late
        fi
    }
late:
    atomic { at > 0; d!1; goto again }
    skip;
again:
    atomic { d!0; goto last };
last:
    atomic { at = 0; skip }
}

active proctype Receives() {
    bit x;
    atomic { c?x; at = at + 1; at = at + 1 };
    do
    :: atomic { d?x; at = 1; at = 2 }
    :: at == 0; break
    od
}
