/* Channels travel in messages; a server answers on the channel that it is given. */
mtype = { request, reply, stop };
chan server = [1] of { mtype, chan, byte };
chan answer[2] = [1] of { mtype, byte };

active proctype Server() {
    chan back;
    byte x, served;
    do
    :: server?request,back,x -> back!reply(x + 10); served++
    :: served == 2 -> break
    od
}

active [2] proctype Client() {
    byte x;
    chan mine;
    mine = answer[_pid - 1];
    server!request,mine,_pid;
    mine?reply(x);
    assert(x == _pid + 10)
}
