/* Sorted sends, random receives, polls, peeks, eval and the anonymous variable. */
chan q = [4] of { byte, short };
byte a, b, wanted = 3;
short s;

active proctype Writer() {
    q!!3,7;
    q!!1,-2;
    q!!3,-5;
    q!2,0
}

active proctype Reader() {
    atomic { q??[eval(wanted),_] -> skip };
    q?<a,s>;
    assert(a <= wanted);
    if
    :: q??eval(wanted),s -> b = 1
    :: q?[1,s] -> q?1,s; b = 2
    fi;
    q??<2,_>;
    do
    :: q?a,_
    :: empty(q) -> break
    od
}
