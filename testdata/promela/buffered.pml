/* A buffered channel and all questions about its length. */
chan q = [2] of { byte };
byte sent, got;

active proctype Sender() {
    do
    :: sent < 4 && nfull(q) -> q!sent; sent++
    :: full(q) -> assert(len(q) <= 2); nfull(q)
    :: sent == 4 -> break
    od;
    empty(q)
}

active proctype Receiver() {
    byte x;
    do
    :: nempty(q) -> q?x; assert(x == got); got++
    :: got == 4 && empty(q) -> break
    od
}
