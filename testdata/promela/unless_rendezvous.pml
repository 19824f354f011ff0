/* An escape that begins with a rendezvous: a send takes precedence as soon as its partner waits, a
   receive never does. */
chan q = [0] of { byte, bool };
chan r = [0] of { byte };
byte n, m;
bool done;

active proctype Sender() {
    {
        do
        :: n < 3 -> n++
        :: n > 0 -> n--
        od
    } unless { q!1, true; done = 1 }
}

active proctype Receiver() {
    byte y;
    do
    :: m < 2 -> m++
    :: m == 2 -> break
    od;
    if
    :: q?1, _
    :: q?eval(m), false
    fi;
    { do :: y < 3 -> y++ :: else -> break od } unless { r?y }
}

active proctype Third() {
    r!5
}
