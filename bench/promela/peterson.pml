/* Twin of examples/peterson.fair: Peterson's algorithm for N processes.
 *
 * Correspondence: each native step is one Promela step. `position`, `last` and `level` are the
 * variables of the same names; the program counter is the location. `critical` counts the
 * processes in the critical section, a function of the program counters, so it adds no states; it
 * turns the invariant into an assertion.
 */
#ifndef N
#define N 3
#endif
#include "fold.h"

byte position[N];
byte last[N];
byte critical;

#define BELOW(k) (_pid == k || position[k] < level)
#define MAY_PASS (last[level] != _pid || FOLD(&&, BELOW))

active [N] proctype P() {
    byte level = 1;

entering:
    position[_pid] = level;
marking:
    last[level] = _pid;
waiting:
    if
    :: d_step { level < N - 1 && MAY_PASS -> level++ }; goto entering
    :: d_step { level == N - 1 && MAY_PASS -> critical++; assert(critical == 1) }
    fi;
in_critical:
    d_step { position[_pid] = 0; level = 1; critical-- };
    goto entering
}

#ifdef LIVENESS
ltl access { [] (position[0] > 0 -> <> P[0]@in_critical) }
#endif
