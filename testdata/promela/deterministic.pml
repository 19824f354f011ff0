/* D_proctype, printm, printf with all its conversions, and values that are cut. */
mtype = { left, right };
mtype side = left;
byte n = 250;
short s = 32767;

D_proctype Counter(byte by) {
    do
    :: n < 250 -> break
    :: n >= 250 ->
        n = n + by;
        s++;
        side = (side == left -> right : left);
        printm(side);
        printf("%d %u %x %o %c %e\n", n, n, s, s, n, side)
    od
}

init {
    run Counter(1);
    run Counter(2);
    (_nr_pr == 1);
    assert(n < 250 && s < 0)
}
