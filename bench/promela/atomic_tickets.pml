/* N processes draw tickets and enter in the order of their tickets; drawing and leaving are atomic
 * sequences with branches inside. Read by both checkers; all variables are global.
 */
#ifndef N
#define N 4
#endif

byte next;
byte serving;
byte ticket[N];
byte inside;
byte turns[N];

active [N] proctype Customer() {
    do
    :: atomic {
           ticket[_pid] = next;
           next = (next + 1) % (N + 1);
           if
           :: turns[_pid] == 3 -> turns[_pid] = 0
           :: else -> turns[_pid] = turns[_pid] + 1
           fi
       }
       atomic { ticket[_pid] == serving -> inside = inside + 1; assert(inside == 1) }
       atomic {
           inside = inside - 1;
           serving = (serving + 1) % (N + 1);
           if
           :: ticket[_pid] = 0
           :: turns[_pid] > 1 -> ticket[_pid] = 0; turns[_pid] = 1
           fi
       }
    od
}
