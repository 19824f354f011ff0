/* Where nothing moves any more the trace must have come to its end: here it waits for one more
   message. Spin does not ask where no process is left. */
chan q = [2] of { byte };

trace {
    q!1; q!_; q!2
}

active proctype P() {
    q!1;
    q!7
}

active proctype Stays() {
end:
    q?9
}
