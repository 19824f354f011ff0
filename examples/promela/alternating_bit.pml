/* The alternating bit protocol over channels that may lose messages.
 *
 *   fair check examples/promela/alternating_bit.pml                        safety holds, delivery does not
 *   fair check examples/promela/alternating_bit.pml --fairness strong      everything is delivered
 */
mtype = { msg, ack };
chan to_receiver = [1] of { mtype, bit };
chan to_sender = [1] of { mtype, bit };
byte sent, received;

active proctype Sender() {
    bit b, answer;
    do
    :: to_receiver!msg(b)
    :: to_receiver?msg(_)                       /* lost */
    :: to_sender?ack(answer) ->
        if
        :: answer == b -> atomic { b = 1 - b; sent = (sent + 1) % 3 }
        :: else
        fi
    od
}

active proctype Receiver() {
    bit expected, b;
    do
    :: to_receiver?msg(b) ->
        if
        :: b == expected ->
            atomic {
                assert(received == sent);
                received = (received + 1) % 3;
                expected = 1 - expected
            }
        :: else
        fi;
        to_sender!ack(b)
    :: to_sender?ack(_)                         /* lost */
    od
}

ltl delivered { [] <> (received == 1) }
