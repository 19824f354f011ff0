------------------------------- MODULE Gossip -------------------------------
(* The twin of examples/values/gossip.fair. *)
EXTENDS Naturals
CONSTANT N
VARIABLE known
Node == 1..N

Init == known = [i \in Node |-> {i}]
Next == \E i \in Node : \E j \in Node \ {i} :
            /\ known[i] # known[j]
            /\ LET both == known[i] \cup known[j]
               IN known' = [known EXCEPT ![i] = both, ![j] = both]
Spec == Init /\ [][Next]_known
Safe == \A i \in Node : i \in known[i]
=============================================================================
