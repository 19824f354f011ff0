/* Rendezvous on an array of channels, channels as parameters. */
chan ring[3] = [0] of { byte, bool };

proctype Node(byte id; chan in, out) {
    byte token;
    bool last;
    if
    :: id == 0 -> out!1,false
    :: else -> skip
    fi;
    do
    :: in?token,last ->
        if
        :: last -> break
        :: else -> out!token + 1,(token >= 4)
        fi
    od;
    if
    :: full(out) -> assert(false)
    :: nfull(out) -> skip
    fi
}

init {
    atomic {
        run Node(0, ring[0], ring[1]);
        run Node(1, ring[1], ring[2]);
        run Node(2, ring[2], ring[0])
    }
}
