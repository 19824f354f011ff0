/* A trace assertion that holds: requests and answers alternate, whatever is sent on other channels. */
mtype = { ask, tell, note };
chan link = [2] of { mtype, byte };
chan back = [1] of { mtype, byte };
chan other = [1] of { mtype };

trace {
end:
    do
    :: link!ask, _ ; back?tell, _
    od
}

active proctype Client() {
    byte n;
    do
    :: n < 3 -> link!ask, n; back?tell, n; n++; other!note
    :: else -> break
    od
}

active proctype Server() {
    byte k;
end:
    do
    :: link?ask, k -> back!tell, k + 1
    :: other?note
    od
}
