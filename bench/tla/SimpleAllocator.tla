-------------------------- MODULE SimpleAllocator --------------------------
(* The twin of examples/values/simple_allocator.fair. *)
EXTENDS Naturals
CONSTANT CLIENTS
VARIABLES wanted, held
vars == <<wanted, held>>
C == 1..CLIENTS
All == {"disk", "printer"}
Free == All \ UNION {held[c] : c \in C}

Init == wanted = [c \in C |-> {}] /\ held = [c \in C |-> {}]

Request(c, S)  == /\ wanted[c] = {} /\ held[c] = {} /\ S # {}
                  /\ wanted' = [wanted EXCEPT ![c] = S] /\ UNCHANGED held
Grant(c, S)    == /\ S # {} /\ S \subseteq wanted[c] \cap Free
                  /\ held' = [held EXCEPT ![c] = @ \cup S]
                  /\ wanted' = [wanted EXCEPT ![c] = @ \ S]
GiveBack(c, S) == /\ S # {} /\ S \subseteq held[c]
                  /\ held' = [held EXCEPT ![c] = @ \ S] /\ UNCHANGED wanted

Next == \E c \in C, S \in SUBSET All : Request(c, S) \/ Grant(c, S) \/ GiveBack(c, S)
Spec == Init /\ [][Next]_vars
Safe == \A c, d \in C : c # d => held[c] \cap held[d] = {}
=============================================================================
