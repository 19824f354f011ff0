------------------------------- MODULE Mutex -------------------------------
(* The twin of examples/values/lamport_mutex.fair. *)
EXTENDS Naturals, Sequences, FiniteSets
CONSTANTS N, CLOCK
VARIABLES clock, asked, answers, net, inside
vars == <<clock, asked, answers, net, inside>>
Node == 1..N
Later(a, b) == (IF a > b THEN a ELSE b) + 1

Init == /\ clock = [p \in Node |-> 1]
        /\ asked = [p \in Node |-> [q \in Node |-> 0]]
        /\ answers = [p \in Node |-> {}]
        /\ net = [p \in Node |-> [q \in Node |-> <<>>]]
        /\ inside = {}

ToOthers(p, m) == [net EXCEPT ![p] = [q \in Node |-> IF q = p THEN @[q] ELSE Append(@[q], m)]]
First(p, q, k) == net[q][p] # <<>> /\ Head(net[q][p])[1] = k
Beats(p, q) == \/ asked[p][q] = 0
               \/ asked[p][p] < asked[p][q]
               \/ asked[p][p] = asked[p][q] /\ p < q

Ask(p) == /\ asked[p][p] = 0
          /\ asked' = [asked EXCEPT ![p][p] = clock[p]]
          /\ answers' = [answers EXCEPT ![p] = {p}]
          /\ net' = ToOthers(p, <<"request", clock[p]>>)
          /\ UNCHANGED <<clock, inside>>
Hear(p, q) == /\ First(p, q, "request")
              /\ LET c == Head(net[q][p])[2]
                 IN /\ Later(c, clock[p]) <= CLOCK
                    /\ asked' = [asked EXCEPT ![p][q] = c]
                    /\ clock' = [clock EXCEPT ![p] = Later(c, @)]
              /\ net' = [net EXCEPT ![q][p] = Tail(@), ![p][q] = Append(@, <<"answer", 0>>)]
              /\ UNCHANGED <<answers, inside>>
Note(p, q) == /\ First(p, q, "answer")
              /\ answers' = [answers EXCEPT ![p] = @ \cup {q}]
              /\ net' = [net EXCEPT ![q][p] = Tail(@)]
              /\ UNCHANGED <<clock, asked, inside>>
Enter(p) == /\ p \notin inside /\ Cardinality(answers[p]) = N
            /\ \A q \in Node \ {p} : Beats(p, q)
            /\ inside' = inside \cup {p}
            /\ UNCHANGED <<clock, asked, answers, net>>
Leave(p) == /\ p \in inside
            /\ inside' = inside \ {p}
            /\ asked' = [asked EXCEPT ![p][p] = 0]
            /\ answers' = [answers EXCEPT ![p] = {}]
            /\ net' = ToOthers(p, <<"release", 0>>)
            /\ UNCHANGED clock
Forget(p, q) == /\ First(p, q, "release")
                /\ asked' = [asked EXCEPT ![p][q] = 0]
                /\ net' = [net EXCEPT ![q][p] = Tail(@)]
                /\ UNCHANGED <<clock, answers, inside>>

Next == \E p \in Node : \/ Ask(p) \/ Enter(p) \/ Leave(p)
                        \/ \E q \in Node \ {p} : Hear(p, q) \/ Note(p, q) \/ Forget(p, q)
Spec == Init /\ [][Next]_vars
Safe == Cardinality(inside) <= 1
=============================================================================
