/* Positive acknowledgement with retransmission, as examples/timers/par.fair with the setting RETRY of
   its abstract timer. */
#ifndef DK
#define DK 1
#endif
#ifndef DL
#define DL 1
#endif
#ifndef RETRY
#define RETRY 3
#endif
#define WHITE 0
#define RED   1
#define BLUE  2

bool frame, ack, wrong;
byte bitno, colour, expected, sent, received;
short frame_time = -1, ack_time = -1, retry = -1;
byte place;    /* of the sender: 0 ready, 1 sending, 2 waiting */
byte number, message;

#define drop_frame frame = 0; bitno = 0; colour = WHITE; frame_time = -1
#define drop_ack   ack = 0; ack_time = -1

active proctype Sender() {
  do
  :: d_step { place == 0; place = 1 }
  :: d_step { place == 0 && sent == 0; message = RED; sent = 1; place = 1 }
  :: d_step { place == 0 && sent == 1; message = BLUE; sent = 2; place = 1 }
  :: d_step { place == 1 && !frame; frame = 1; bitno = number; colour = message;
              frame_time = DK; retry = RETRY; place = 2 }
  :: d_step { place == 2 && retry == 0; retry = -1; place = 1 }
  od
}

active proctype Frames() {
  do
  :: d_step {
       frame && frame_time == 0;
       if
       :: bitno == expected ->
          expected = 1 - expected;
          if
          :: colour == RED -> wrong = wrong || received != 0;
             if :: received < 1 -> received = 1 :: else fi
          :: colour == BLUE -> wrong = wrong || received != 1; received = 2
          :: else
          fi
       :: else
       fi;
       drop_frame; ack = 1; ack_time = DL
     }
  :: d_step { frame && frame_time == 0; drop_frame }    /* lost */
  :: d_step { frame && frame_time == 0; drop_frame }    /* corrupted */
  od
}

active proctype Acknowledgements() {
  do
  :: d_step {
       ack && ack_time == 0;
       drop_ack;
       if
       :: place == 2 -> number = 1 - number; message = WHITE; retry = -1; place = 0
       :: else
       fi
     }
  :: d_step { ack && ack_time == 0; drop_ack }
  :: d_step { ack && ack_time == 0; drop_ack }
  od
}

active proctype Timers() {
  do
  :: d_step {
       timeout;
       if :: frame_time >= 0 -> frame_time-- :: else fi;
       if :: ack_time >= 0 -> ack_time-- :: else fi;
       if :: retry >= 0 -> retry-- :: else fi
     }
  od
}

ltl order { [] !wrong }
