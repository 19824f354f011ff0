/* An atomic that waits in its middle lets others move; one that loops passes through states in which
   no other process can. Weak fairness counts the first and not the second. */
bool go, busy;
byte n;

active proctype Waiter() {
    do
    :: atomic {
        busy = 1;
        go;
        go = 0;
        if
        :: n < 2 -> n++
        :: n = 0
        fi;
        busy = 0
    }
    od
}

active proctype Starter() {
    do
    :: !go && busy -> go = 1
    od
}

active proctype Spinner() {
    byte k;
    do
    :: atomic {
        k = 0;
        do
        :: k < 2 -> k++
        :: k == 2 -> break
        od
    }
    od
}

ltl starts { [] <> go }
ltl counts { [] <> (n == 2) }
ltl waits { [] <> busy }
