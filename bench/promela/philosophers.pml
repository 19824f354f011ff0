/* Twin of examples/philosophers.fair: all philosophers take the left fork first.
 *
 * Correspondence: each native step is one Promela step; `taken` is the variable of the same name,
 * the program counter is the location. The system can deadlock, so the verifier runs with -E. Its
 * liveness is about the location behind `eat`, because claims do not see steps.
 */
#ifndef N
#define N 5
#endif

bool taken[N];

#define RIGHT ((_pid + 1) % N)

active [N] proctype Philosopher() {
    do
    :: d_step { !taken[_pid] -> taken[_pid] = true };
       d_step { !taken[RIGHT] -> taken[RIGHT] = true };
       skip;
fed:   d_step { assert(taken[_pid]); taken[_pid] = false };
       d_step { assert(taken[RIGHT]); taken[RIGHT] = false }
    od
}

#ifdef LIVENESS
ltl eats { [] <> (Philosopher[0]@fed) }
#endif
