/* N stages sort numbers that come in through buffered channels: each keeps the smallest that it has
 * seen and passes the others on. Read by both checkers; all variables are global.
 */
#ifndef N
#define N 4
#endif

chan pipe[N] = [2] of { byte };
byte kept[N];
byte seen[N];
byte left = N;
byte seed = 7;

active proctype Source() {
    do
    :: left > 0 -> seed = (seed * 5 + 3) % 16; pipe[0]!seed; left = left - 1
    :: left == 0 -> left = N; seed = 7
    od
}

active [N] proctype Stage() {
    do
    :: pipe[_pid - 1]?seen[_pid - 1];
       if
       :: kept[_pid - 1] == 0 || seen[_pid - 1] < kept[_pid - 1] ->
          atomic { kept[_pid - 1] = seen[_pid - 1]; seen[_pid - 1] = 0 }
       :: else ->
          if
          :: _pid < N -> pipe[_pid % N]!seen[_pid - 1]
          :: _pid == N -> kept[_pid - 1] = 0
          fi
       fi
    od
}
