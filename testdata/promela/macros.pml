/* The preprocessor and inlines. */
#include "defs.h"
#define ADD(x, y) ((x) + (y))
#define NEXT(x) ADD(x, \
    1)
#define NAME(n) value_##n
#define TWICE ADD(total, total)
#if defined(LIMIT) && LIMIT > 3
#define BIG true
#elif LIMIT == 3
#define BIG false
#else
#error LIMIT is too small
#endif
#undef UNUSED

byte NAME(a) = START, total;

inline test(c) { assert(c) }

inline bump(what, by) {
    byte old;
    old = what;
    what = ADD(old, by);
    test(what > old)
}


inline double(x) {
    return x * 2
}

active proctype A() {
    do
    :: total < LIMIT -> bump(total, NEXT(value_a) - 1)
    :: else -> break
    od;
    value_a = double(total);
    assert(BIG && TWICE == value_a)
#ifdef NOT_DEFINED
    ; assert(false)
#endif
}
