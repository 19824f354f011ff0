/* Three philosophers that take both forks at once; strong fairness is needed for each to eat. */
#define N 3
bool fork[N];
byte eating;

active [N] proctype Phil() {
    do
    :: atomic { !fork[_pid] && !fork[(_pid + 1) % N] ->
           fork[_pid] = true; fork[(_pid + 1) % N] = true };
       eating++;
eat:   eating--;
       d_step { fork[_pid] = false; fork[(_pid + 1) % N] = false }
    od
}

ltl one_at_a_time { [] (eating <= 1) }
ltl zero_eats { [] <> Phil[0]@eat }
