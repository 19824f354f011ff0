------------------------------ MODULE TwoPhase ------------------------------
(* The twin of examples/values/two_phase_commit.fair. *)
EXTENDS Naturals, FiniteSets
CONSTANT N
VARIABLES place, done, prepared, orders, known
vars == <<place, done, prepared, orders, known>>
R == 1..N

Init == /\ place = [r \in R |-> "working"]
        /\ done = FALSE
        /\ prepared = {} /\ orders = {} /\ known = {}

Hear(r)   == /\ ~done /\ r \in prepared
             /\ known' = known \cup {r}
             /\ UNCHANGED <<place, done, prepared, orders>>
Commit    == /\ ~done /\ Cardinality(known) = N
             /\ orders' = orders \cup {"commit"} /\ done' = TRUE
             /\ UNCHANGED <<place, prepared, known>>
Abort     == /\ ~done
             /\ orders' = orders \cup {"abort"} /\ done' = TRUE
             /\ UNCHANGED <<place, prepared, known>>
Prepare(r) == /\ place[r] = "working"
              /\ place' = [place EXCEPT ![r] = "ready"]
              /\ prepared' = prepared \cup {r}
              /\ UNCHANGED <<done, orders, known>>
GiveUp(r) == /\ place[r] = "working"
             /\ place' = [place EXCEPT ![r] = "aborted"]
             /\ UNCHANGED <<done, prepared, orders, known>>
Obey(r)   == /\ \/ "commit" \in orders /\ place' = [place EXCEPT ![r] = "committed"]
                \/ "abort" \in orders /\ place' = [place EXCEPT ![r] = "aborted"]
             /\ UNCHANGED <<done, prepared, orders, known>>

Next == Commit \/ Abort \/ \E r \in R : Hear(r) \/ Prepare(r) \/ GiveUp(r) \/ Obey(r)
Spec == Init /\ [][Next]_vars
Safe == ~ \E i, j \in R : place[i] = "aborted" /\ place[j] = "committed"
=============================================================================
