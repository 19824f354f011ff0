/* A handshake with too few components on the receiving side. */
chan c = [0] of { byte, byte };
byte x;

active proctype S() { c!1,2 }

active proctype R() {
    assert(x == 0);
    c?x
}
