/* Twin of examples/bench/ring_election.fair: leader election in a ring (Chang and Roberts 1979).
 *
 * Correspondence: each native step is one Promela step; `link` and `seen` are the channels and the
 * variable of the same names, the program counter is the location. Every run ends with node 0
 * elected and the others listening, so the verifier runs with -E.
 */
#ifndef N
#define N 3
#endif

chan link[N] = [N] of { byte };

#define ID (N - 1 - _pid)
#define RIGHT ((_pid + 1) % N)

active [N] proctype Node() {
    byte seen;

asleep:
    link[RIGHT]!ID;
listening:
    link[_pid]?seen;
judging:
    if
    :: d_step { seen > ID && nfull(link[RIGHT]) -> link[RIGHT]!seen; seen = 0 }; goto listening
    :: d_step { seen < ID -> seen = 0 }; goto listening
    :: d_step { seen == ID -> assert(_pid == 0); seen = 0 }
    fi;
elected:
    false
}

#ifdef LIVENESS
ltl elected_0 { <> Node[0]@elected }
#endif
