/* An mtype is a number: it may be stored in a byte, and come back. */
mtype = { red, green };
byte stored[2];
mtype light = green;

active proctype P() {
    stored[1] = light;
    light = red;
    light = stored[1];
    assert(light == green && stored[1] == green)
}
