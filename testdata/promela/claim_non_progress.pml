/* No progress label, so np_ is true in every state and the run that ends in a deadlock violates
   the claim. Spin says so with -f and denies it without.

   spin differs: never none */
byte x;

active proctype P() {
    x = 1;
    (false)
}

never {
    do
    :: true
    :: np_ -> break
    od;
accept:
    do
    :: np_
    od
}
