/* Where everything has ended the trace must have, too: here it waits for one more message. */
chan q = [2] of { byte };

trace {
    q!1; q!_; q!2
}

active proctype P() {
    q!1;
    q!7
}
