---------------------------- MODULE RaftElection ----------------------------
(* The twin of examples/values/raft_election.fair, for three nodes. *)
EXTENDS Naturals, FiniteSets
CONSTANT TERMS
VARIABLES role, term, vote, votes, requests, grants, elected
vars == <<role, term, vote, votes, requests, grants, elected>>
Node == 1..3

Init == /\ role = [i \in Node |-> "follower"] /\ term = [i \in Node |-> 0]
        /\ vote = [i \in Node |-> 0] /\ votes = [i \in Node |-> {}]
        /\ requests = {} /\ grants = {} /\ elected = [t \in 1..TERMS |-> {}]

Timeout(i) == /\ role[i] \in {"follower", "candidate"} /\ term[i] < TERMS
              /\ role' = [role EXCEPT ![i] = "candidate"]
              /\ term' = [term EXCEPT ![i] = @ + 1]
              /\ vote' = [vote EXCEPT ![i] = i]
              /\ votes' = [votes EXCEPT ![i] = {i}]
              /\ requests' = requests \cup {<<term[i] + 1, i, j>> : j \in Node \ {i}}
              /\ UNCHANGED <<grants, elected>>
Win(i) == /\ role[i] = "candidate" /\ 2 * Cardinality(votes[i]) > 3
          /\ role' = [role EXCEPT ![i] = "leader"]
          /\ elected' = [elected EXCEPT ![term[i]] = @ \cup {i}]
          /\ UNCHANGED <<term, vote, votes, requests, grants>>
CountVote(i) == \E g \in grants :
    /\ role[i] = "candidate" /\ g[3] = i /\ g[1] = term[i]
    /\ votes' = [votes EXCEPT ![i] = @ \cup {g[2]}]
    /\ grants' = grants \ {g}
    /\ UNCHANGED <<role, term, vote, requests, elected>>
GrantNew(i) == \E r \in requests :
    /\ r[3] = i /\ r[1] > term[i]
    /\ role' = [role EXCEPT ![i] = "follower"]
    /\ term' = [term EXCEPT ![i] = r[1]]
    /\ vote' = [vote EXCEPT ![i] = r[2]]
    /\ votes' = [votes EXCEPT ![i] = {}]
    /\ requests' = requests \ {r}
    /\ grants' = grants \cup {<<r[1], i, r[2]>>}
    /\ UNCHANGED elected
Grant(i) == \E r \in requests :
    /\ role[i] = "follower" /\ r[3] = i /\ r[1] = term[i] /\ vote[i] \in {0, r[2]}
    /\ vote' = [vote EXCEPT ![i] = r[2]]
    /\ requests' = requests \ {r}
    /\ grants' = grants \cup {<<r[1], i, r[2]>>}
    /\ UNCHANGED <<role, term, votes, elected>>

Next == \E i \in Node : Timeout(i) \/ Win(i) \/ CountVote(i) \/ GrantNew(i) \/ Grant(i)
Spec == Init /\ [][Next]_vars
Safe == \A t \in 1..TERMS : Cardinality(elected[t]) <= 1
=============================================================================
