/* Channel variables that start with a channel that is declared elsewhere. */
chan K = [1] of { byte };
chan A[2] = [1] of { byte };
chan F = K;
chan G = A[1];
byte x, y;

active proctype P() {
    chan own = F;
    own!3;
    G!4
}

active proctype Q() {
    K?x;
    A[1]?y;
    assert(x == 3 && y == 4)
}
