/* A token goes around a ring of N stations by rendezvous; each counts its visits modulo 8 beside.
 * Read by both checkers. All variables are global, so that Spin resets none of them.
 */
#ifndef N
#define N 5
#endif

chan link[N] = [0] of { byte };
byte visits[N];
byte token[N];

active [N] proctype Station() {
    if
    :: _pid == 0 -> link[1 % N]!1
    :: else
    fi;
    do
    :: link[_pid]?token[_pid] -> link[(_pid + 1) % N]!token[_pid]
    :: visits[_pid] = (visits[_pid] + 1) % 8
    od
}
