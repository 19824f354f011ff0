//! Solvers for satisfiability modulo theories behind one interface.
