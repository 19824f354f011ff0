------------------------------ MODULE Peterson ------------------------------
(* The twin of examples/peterson.fair. *)
EXTENDS Naturals
CONSTANT N
VARIABLES at, level, position, last
vars == <<at, level, position, last>>
Process == 0..(N - 1)

Init == /\ at = [i \in Process |-> "entering"] /\ level = [i \in Process |-> 1]
        /\ position = [i \in Process |-> 0] /\ last = [l \in 1..(N - 1) |-> 0]

MayPass(i) == last[level[i]] # i \/ \A k \in Process \ {i} : position[k] < level[i]
Enter(i) == /\ at[i] = "entering" /\ at' = [at EXCEPT ![i] = "marking"]
            /\ position' = [position EXCEPT ![i] = level[i]] /\ UNCHANGED <<level, last>>
Mark(i) == /\ at[i] = "marking" /\ at' = [at EXCEPT ![i] = "waiting"]
           /\ last' = [last EXCEPT ![level[i]] = i] /\ UNCHANGED <<level, position>>
Climb(i) == /\ at[i] = "waiting" /\ level[i] < N - 1 /\ MayPass(i)
            /\ at' = [at EXCEPT ![i] = "entering"] /\ level' = [level EXCEPT ![i] = @ + 1]
            /\ UNCHANGED <<position, last>>
Win(i) == /\ at[i] = "waiting" /\ level[i] = N - 1 /\ MayPass(i)
          /\ at' = [at EXCEPT ![i] = "critical"] /\ UNCHANGED <<level, position, last>>
Leave(i) == /\ at[i] = "critical" /\ at' = [at EXCEPT ![i] = "entering"]
            /\ position' = [position EXCEPT ![i] = 0] /\ level' = [level EXCEPT ![i] = 1]
            /\ UNCHANGED last

Step(i) == Enter(i) \/ Mark(i) \/ Climb(i) \/ Win(i) \/ Leave(i)
Next == \E i \in Process : Step(i)
Spec == Init /\ [][Next]_vars
FairSpec == Spec /\ \A i \in Process : WF_vars(Step(i))
Safe == \A i, j \in Process : i # j => ~(at[i] = "critical" /\ at[j] = "critical")
Live == position[0] > 0 ~> at[0] = "critical"
=============================================================================
