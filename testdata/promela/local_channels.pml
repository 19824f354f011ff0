/* Channels that belong to processes and are handed to others. */
chan port = [1] of { chan };

proctype Child(byte n) {
    chan mine = [1] of { byte };
    byte x;
    port!mine;
    mine?x;
    assert(x == n)
}

init {
    chan theirs;
    run Child(3);
    port?theirs;
    theirs!3;
    (_nr_pr == 1);
    run Child(4);
    port?theirs;
    theirs!4
}
