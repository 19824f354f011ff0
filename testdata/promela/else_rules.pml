/* else: last in its list, in nested selections, in a loop before other options. */
byte a, b, c;

active proctype P() {
    do
    :: if
       :: a == 1 -> b++
       :: else -> c = (c + 1) % 3
       fi
    :: b > 2 -> break
    :: a == 2 -> if :: else -> b = 3 :: b == 0 -> b = 1 fi
    od
}

active proctype Q() {
    do
    :: a = (a + 1) % 3
    :: b > 2 -> break
    od
}
