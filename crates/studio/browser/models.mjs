// Models that the journeys go through.

import { example } from "./stage.mjs";

/** Two processes; under weak fairness `turn` is never 1 for ever. */
export const TOGGLE = `var x : 0..1 = 0
var busy : bool = false

process P {
    flip { x := 1 - x }
}

process Q {
    work when x == 1 { busy := true }
    rest when busy { busy := false }
}

property works: always eventually busy
invariant fine: x <= 1
reachable both: busy && x == 0
`;

export const CHANNELS = `chan c[2] of 0..3
chan meet[0] of 0..3
var got : 0..3 = 0

process Sender {
    init begin
    from begin { put c ! 2 -> middle }
    from middle { shake meet ! 1 -> ending }
    from ending { }
}

process Receiver {
    init begin
    from begin { take c ? got -> middle }
    from middle { accept meet ? got -> ending }
    from ending { }
}

property never_one: always got != 1
`;

export const BIG = `const N = 40
var a : bool[N] = false
process P(i in 0..N-1) { flip { a[i] := !a[i] } }
invariant fine: !(forall i in 0..N-1: a[i])
`;

/** Its only counterexample has this many steps. */
export const LONG = `var x : 0..10000 = 0
process P { up when x < 10000 { x := x + 1 } }
invariant small: x < 10000
`;

export const WIDE = `var x : 0..19 = 0
var y : 0..19 = 0
var side : bool = false
process P { right { x := (x + 1) % 20 } }
process Q { down { y := (y + 1) % 20 } }
process R { swap { side := !side } }
`;

export const FAMILY = `param N
var token : 0..N-1 = 0
process P(i in 0..N-1) { pass when token == i { token := (i + 1) % N } }
property visits under weak: always eventually token == 0
`;

export const PROMELA = `byte x = 0;
active proctype P() {
  do
  :: x < 3 -> x++
  :: x > 0 -> x--
  od
}
ltl top { [] (x < 3) }
`;

export const CSP = `var x = 0;
P() = up{x = 1;} -> down{x = 0;} -> P();
#define high x == 1;
#assert P() reaches high;
#assert P() deadlockfree;
`;

/** Names that would be markup if they were not taken as text. */
const EVIL = `<img src=x onerror="window.hacked=1">`;
export const HOSTILE = JSON.stringify({
  "#meta": {
    format: "ITF", property: `${EVIL}p`, formula: `[] ${EVIL}`, kind: "fair-loop", fairness: "weak", processes: [`${EVIL}P`],
    conditions: [{ condition: `wf(${EVIL})`, fair_because: "taken", at: 0 }], excluded_by: [{ fairness: "strong", subject: EVIL, at: 0 }],
  },
  vars: [`${EVIL}v`],
  states: [
    { "#meta": { index: 0, actions: [`${EVIL}a`], movers: [`${EVIL}P`], communication: { channel: EVIL, message: EVIL, from: `${EVIL}P`, to: null } }, [`${EVIL}v`]: `</script><script>window.hacked=2</script>` },
    { "#meta": { index: 1, actions: [`${EVIL}b`], movers: [`${EVIL}P`] }, [`${EVIL}v`]: EVIL },
  ],
  loop: 0,
});

/** A model of so many lines. */
export function manyLines(n) {
  const lines = ["var x : 0..1000 = 0"];
  for (let i = 0; lines.length < n - 2; i++) lines.push(`process P${i} {`, `    step when x == ${i % 1000} { x := (x + 1) % 1000 }`, `}`);
  lines.push("invariant fine: x < 1000", "");
  return lines.join("\n");
}

export const FILES = {
  "toggle.fair": TOGGLE, "channels.fair": CHANNELS, "big.fair": BIG, "long.fair": LONG, "wide.fair": WIDE, "family.fair": FAMILY,
  "model.pml": PROMELA, "model.csp": CSP, "hostile.itf.json": HOSTILE, "sub/inner.fair": TOGGLE, "philosophers.fair": example("studio/philosophers_table.fair"),
  "many.fair": manyLines(2000), "elevator.fair": example("studio/elevator.fair"),
};
