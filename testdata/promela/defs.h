/* Included by macros.pml. */
#define LIMIT 4
#ifndef START
#define START 1
#endif
