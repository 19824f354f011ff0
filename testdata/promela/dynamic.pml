/* Processes that start and end; numbers are reused from the top. */
byte n, deepest;

proctype Worker(byte depth; bool last) {
    byte me = _pid;
    n++;
    if
    :: !last && depth < 3 -> run Worker(depth + 1, depth == 2)
    :: else -> skip
    fi;
    assert(me == _pid && me < _nr_pr);
    if
    :: depth > deepest -> deepest = depth
    :: depth <= deepest
    fi;
    n--
}

init {
    pid child;
    child = run Worker(0, false);
    assert(child == 1);
    (_nr_pr == 1);
    run Worker(2, true)
}
