/* Behind a failed assertion lie more states, and an invalid end state, which `pan -A` visits. */
byte x;
bit b;

active proctype P() {
	do
	:: x < 5 -> x++; assert(x != 3); assert(x < 5)
	:: else -> break
	od;
	(b == 1)
}

active proctype Q() {
	b = 1;
	if
	:: b = 0
	:: skip
	fi
}
