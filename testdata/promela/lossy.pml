/* Messages to a full channel wait; with `spin -m` they are lost. */
chan c = [1] of { byte };
byte got;

active proctype S() {
	byte i;
	do
	:: i < 3 -> c!i; i++
	:: else -> break
	od
}

active proctype R() {
	byte x;
end:	do
	:: c?x -> got++
	od
}

ltl all { <> (got == 3) }
