/* Fischer's mutual exclusion with discrete timers; compare examples/timers/fischer.fair.
 *
 *   fair check examples/promela/fischer.pml                            the setting HOLD
 *   fair check examples/promela/fischer.pml --abstract-timer hold=2    all settings from 2 on
 *   fair check examples/promela/fischer.pml -D HOLD=1                  too short: exclusion fails
 */
#ifndef N
#define N 2
#endif
#ifndef HOLD
#define HOLD 2
#endif

byte x;                 /* 0: nobody has asked */
timer t[N], hold[N];

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
    fi;
writing:
    d_step { expire(t[_pid]) -> x = _pid + 1; set(t[_pid], -1); set(hold[_pid], HOLD) };
waiting:
    if
    :: d_step { expire(hold[_pid]) && x == _pid + 1 -> set(hold[_pid], -1); set(t[_pid], 1) };
       goto critical
    :: d_step { expire(hold[_pid]) && x != _pid + 1 -> set(hold[_pid], -1) };
       goto trying
    fi;
critical:
    if
    :: d_step { expire(t[_pid]) -> x = 0; set(t[_pid], -1) }; goto idle
    :: d_step { expire(t[_pid]) -> set(t[_pid], 1) }; goto critical
    fi
}

#define wants(i) (P[i]@trying || P[i]@writing || P[i]@waiting)

ltl exclusion { [] !(P[0]@critical && P[1]@critical) }
#if N == 2
ltl access { [] ((wants(0) || wants(1)) -> <> (P[0]@critical || P[1]@critical)) }
#endif
ltl time_goes_on { [] <> tick }
