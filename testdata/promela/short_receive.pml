/* Receiving with too few components is an error once there is a message that fits. */
chan c = [2] of { byte, byte, byte };
byte x = 9, y = 9;

active proctype S() { c!1,2,3; c!4,5,6 }

active proctype R() {
    c?x,_;
    c?_,y;
    assert(x == 1 && y == 5)
}
