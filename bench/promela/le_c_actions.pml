/* Twin of examples/bench/le_c_actions.fair: leader election on a complete graph with one process
 * for each action, so that Spin's weak fairness of processes is weak fairness of actions.
 *
 * Correspondence: as in le_c.pml. Spin stores exactly one state more: the one before the first step
 * of Oracle, which chooses a configuration and starts the other processes.
 */
#ifndef N
#define N 3
#endif
#include "fold.h"

bool leader[N];
bool correct, guess;

#define LEADER(k) leader[k]
#define LEADERS FOLD(+, LEADER)
#define EXIST ((!correct && guess) || (correct && LEADERS > 0))

proctype Duel(byte i; byte j) {
    do
    :: d_step { leader[i] && leader[j] -> leader[j] = false }
    od
}

proctype Claim(byte i; byte j) {
    do
    :: d_step { !leader[i] && !leader[j] && !EXIST -> leader[i] = true }
    od
}

proctype Guess(bool value) {
    do
    :: guess = value
    od
}

active proctype Oracle() {
    byte i, j;
    atomic {
        do
        :: i < N -> if :: leader[i] = true :: skip fi; i++
        :: else -> break
        od;
        i = 0;
        do
        :: i < N && j < N ->
           if
           :: i != j -> run Duel(i, j); run Claim(i, j)
           :: else
           fi;
           j++
        :: i < N && j == N -> i++; j = 0
        :: i == N -> break
        od;
        run Guess(false);
        run Guess(true);
        i = 0;
        j = 0
    };
    do
    :: correct = true
    od
}

#ifdef LIVENESS
/* The negation of <> [] one, deterministic: half the states of the claim that Spin itself makes. */
never {
one:
    if
    :: LEADERS == 1 -> goto one
    :: else -> goto accept_not_one
    fi;
accept_not_one:
    if
    :: LEADERS == 1 -> goto one
    :: else -> goto accept_not_one
    fi
}
#endif
