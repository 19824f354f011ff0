------------------------------- MODULE Safra -------------------------------
(* The twin of examples/values/safra_termination.fair. *)
EXTENDS Integers
CONSTANTS N, MOST
VARIABLES active, black, surplus, pending, at, sum, stained
vars == <<active, black, surplus, pending, at, sum, stained>>
Node == 0..(N - 1)

Init == /\ active \in SUBSET Node /\ black \in SUBSET Node
        /\ surplus = [i \in Node |-> 0] /\ pending = [i \in Node |-> 0]
        /\ at \in Node /\ sum = 0 /\ stained = TRUE

Probe == /\ at = 0 /\ (stained \/ 0 \in black \/ surplus[0] + sum > 0)
         /\ at' = N - 1 /\ sum' = 0 /\ stained' = FALSE
         /\ black' = black \ {0}
         /\ UNCHANGED <<active, surplus, pending>>
Pass(i) == /\ i > 0 /\ at = i /\ i \notin active
           /\ at' = i - 1 /\ sum' = sum + surplus[i]
           /\ stained' = (stained \/ i \in black)
           /\ black' = black \ {i}
           /\ UNCHANGED <<active, surplus, pending>>
Send(i) == /\ i \in active /\ surplus[i] < MOST
           /\ surplus' = [surplus EXCEPT ![i] = @ + 1]
           /\ \E j \in Node \ {i} : /\ pending[j] < MOST
                                    /\ pending' = [pending EXCEPT ![j] = @ + 1]
           /\ UNCHANGED <<active, black, at, sum, stained>>
Receive(i) == /\ pending[i] > 0
              /\ pending' = [pending EXCEPT ![i] = @ - 1]
              /\ surplus' = [surplus EXCEPT ![i] = @ - 1]
              /\ black' = black \cup {i} /\ active' = active \cup {i}
              /\ UNCHANGED <<at, sum, stained>>
Stop(i) == /\ i \in active /\ active' = active \ {i}
           /\ UNCHANGED <<black, surplus, pending, at, sum, stained>>

Next == Probe \/ \E i \in Node : Pass(i) \/ Send(i) \/ Receive(i) \/ Stop(i)
Spec == Init /\ [][Next]_vars
Detected == /\ at = 0 /\ ~stained /\ sum + surplus[0] = 0
            /\ 0 \notin black /\ 0 \notin active
Terminated == active = {} /\ \A i \in Node : pending[i] = 0
Safe == Detected => Terminated
Step(i) == Pass(i) \/ Send(i) \/ Receive(i) \/ Stop(i) \/ (i = 0 /\ Probe)
FairSpec == Spec /\ \A i \in Node : WF_vars(Step(i))
Live == Terminated ~> Detected
=============================================================================
