-------------------------------- MODULE Ring --------------------------------
(* The twin of examples/values/token_termination.fair. *)
EXTENDS Naturals
CONSTANT N
VARIABLES active, black, token, stained
vars == <<active, black, token, stained>>
Node == 0..(N - 1)

Init == active \in SUBSET Node /\ black \in SUBSET Node /\ token \in Node /\ stained = TRUE

Probe == /\ token = 0 /\ (stained \/ 0 \in black)
         /\ token' = N - 1 /\ stained' = FALSE /\ black' = black \ {0} /\ UNCHANGED active
Pass(i) == /\ i > 0 /\ token = i /\ (i \notin active \/ i \in black \/ stained)
           /\ token' = i - 1 /\ stained' = (stained \/ i \in black)
           /\ black' = black \ {i} /\ UNCHANGED active
Stop(i) == i \in active /\ active' = active \ {i} /\ UNCHANGED <<black, token, stained>>
Send(i, j) == /\ i # j /\ i \in active
              /\ active' = active \cup {j}
              /\ black' = IF j > i THEN black \cup {i} ELSE black
              /\ UNCHANGED <<token, stained>>

Next == Probe \/ \E i \in Node : Pass(i) \/ Stop(i) \/ \E j \in Node : Send(i, j)
Spec == Init /\ [][Next]_vars
Detected == token = 0 /\ ~stained /\ 0 \notin black /\ 0 \notin active
Safe == Detected => active = {}
Step(i) == Pass(i) \/ Stop(i) \/ (\E j \in Node : Send(i, j)) \/ (i = 0 /\ Probe)
FairSpec == Spec /\ \A i \in Node : WF_vars(Step(i))
Live == active = {} ~> Detected
=============================================================================
