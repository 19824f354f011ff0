/* Twin of examples/population/le_r.fair: leader election on a directed ring.
 *
 * Correspondence: one process for each node and the detector; each rule is one d_step. There,
 * every configuration of the nodes is initial; here the detector's first step (atomic: Spin stores
 * nothing inside it) chooses one and starts the nodes. So Spin stores exactly one state more: the
 * one before that step.
 */
#ifndef N
#define N 3
#endif
#include "fold.h"

bool bullet[N], leader[N], shield[N];
bool correct, guess;

#define LEADER(k) leader[k]
#define LEADERS FOLD(+, LEADER)
#define EXIST ((!correct && guess) || (correct && LEADERS > 0))
#define R ((i + 1) % N)

proctype Node(byte i) {
    do
    :: d_step { !EXIST ->
           bullet[i] = true; leader[i] = true; shield[i] = true }
    :: d_step { !leader[i] && shield[i] && EXIST ->
           shield[i] = false; bullet[R] = false; shield[R] = true }
    :: d_step { leader[i] && shield[i] && EXIST ->
           bullet[i] = true; shield[i] = false; bullet[R] = false; shield[R] = true }
    :: d_step { leader[i] && !shield[i] && !bullet[R] && EXIST ->
           bullet[i] = true }
    :: d_step { !shield[i] && bullet[R] && EXIST ->
           bullet[i] = true; leader[i] = false; bullet[R] = false }
    od
}

active proctype Detector() {
    byte k;
    atomic {
        do
        :: k < N ->
           if :: bullet[k] = true :: skip fi;
           if :: leader[k] = true :: skip fi;
           if :: shield[k] = true :: skip fi;
           k++
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
