/* Formulas do not see what happens inside an atomic, and weak fairness does not either: the choice
   in its middle does not count as a state in which B is not enabled. */
byte x, y;
bool z;

active proctype A() {
    do
    :: atomic {
        x = 1;
        if
        :: x == 1 -> y = 7
        :: y == 3 -> y = 4
        fi;
        x = 0;
        y = 0
    }
    od
}

active proctype B() {
    do
    :: z = !z
    od
}

ltl b_moves { [] <> z }
ltl unseen { [] (x == 0 && y == 0) }
ltl never_there { <> (x == 1) }
