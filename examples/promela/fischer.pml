/* Fischer's mutual exclusion with discrete timers; compare examples/timers/fischer.fair.
 *
 * A process that finds x == 0 writes its number within D1 ticks, waits HOLD ticks, longer than any
 * other may have taken to write, and enters if its number is still there.
 *
 *   fair check examples/promela/fischer.pml                            the setting HOLD
 *   fair check examples/promela/fischer.pml --abstract-timer hold=2    all settings from 2 on
 *   fair check examples/promela/fischer.pml -D HOLD=1                  too short: exclusion fails
 *   fair check examples/promela/fischer.pml -D N=4 --abstract-timer hold=2 --property access
 */
#ifndef N
#define N 2
#endif
#ifndef D1
#define D1 1
#endif
#ifndef HOLD
#define HOLD (D1 + 1)
#endif

byte x;                 /* 0: no process has asked */
timer t[N], hold[N];    /* everything that takes a known time; the time to wait */

active [N] proctype P() {
idle:
    if
    :: skip; goto trying
    :: set(t[_pid], 1); goto sleeping
    fi;
sleeping:
    d_step { expire(t[_pid]) -> set(t[_pid], -1) };
    goto idle;
trying:
    if
    :: d_step { x == 0 -> set(t[_pid], 0) }; goto writing
    :: d_step { x == 0 -> set(t[_pid], 1) }; goto writing
#if D1 >= 2
    :: d_step { x == 0 -> set(t[_pid], 2) }; goto writing
#endif
    fi;
writing:
    d_step { expire(t[_pid]) -> x = _pid + 1; set(t[_pid], -1); set(hold[_pid], HOLD) };
waiting:
    if
    :: d_step { expire(hold[_pid]) && x == _pid + 1 -> set(hold[_pid], -1); set(t[_pid], 1) };
       goto critical
    :: d_step { expire(hold[_pid]) && x != _pid + 1 -> set(hold[_pid], -1) };
       goto trying      /* the request of a loser stays */
    fi;
critical:
    if
    :: d_step { expire(t[_pid]) -> x = 0; set(t[_pid], -1) }; goto idle
    :: d_step { expire(t[_pid]) -> set(t[_pid], 1) }; goto critical
    fi
}

#define wants(i)  (P[i]@trying || P[i]@writing || P[i]@waiting)
#define inside(i) (P[i]@critical)

#if N == 2
#define n_inside   (inside(0) + inside(1))
#define some_wants (wants(0) || wants(1))
#elif N == 3
#define n_inside   (inside(0) + inside(1) + inside(2))
#define some_wants (wants(0) || wants(1) || wants(2))
#elif N == 4
#define n_inside   (inside(0) + inside(1) + inside(2) + inside(3))
#define some_wants (wants(0) || wants(1) || wants(2) || wants(3))
#else
#error the properties are written for two to four processes
#endif

ltl exclusion    { [] (n_inside <= 1) }
ltl access       { [] (some_wants -> <> (n_inside > 0)) }
ltl individual   { [] (wants(0) -> <> inside(0)) }
ltl time_goes_on { [] <> tick }
