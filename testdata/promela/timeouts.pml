/* timeout waits until no other process can move; it may be part of a condition. */
chan lossy = [1] of { bit };
byte lost, acks, late;
bool quiet;

active proctype Sender() {
    bit b;
    do
    :: lossy!b ->
        if
        :: (acks > late) -> late++; b = 1 - b
        :: timeout -> lost = (lost + 1) % 3
        fi
    :: acks == 3 -> break
    od;
    (quiet && timeout);
    quiet = false
}

active proctype Medium() {
    bit b;
end: do
    :: lossy?b -> acks = (acks < 3 -> acks + 1 : 3)
    :: lossy?_
    :: acks == 3 && !quiet -> quiet = true; break
    od
}
