/* Spin writes a selection out as options only outside of inlines, and for names without `_`. */
byte n;

inline choose(x) {
  select(x : 1 .. 3)
}

active proctype P() {
  byte a, b_c, d;
  select(a : 1 .. 3);
  select(b_c : 1 .. 3);
  choose(d);
  select(n : 0 .. 40);
  assert(a + b_c + d <= 9)
}
