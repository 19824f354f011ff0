/* Labels of the same name in several inlines, in several calls of one, and in nested calls. */
byte n, m, way;

inline up() {
  if
  :: n < 3 -> goto done
  :: else -> goto done
  fi;
  assert(false);
done:
  n++
}

inline down() {
  do
  :: n > 1 -> n--; goto done
  :: n <= 1 -> n = 0; break
  od;
  m++;
done:
}

inline around(k) {
  way = 4;
again:
  if
  :: k > 0 -> up(); k--; goto again
  :: else -> goto done
  fi;
done:
  skip
}

active [2] proctype P() {
  byte k;
  up();
  down();
  up();
  k = 2;
  around(k);
  down();
  if
  :: m > 0 -> { goto here; here: way = 1 }
  :: m == 0 -> { goto here; here: way = 2 }
  :: goto here
  fi;
  way = 3;
here:
  way = 5
}
