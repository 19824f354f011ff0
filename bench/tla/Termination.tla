---------------------------- MODULE Termination ----------------------------
(* The twin of examples/values/termination_detection.fair. *)
EXTENDS Naturals
CONSTANTS N, MOST
VARIABLES active, pending, detected
vars == <<active, pending, detected>>
Node == 1..N

Terminated == active = {} /\ \A i \in Node : pending[i] = 0
Init == /\ active \in SUBSET Node /\ pending = [i \in Node |-> 0]
        /\ detected \in BOOLEAN /\ (detected => Terminated)

Stop(i) == /\ i \in active /\ active' = active \ {i} /\ UNCHANGED pending
           /\ detected' \in {detected, detected \/ Terminated'}
Send(i, j) == /\ i \in active /\ pending[j] < MOST
              /\ pending' = [pending EXCEPT ![j] = @ + 1] /\ UNCHANGED <<active, detected>>
Receive(i) == /\ pending[i] > 0 /\ pending' = [pending EXCEPT ![i] = @ - 1]
              /\ active' = active \cup {i} /\ UNCHANGED detected
Detect == Terminated /\ ~detected /\ detected' = TRUE /\ UNCHANGED <<active, pending>>

Next == Detect \/ \E i \in Node : Stop(i) \/ Receive(i) \/ \E j \in Node : Send(i, j)
Spec == Init /\ [][Next]_vars
Safe == detected => Terminated
=============================================================================
