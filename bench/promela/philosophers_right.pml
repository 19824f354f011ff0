/* Twin of examples/philosophers_right.fair: philosopher 0 takes the right fork first.
 *
 * Correspondence: each native step is one Promela step; `taken` is the variable of the same name,
 * the program counter is the location. The system cannot deadlock.
 */
#ifndef N
#define N 5
#endif

bool taken[N];

#define RIGHT ((_pid + 1) % N)
#define FIRST (_pid -> _pid : 1 % N)
#define SECOND (_pid -> RIGHT : 0)

active [N] proctype Philosopher() {
    do
    :: d_step { !taken[FIRST] -> taken[FIRST] = true };
       d_step { !taken[SECOND] -> taken[SECOND] = true };
       skip;
       taken[FIRST] = false;
       taken[SECOND] = false
    od
}
