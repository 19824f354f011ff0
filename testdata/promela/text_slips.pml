/* Texts that Spin reads: a comment /* that is closed twice, */ */
#if 0
this doesn't have to be "Promela
#endif
int n;

inline set_to_one(r) {
    if
    :: n > 1 -> n = 0
    :: else -> skip
    fi
    r = 1
}
#define NOTHING

init {
    set_to_one(n)
    NOTHING assert(n == 1)
}
