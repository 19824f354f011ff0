/* Twin of examples/population/le_c.fair: leader election on a complete graph.
 *
 * Correspondence: one process for each node and the detector; each rule and ordered pair is one
 * d_step. There, every configuration of the nodes is initial; here the detector's first step
 * (atomic: Spin stores nothing inside it) chooses one and starts the nodes. So Spin stores exactly
 * one state more: the one before that step.
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

#define MEET(j) \
    :: d_step { i != j && leader[i] && leader[j] -> leader[j] = false } \
    :: d_step { i != j && !leader[i] && !leader[j] && !EXIST -> leader[i] = true }

proctype Node(byte i) {
    do
    EACH(MEET)
    od
}

active proctype Detector() {
    byte k;
    atomic {
        do
        :: k < N -> if :: leader[k] = true :: skip fi; k++
        :: else -> break
        od;
        k = 0;
        do
        :: k < N -> run Node(k); k++
        :: else -> break
        od;
        k = 0
    };
    do
    :: correct = true
    :: guess = false
    :: guess = true
    od
}
