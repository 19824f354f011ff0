/* Structures: nested, with arrays, in arrays, as messages and parameters. */
typedef Inner { byte x = 1; short y[2] };
typedef Outer { bool ok; Inner in[2]; int z };
typedef Pair { byte left; byte right };
Outer g;
Outer many[2];
chan q = [1] of { byte, Pair };

proctype Taker(Pair start) {
    Pair p;
    byte tag;
    assert(start.left == 7);
    q?tag,p;
    assert(p.left == p.right + 1 && tag == 9);
    many[1].in[tag - 8].y[1] = p.left
}

init {
    Pair p;
    p.left = 7;
    run Taker(p);
    g.in[1].y[0] = -3;
    g.z = g.in[1].y[0] * g.in[0].x;
    many[g.in[0].x].ok = (g.z == -3 -> true : false);
    p.right = p.left - 1;
    q!9,p;
    assert(many[1].ok && !many[0].ok)
}
