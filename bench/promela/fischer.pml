/* Fischer's mutual exclusion with discrete timers, as examples/timers/fischer.fair with the setting
   HOLD of its abstract timer. Timers are variables; time passes when nothing else can happen. */
#ifndef N
#define N 2
#endif
#ifndef D1
#define D1 1
#endif
#ifndef HOLD
#define HOLD 2
#endif

byte x;
short t[N] = -1;
short hold[N] = -1;

active [N] proctype P() {
idle:     if
          :: skip; goto trying
          :: d_step { t[_pid] = 1 }; goto sleeping
          fi;
sleeping: if :: d_step { t[_pid] == 0; t[_pid] = -1 }; goto idle fi;
trying:   if
          :: d_step { x == 0; t[_pid] = 0 }; goto writing
          :: d_step { x == 0; t[_pid] = 1 }; goto writing
#if D1 > 1
          :: d_step { x == 0; t[_pid] = 2 }; goto writing
#endif
          fi;
writing:  if :: d_step { t[_pid] == 0; x = _pid + 1; t[_pid] = -1; hold[_pid] = HOLD }; goto waiting fi;
waiting:  if
          :: d_step { hold[_pid] == 0 && x == _pid + 1; hold[_pid] = -1; t[_pid] = 1 }; goto critical
          :: d_step { hold[_pid] == 0 && x != _pid + 1; hold[_pid] = -1 }; goto trying
          fi;
critical: if
          :: d_step { t[_pid] == 0; x = 0; t[_pid] = -1 }; goto idle
          :: d_step { t[_pid] == 0; t[_pid] = 1 }; goto critical
          fi
}

active proctype Timers() {
  byte i;
  do
  :: d_step {
       timeout;
       i = 0;
       do
       :: i < N ->
          if :: t[i] >= 0 -> t[i]-- :: else fi;
          if :: hold[i] >= 0 -> hold[i]-- :: else fi;
          i++
       :: else -> break
       od;
       i = 0
     }
  od
}

#define wants(i) (P[i]@trying || P[i]@writing || P[i]@waiting)
#if N == 2
#define requested (wants(0) || wants(1))
#define inside   (P[0]@critical || P[1]@critical)
#elif N == 3
#define requested (wants(0) || wants(1) || wants(2))
#define inside   (P[0]@critical || P[1]@critical || P[2]@critical)
#else
#define requested (wants(0) || wants(1) || wants(2) || wants(3))
#define inside   (P[0]@critical || P[1]@critical || P[2]@critical || P[3]@critical)
#endif

ltl access { [] (requested -> <> inside) }
