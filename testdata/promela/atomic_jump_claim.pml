/* What can be seen while a sender waits in front of a jump out of its `atomic`. */
chan c = [0] of { bit };
bool inside = false;

active proctype Sends() {
    do
    :: atomic { c!0; break }
    od;
left:
    !inside
}

active proctype Receives() {
    bit x;
    atomic { c?x; inside = true };
    inside = false
}

ltl left_at_once { [] (inside -> Sends@left) }
