/* N tasks of different priorities share a lock; a task of a lower priority runs only if none of a
 * higher one can. Read by both checkers; all variables are global.
 */
#ifndef N
#define N 4
#endif

byte lock;
byte rounds[N];
byte sleeping[N];

active [N] proctype Task() {
    set_priority(_pid, 1 + _pid % 3);
    do
    :: atomic { sleeping[_pid] == 0 && lock == 0 -> lock = 1 }
       rounds[_pid] = (rounds[_pid] + 1) % 3;
       lock = 0;
       sleeping[_pid] = 1 + rounds[_pid]
    :: sleeping[_pid] > 0 -> sleeping[_pid] = sleeping[_pid] - 1
    od
}

active proctype Idle() {
    do
    :: sleeping[0] > 0 -> sleeping[0] = 0
    :: lock == 0 -> sleeping[1 % N] = 1
    od
}
