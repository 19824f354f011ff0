/* A notrace says what must not be seen from the beginning on: here a receive overtakes a send. */
mtype = { red, blue };
chan q = [1] of { mtype };
chan r = [1] of { mtype };

notrace {
    if
    :: q?red
    :: q?blue; r!blue
    fi;
    r!red
}

active proctype P() {
    mtype c;
    if
    :: q!blue
    :: q!red
    fi;
    if
    :: q?red -> r!blue
    :: q?blue -> r!blue; r?c; q!blue; q?c
    fi
}
