/* The right side of `&&` and `||` is evaluated only if the left side does not decide. */
chan c = [0] of { byte };
byte x;

active proctype P() {
    if
    :: x > 0 && c?[1] -> assert(false)
    :: x == 0 || c?[1] -> x = 1
    fi;
    assert(x == 1)
}
