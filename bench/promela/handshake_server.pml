/* N clients ask a server by rendezvous and are answered by rendezvous, on a channel each.
 * Read by both checkers. All variables are global, so that Spin resets none of them.
 */
#ifndef N
#define N 5
#endif

mtype = { get, put, done };
chan ask = [0] of { mtype, byte };
chan answer[N] = [0] of { mtype };
byte held;
byte client;
byte work[N];

active [N] proctype Client() {
    do
    :: ask!get, _pid; answer[_pid]?done; work[_pid] = 1;
       do
       :: work[_pid] < 3 -> work[_pid] = work[_pid] + 1
       :: ask!put, _pid -> break
       od;
       answer[_pid]?done; work[_pid] = 0
    od
}

active proctype Server() {
    do
    :: held < 2 -> ask?get, client; held = held + 1; answer[client]!done
    :: ask?put, client; assert(held > 0); held = held - 1; answer[client]!done
    od
}
