/* A run that ends in a deadlock is fair, and violates the formula: no process can move. pan -f
   looks for cycles in which each process moves, and does not count the last state as one.

   spin differs: p weak-process */
byte f;

active proctype P() {
    f = 1;
    (false)
}

ltl p { <>[] (f == 0) }
