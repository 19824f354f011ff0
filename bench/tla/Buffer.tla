------------------------------- MODULE Buffer -------------------------------
(* The twin of examples/values/blocking_queue.fair. *)
EXTENDS Naturals, Sequences
CONSTANTS PRODUCERS, CONSUMERS, SIZE
VARIABLES buffer, waiting
vars == <<buffer, waiting>>
Thread == 1..(PRODUCERS + CONSUMERS)

Init == buffer = <<>> /\ waiting = {}

Wake == IF waiting = {} THEN UNCHANGED waiting ELSE \E w \in waiting : waiting' = waiting \ {w}
Put(t) == t <= PRODUCERS /\ Len(buffer) < SIZE /\ buffer' = Append(buffer, t) /\ Wake
Get(t) == t > PRODUCERS /\ buffer # <<>> /\ buffer' = Tail(buffer) /\ Wake
Wait(t) == /\ IF t <= PRODUCERS THEN Len(buffer) = SIZE ELSE buffer = <<>>
           /\ waiting' = waiting \cup {t} /\ UNCHANGED buffer

Next == \E t \in Thread \ waiting : Put(t) \/ Get(t) \/ Wait(t)
Spec == Init /\ [][Next]_vars
Safe == Len(buffer) <= SIZE
=============================================================================
