/* Twin of examples/population/tc_r.fair: token circulation on a directed ring.
 *
 * Correspondence: one process for each node, whose rule is one d_step. There, every configuration
 * is initial; here node 0's first step (atomic: Spin stores nothing inside it) chooses one and
 * starts the other nodes. So Spin stores exactly one state more: the one before that step.
 */
#ifndef N
#define N 3
#endif

bool label_of[N], token[N];

#define R ((i + 1) % N)
#define MAY_PASS ((R == 0 && label_of[i] == label_of[0]) || (R != 0 && label_of[i] != label_of[R]))
#define NODE \
    do \
    :: d_step { MAY_PASS -> \
           label_of[R] = !label_of[R]; token[i] = false; token[R] = true } \
    od

proctype Node(byte i) {
    NODE
}

active proctype First() {
    byte i;
    atomic {
        do
        :: i < N ->
           if :: label_of[i] = true :: skip fi;
           if :: token[i] = true :: skip fi;
           i++
        :: else -> break
        od;
        i = 1;
        do
        :: i < N -> run Node(i); i++
        :: else -> break
        od;
        i = 0
    };
    NODE
}
