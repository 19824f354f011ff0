/* Peterson's algorithm: active processes, arrays, _pid, labels, remote references, ltl. */
bool flag[2];
byte turn, critical;

active [2] proctype P() {
again:
    flag[_pid] = true;
    turn = 1 - _pid;
    (flag[1 - _pid] == false || turn == _pid);
    critical++;
    assert(critical == 1);
cs: critical--;
    flag[_pid] = false;
    goto again
}

ltl exclusion { [] !(P[0]@cs && P[1]@cs) }
ltl first_enters { [] <> P[0]@cs }
ltl no_overtaking { [] (flag[0] -> (turn == 0 || turn == 1)) }
