/* What weak fairness decides, and what it does not. */
byte x, y;
bool z;

active proctype A() {
    do
    :: x < 2 -> x++
    :: x == 2 -> break
    od
}

active proctype B() {
    do
    :: y = 1 - y
    :: z = !z
    od
}

ltl a_ends { <> (x == 2) }
ltl y_again { [] <> (y == 1) }
ltl until { (x < 2) U (x == 2) }
ltl weak { (x < 2) W (x == 2) }
ltl release { (x == 2) V (x <= 2) }
ltl words { always ((x == 2) implies eventually (x == 2)) }
