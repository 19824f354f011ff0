/* A sender repeats a message up to N times, over channels of capacity N that lose messages, until it
 * is acknowledged, and begins again when nothing else can happen (`timeout`). Numbers are modulo 4.
 * Read by both checkers; all variables are global.
 */
#ifndef N
#define N 4
#endif

chan data = [N] of { byte, byte };
chan acks = [N] of { byte };
byte number;
byte payload;
byte expected;
byte got;
byte ack;
byte kept;
byte open;

active proctype Sender() {
    do
    :: data!number, payload; open = open + 1;
       do
       :: open < N -> data!number, payload; open = open + 1
       :: acks?ack ->
          if
          :: ack == number -> number = (number + 1) % 4; payload = (payload + 3) % 16; break
          :: else
          fi
       :: timeout -> break
       od;
       open = 0
    od
}

active proctype Receiver() {
    do
    :: data?got, kept ->
       if
       :: got == expected -> expected = (expected + 1) % 4
       :: else
       fi;
       acks!got
    od
}

active proctype Thief() {
    do
    :: data?_, _
    :: acks?_
    od
}
