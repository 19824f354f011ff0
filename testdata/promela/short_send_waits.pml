/* There is never room for the message with too few components. */
chan c = [1] of { byte, byte };
bit done;

active proctype S() {
    c!1,2;
    done = 1;
end:
    c!4
}

active proctype R() {
    done;
    assert(len(c) == 1)
}
