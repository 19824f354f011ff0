------------------------------ MODULE Elevator ------------------------------
(* The twin of examples/values/elevator.fair. *)
EXTENDS Naturals
CONSTANT TOP
VARIABLES calls, floor, rises, open
vars == <<calls, floor, rises, open>>

Init == calls = {} /\ floor = 0 /\ rises = TRUE /\ open = FALSE

Above == \E f \in calls : f > floor
Below == \E f \in calls : f < floor
Moves == ~open /\ floor \notin calls
Call(f) == f \notin calls /\ calls' = calls \cup {f} /\ UNCHANGED <<floor, rises, open>>
Serve == /\ ~open /\ floor \in calls
         /\ open' = TRUE /\ calls' = calls \ {floor} /\ UNCHANGED <<floor, rises>>
Close == open /\ open' = FALSE /\ UNCHANGED <<calls, floor, rises>>
Up    == Moves /\ rises /\ Above /\ floor' = floor + 1 /\ UNCHANGED <<calls, rises, open>>
Down  == Moves /\ ~rises /\ Below /\ floor' = floor - 1 /\ UNCHANGED <<calls, rises, open>>
Turn  == /\ Moves /\ calls # {} /\ ~(IF rises THEN Above ELSE Below)
         /\ rises' = ~rises /\ UNCHANGED <<calls, floor, open>>

Next == Serve \/ Close \/ Up \/ Down \/ Turn \/ \E f \in 0..TOP : Call(f)
Spec == Init /\ [][Next]_vars
Safe == floor \in 0..TOP
=============================================================================
