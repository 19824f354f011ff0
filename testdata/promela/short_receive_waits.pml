/* Receiving and looking with other numbers of components: no message that fits ever comes. */
chan c[2] = [1] of { byte, byte };
byte x;

proctype P(byte i) {
    chan d = c[i];
    end: if
    :: d?_
    :: c[1]?7
    fi
}

active proctype Q() {
    c[1]!5,6;
    c[1]?<x>;
    assert(x == 5);
    c[1]?[5] && c[1]?[eval(x),6];
    x = 1;
    run P(0)
}
