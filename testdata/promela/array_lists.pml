/* A list is stored when the process starts; its declaration sets the first element again. */
byte seen;

active proctype P() {
  byte n = 1;
  byte early[2] = {1, 2};
  do
  :: n < 3 ->
     byte late[3] = {7, 8, 9};
     seen = late[0] + late[1] + late[2] + early[1];
     late[0] = n;
     late[1] = n;
     n++
  :: else -> break
  od;
  assert(seen == 7 + 1 + 9 + 2 || seen == 7 + 2 + 9 + 2)
}
