//! Answers for all values of a parameter, against instances and the literature.

mod families;
mod parameterized;
mod parameterized_defects;
mod parameterized_random;
mod parameterized_rewritten;
mod parameterized_support;
mod parameterized_twins;
