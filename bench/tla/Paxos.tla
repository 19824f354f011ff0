------------------------------- MODULE Paxos -------------------------------
(* The twin of examples/values/paxos.fair, for three acceptors and two values. *)
EXTENDS Naturals, FiniteSets
CONSTANT BALLOTS
VARIABLES ballot, voted, value, prepares, promises, proposals, votes
vars == <<ballot, voted, value, prepares, promises, proposals, votes>>
A == 1..3
B == 1..BALLOTS
V == 1..2
Majorities == {q \in SUBSET A : 2 * Cardinality(q) > 3}

Init == /\ ballot = [a \in A |-> 0] /\ voted = [a \in A |-> 0] /\ value = [a \in A |-> 0]
        /\ prepares = {} /\ promises = {} /\ proposals = {} /\ votes = {}

Prepare(b) == /\ b \notin prepares
              /\ prepares' = prepares \cup {b}
              /\ UNCHANGED <<ballot, voted, value, promises, proposals, votes>>
Propose(b, v) ==
    /\ ~ \E p \in proposals : p.ballot = b
    /\ \E q \in Majorities :
         LET heard == {p \in promises : p.who \in q /\ p.ballot = b}
         IN /\ \A a \in q : \E p \in heard : p.who = a
            /\ \/ \A p \in heard : p.voted = 0
               \/ \E p \in heard : p.value = v /\ \A o \in heard : o.voted <= p.voted
    /\ proposals' = proposals \cup {[ballot |-> b, value |-> v]}
    /\ UNCHANGED <<ballot, voted, value, prepares, promises, votes>>
Promise(a) ==
    \E b \in prepares :
        /\ b > ballot[a]
        /\ ballot' = [ballot EXCEPT ![a] = b]
        /\ promises' = promises \cup {[who |-> a, ballot |-> b, voted |-> voted[a], value |-> value[a]]}
        /\ UNCHANGED <<voted, value, prepares, proposals, votes>>
Vote(a) ==
    \E p \in proposals :
        LET vote == [who |-> a, ballot |-> p.ballot, value |-> p.value]
        IN /\ p.ballot >= ballot[a] /\ vote \notin votes
           /\ ballot' = [ballot EXCEPT ![a] = p.ballot]
           /\ voted' = [voted EXCEPT ![a] = p.ballot]
           /\ value' = [value EXCEPT ![a] = p.value]
           /\ votes' = votes \cup {vote}
           /\ UNCHANGED <<prepares, promises, proposals>>

Next == \/ \E b \in B : Prepare(b) \/ \E v \in V : Propose(b, v)
        \/ \E a \in A : Promise(a) \/ Vote(a)
Spec == Init /\ [][Next]_vars
Chosen(v) == \E b \in B, q \in Majorities :
                 \A a \in q : [who |-> a, ballot |-> b, value |-> v] \in votes
Safe == ~ (Chosen(1) /\ Chosen(2))
=============================================================================
