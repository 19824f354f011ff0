/* Twin of examples/bench/alternating_bit.fair: the alternating bit protocol over lossy channels of
 * capacity N.
 *
 * Correspondence: each native step is one Promela step; channels and variables have the same names.
 * The choice of the next datum (D = 2 values) is written as two alternatives.
 */
#ifndef N
#define N 2
#endif

chan forward = [N] of { bit, byte };
chan back = [N] of { bit };

bit sender_bit;
byte sender_data;

active proctype Sender() {
    do
    :: forward!sender_bit, sender_data
    :: d_step { back?eval(sender_bit) -> sender_bit = !sender_bit; sender_data = 0 }
    :: d_step { back?eval(sender_bit) -> sender_bit = !sender_bit; sender_data = 1 }
    :: back?eval(!sender_bit)
    od
}

active proctype Receiver() {
    bit expected;
    byte received;
    do
    :: if
       :: d_step { forward?eval(expected), received ->
              assert(received == sender_data); expected = !expected }
       :: forward?eval(!expected), _
       fi;
       back!(!expected)
    od
}

active proctype Thief() {
    do
    :: forward?_, _
    :: back?_
    od
}
