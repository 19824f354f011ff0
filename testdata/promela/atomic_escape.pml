/* Under weak fairness a process that is always ready between the atomics of the others moves. */
byte turn;
bool seen;

active [2] proctype Worker() {
    do
    :: atomic {
        turn == _pid;
        if
        :: turn = 1 - turn
        :: turn = turn
        fi;
        skip
    }
    od
}

active proctype Watcher() {
accept:
    do
    :: atomic { seen = 1; if :: seen -> seen = 0 :: seen = 0 fi }
    :: turn == 1 -> break
    od
}

ltl both { [] <> (turn == 0) && [] <> (turn == 1) }
ltl leaves { <> (turn == 1) }
