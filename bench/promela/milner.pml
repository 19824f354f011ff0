/* Twin of examples/milner.fair: Milner's cyclic scheduler; cell 0 starts.
 *
 * Correspondence: the event start(i) brings together cell i-1 and cell i; here it is a rendezvous
 * on the channel start[i], which Spin also counts as one step. The program counter is the location.
 */
#ifndef N
#define N 4
#endif

chan start[N] = [0] of { bit };

#define NEXT ((_pid + 1) % N)
#define AFTER_READY \
    skip; \
both: \
    if \
    :: start[NEXT]!1; goto working \
    :: skip; goto passing \
    fi; \
working: \
    skip; goto waiting; \
passing: \
    start[NEXT]!1; goto waiting

active proctype First() {
    goto ready;
waiting:
    start[_pid]?1;
ready:
    AFTER_READY
}

active [N - 1] proctype Cell() {
waiting:
    start[_pid]?1;
ready:
    AFTER_READY
}

#ifdef LIVENESS
ltl returns { [] (First@both -> <> First@waiting) }
#endif
