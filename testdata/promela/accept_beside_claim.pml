/* The formula holds. Spin reports the acceptance cycle of the process instead, which is another
   question: its verifier for claims does not tell accept labels of processes and claims apart.

   spin differs: p none
   spin differs: p weak-process */
byte g;

active proctype P() {
    skip;
accept1:
    do
    :: g = 1 - g
    od
}

ltl p { [] (g < 2) }
