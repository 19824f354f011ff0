/* mtype constants, their order, subtypes, and matching by message type. */
mtype = { red, green, blue };
mtype = { late };
mtype:fruit = { apple, pear };
mtype colour = red;
mtype:fruit f = pear;
chan q = [2] of { mtype, byte };

active proctype A() {
    q!green(1);
    q!blue,2;
    colour = green;
    assert(red > green && blue == 1 && late == 4);
    assert(apple == 2 && f == pear)
}

active proctype B() {
    byte x;
    do
    :: q?green(x) -> assert(x == 1)
    :: q?eval(blue),x -> break
    :: q?[red,x] -> assert(false)
    od;
    (colour != red);
    colour = (colour == green -> blue : red)
}
