--------------------------- MODULE ReadersWriters ---------------------------
(* The twin of examples/values/readers_writers.fair. *)
EXTENDS Naturals, Sequences
CONSTANT N
VARIABLES queue, readers, writer
vars == <<queue, readers, writer>>
Actor == 1..N

Init == queue = <<>> /\ readers = {} /\ writer = 0

Asks(i) == \E k \in DOMAIN queue : queue[k][2] = i
Idle(i) == ~Asks(i) /\ i \notin readers /\ writer # i
Ask(i, w) == Idle(i) /\ queue' = Append(queue, <<w, i>>) /\ UNCHANGED <<readers, writer>>
Begin == /\ queue # <<>> /\ writer = 0
         /\ \/ /\ Head(queue)[1] = "read"
               /\ readers' = readers \cup {Head(queue)[2]} /\ UNCHANGED writer
            \/ /\ Head(queue)[1] = "write" /\ readers = {}
               /\ writer' = Head(queue)[2] /\ UNCHANGED readers
         /\ queue' = Tail(queue)
Stop(i) == \/ i \in readers /\ readers' = readers \ {i} /\ UNCHANGED <<queue, writer>>
           \/ writer = i /\ writer' = 0 /\ UNCHANGED <<queue, readers>>

Next == Begin \/ \E i \in Actor : Stop(i) \/ \E w \in {"read", "write"} : Ask(i, w)
Spec == Init /\ [][Next]_vars
Safe == writer = 0 \/ readers = {}
FairSpec == Spec /\ \A i \in Actor : WF_vars(Begin /\ Head(queue)[2] = i) /\ WF_vars(Stop(i))
Live == \A i \in Actor : Asks(i) ~> ~Asks(i)
=============================================================================
