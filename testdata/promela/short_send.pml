/* A message with too few components is an error when it is sent, not before. */
chan c = [1] of { byte, byte };
byte x, y;

active proctype S() {
    c!1,2;
    c!4
}

active proctype R() {
    assert(x == 0);
    c?x,y
}
