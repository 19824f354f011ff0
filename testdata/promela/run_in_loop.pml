/* A loop starts processes; each waits for its turn, so all exist at once. */
byte started, go;

proctype P(byte i) {
    byte twice = 2 * i;
    (go == i) -> go = go + 1;
    assert(twice == 2 * i)
}

init {
    byte i;
    do
    :: i < 4 -> run P(i); i++; started++
    :: else -> break
    od;
    (go == 4)
}
