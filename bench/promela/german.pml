/* Twin of examples/bench/german.fair: German's cache coherence protocol without data.
 *
 * Correspondence: each native step is one Promela step; variables have the same names. The
 * invariant is an assertion in the two steps that can break it.
 */
#ifndef N
#define N 2
#endif
#include "fold.h"

#define NOTHING 0
#define SHARED 1
#define EXCLUSIVE 2

#define SILENCE 0
#define INVALIDATE 1
#define GRANT_SHARED 2
#define GRANT_EXCLUSIVE 3

byte cache[N];
byte request[N];
byte message[N];
bool ack[N];

byte command;
byte client;
bool sharer[N];
bool to_invalidate[N];
bool owned;

#define NOT_EXCLUSIVE(k) cache[k] != EXCLUSIVE
#define INVALID(k) cache[k] == NOTHING
#define SHARER(k) sharer[k]
#define IN_THE_WAY (command == EXCLUSIVE || (command == SHARED && owned))

active [N] proctype Client() {
    do
    :: d_step { cache[_pid] == NOTHING && request[_pid] == NOTHING -> request[_pid] = SHARED }
    :: d_step { cache[_pid] != EXCLUSIVE && request[_pid] == NOTHING -> request[_pid] = EXCLUSIVE }
    :: d_step { message[_pid] == INVALIDATE && !ack[_pid] ->
           message[_pid] = SILENCE; ack[_pid] = true; cache[_pid] = NOTHING }
    :: d_step { message[_pid] == GRANT_SHARED ->
           message[_pid] = SILENCE; assert(FOLD(&&, NOT_EXCLUSIVE)); cache[_pid] = SHARED }
    :: d_step { message[_pid] == GRANT_EXCLUSIVE ->
           message[_pid] = SILENCE; cache[_pid] = NOTHING;
           assert(FOLD(&&, INVALID)); cache[_pid] = EXCLUSIVE }
    od
}

/* to_invalidate = sharer */
#define COPY_SHARERS \
    i = 0; \
    do \
    :: i < N -> to_invalidate[i] = sharer[i]; i++ \
    :: else -> break \
    od; \
    i = 0

#define SERVE(k) \
    :: d_step { command == NOTHING && request[k] != NOTHING -> \
           command = request[k]; request[k] = NOTHING; client = k; \
           COPY_SHARERS } \
    :: d_step { IN_THE_WAY && to_invalidate[k] && message[k] == SILENCE -> \
           message[k] = INVALIDATE; to_invalidate[k] = false } \
    :: d_step { command != NOTHING && ack[k] -> \
           ack[k] = false; sharer[k] = false; owned = false }

active proctype Directory() {
    byte i;
    do
    EACH(SERVE)
    :: d_step { command == SHARED && !owned && message[client] == SILENCE ->
           message[client] = GRANT_SHARED; sharer[client] = true; command = NOTHING }
    :: d_step { command == EXCLUSIVE && !(FOLD(||, SHARER)) && message[client] == SILENCE ->
           message[client] = GRANT_EXCLUSIVE; sharer[client] = true; owned = true; command = NOTHING }
    od
}
