/* A trace assertion that fails: the second message on the channel is not the expected one. */
chan q = [2] of { byte };

trace {
    q!1; q!2; q?1; q?2
}

active proctype P() {
    byte x;
    q!1;
    if
    :: q!2
    :: q!3
    fi;
    q?x;
    q?x
}
