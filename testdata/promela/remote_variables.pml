/* Looking into other processes. */
byte done;

proctype P(byte k) {
    byte v[2];
    v[1] = k;
work: v[0] = v[1] + 1;
    done++
}

init {
    atomic { run P(5); run P(7) };
    (P[1]@work || P[2]@work);
    assert(P[1]:v[1] == 5 || P[2]:v[1] == 7 || done > 0);
    (done == 2)
}

ltl values { [] (P[1]:k == 0 || P[1]:k == 5) }
