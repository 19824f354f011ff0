/* N traders exchange what they have through an exchange: an atomic sequence that begins and ends
 * with a rendezvous, so control passes from the sender to the receiver.
 * Read by both checkers; all variables are global.
 */
#ifndef N
#define N 4
#endif

chan offer = [0] of { byte, byte };
chan reply[N] = [0] of { byte };
byte have[N];
byte store = 1;
byte who;
byte what;

active [N] proctype Trader() {
    do
    :: atomic { offer!_pid, have[_pid]; reply[_pid]?have[_pid] }
    :: have[_pid] = (have[_pid] + 1) % 4
    od
}

active proctype Exchange() {
    do
    :: atomic { offer?who, what; reply[who]!store; store = what; what = 0; who = 0 }
    od
}
