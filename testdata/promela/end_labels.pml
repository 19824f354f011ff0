/* A server that waits at an end label is at a valid end. */
chan q = [0] of { byte };
byte got;

active proctype Server() {
end_wait:
    do
    :: q?got
    od
}

active [2] proctype Client() {
    q!_pid
}
