/* Positive acknowledgement with retransmission, over channels that delay, lose and corrupt;
 * compare examples/timers/par.fair.
 *
 * The sender repeats a message until it is acknowledged. Acknowledgements carry no number, so that a
 * message must not be repeated before its frame and the acknowledgement are gone: T > DK + DL.
 * The messages are coloured white* red white* blue white*; if red and blue arrive once each and in
 * this order, no message of any sequence is lost, doubled or overtaken (P. Wolper, POPL 1986).
 *
 * That a frame arrives now and then is strong fairness to the process Delivery:
 *
 *   fair check examples/promela/par.pml --abstract-timer retry=3 --fairness strong-process
 *   fair check examples/promela/par.pml --abstract-timer retry=3 --fairness none
 *   fair check examples/promela/par.pml -D T=2 --property order         a setting that is too short
 */
#ifndef DK
#define DK 1            /* ticks that a frame takes */
#endif
#ifndef DL
#define DL 1            /* ticks that an acknowledgement takes */
#endif
#ifndef T
#define T (DK + DL + 1)
#endif

mtype = { white, red, blue };

bool frame;             /* is there one under way? */
bit number;
mtype colour = white;
bool ack;

bit expected;           /* the receiver */
byte sent;              /* 1: red, 2: blue, too */
byte received;
bool wrong;

timer frame_time, ack_time, retry;

#define frame_arrives (frame && expire(frame_time))
#define ack_arrives   (ack && expire(ack_time))

inline clear_frame() { frame = false; number = 0; colour = white; set(frame_time, -1) }
inline clear_ack()   { ack = false; set(ack_time, -1) }

active proctype Sender() {
    bit own;
    mtype message = white;
ready:
    if
    :: skip
    :: d_step { sent == 0 -> message = red; sent = 1 }
    :: d_step { sent == 1 -> message = blue; sent = 2 }
    :: d_step { ack_arrives -> clear_ack() }; goto ready
    fi;
sending:
    if
    :: d_step { !frame -> frame = true; number = own; colour = message;
                set(frame_time, DK); set(retry, T) }
    :: d_step { ack_arrives -> clear_ack() }; goto sending
    fi;
    /* waiting */
    if
    :: d_step { ack_arrives -> clear_ack(); own = 1 - own; message = white; set(retry, -1) };
       goto ready
    :: d_step { expire(retry) -> set(retry, -1) };
       goto sending
    fi
}

active proctype Delivery() {
    do
    :: d_step { frame_arrives ->
        if
        :: number == expected ->
            expected = 1 - expected;
            if
            :: colour == red  -> wrong = wrong || received != 0; received = (received > 1 -> received : 1)
            :: colour == blue -> wrong = wrong || received != 1; received = 2
            :: else
            fi
        :: else
        fi;
        clear_frame();
        ack = true;
        set(ack_time, DL)
    }
    od
}

active proctype Noise() {
    do
    :: d_step { frame_arrives -> clear_frame() }        /* lost */
    :: d_step { frame_arrives -> clear_frame() }        /* corrupted */
    :: d_step { ack_arrives -> clear_ack() }            /* lost */
    :: d_step { ack_arrives -> clear_ack() }            /* corrupted */
    od
}

ltl order        { [] !wrong }
ltl delivery     { [] (sent >= 1 -> <> (received >= 1)) }
ltl time_goes_on { [] <> tick }
