------------------------------- MODULE Milner -------------------------------
(* The twin of examples/milner.fair. *)
EXTENDS Naturals
CONSTANT N
VARIABLE at
Cell == 0..(N - 1)
After(i) == (i + 1) % N
Before(i) == (i + N - 1) % N

Init == at = [i \in Cell |-> IF i = 0 THEN "ready" ELSE "waiting"]

Begin(i) == at[i] = "ready" /\ at' = [at EXCEPT ![i] = "both"]
Work(i) == \/ at[i] = "both" /\ at' = [at EXCEPT ![i] = "passing"]
           \/ at[i] = "working" /\ at' = [at EXCEPT ![i] = "waiting"]
Pass(i) == /\ at[i] \in {"both", "passing"} /\ at[After(i)] = "waiting"
           /\ at' = [at EXCEPT ![i] = IF @ = "both" THEN "working" ELSE "waiting",
                               ![After(i)] = "ready"]

Step(i) == Begin(i) \/ Work(i) \/ Pass(i)
Next == \E i \in Cell : Step(i)
Spec == Init /\ [][Next]_at
FairSpec == Spec /\ \A i \in Cell : WF_at(Step(i) \/ Pass(Before(i)))
Safe == TRUE
Live == at[0] = "both" ~> at[0] = "waiting"
=============================================================================
