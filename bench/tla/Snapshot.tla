------------------------------ MODULE Snapshot ------------------------------
(* The twin of examples/values/chandy_lamport.fair. *)
EXTENDS Naturals, Sequences, FiniteSets
CONSTANTS N, TOKENS
VARIABLES held, link, recorded, between
vars == <<held, link, recorded, between>>
Node == 0..(N - 1)
None == 0 - 1
Before(i) == (i + N - 1) % N

Init == /\ held = [i \in Node |-> IF i = 0 THEN TOKENS ELSE 0]
        /\ link = [i \in Node |-> <<>>]
        /\ recorded = [i \in Node |-> None] /\ between = [i \in Node |-> None]

Has(i) == recorded[i] # None
NoMarker == \A i \in Node : \A k \in DOMAIN link[i] : link[i][k] # "marker"
Done == (\A i \in Node : Has(i)) /\ NoMarker
Room(i) == Len(link[i]) < TOKENS + 1
Next1(i, k) == link[Before(i)] # <<>> /\ Head(link[Before(i)]) = k

Send(i) == /\ held[i] > 0 /\ Room(i)
           /\ held' = [held EXCEPT ![i] = @ - 1]
           /\ link' = [link EXCEPT ![i] = Append(@, "token")]
           /\ UNCHANGED <<recorded, between>>
Start == /\ \A i \in Node : ~Has(i)
         /\ Room(0)
         /\ recorded' = [recorded EXCEPT ![0] = held[0]]
         /\ between' = [between EXCEPT ![0] = 0]
         /\ link' = [link EXCEPT ![0] = Append(@, "marker")]
         /\ UNCHANGED held
Take(i) == /\ Next1(i, "token")
           /\ link' = [link EXCEPT ![Before(i)] = Tail(@)]
           /\ held' = [held EXCEPT ![i] = @ + 1]
           /\ between' = IF i = 0 /\ Has(0) /\ ~Done THEN [between EXCEPT ![0] = @ + 1] ELSE between
           /\ UNCHANGED recorded
Mark(i) == /\ Next1(i, "marker") /\ (Has(i) \/ Room(i))
           /\ IF Has(i)
              THEN /\ link' = [link EXCEPT ![Before(i)] = Tail(@)]
                   /\ UNCHANGED <<recorded, between>>
              ELSE /\ link' = [link EXCEPT ![Before(i)] = Tail(@), ![i] = Append(@, "marker")]
                   /\ recorded' = [recorded EXCEPT ![i] = held[i]]
                   /\ between' = [between EXCEPT ![i] = 0]
           /\ UNCHANGED held

Next == Start \/ \E i \in Node : Send(i) \/ Take(i) \/ Mark(i)
Spec == Init /\ [][Next]_vars
RECURSIVE Sum(_, _)
Sum(f, i) == IF i = N THEN 0 ELSE f[i] + Sum(f, i + 1)
Safe == Done => Sum(recorded, 0) + Sum(between, 0) = TOKENS
=============================================================================
