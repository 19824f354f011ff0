//! Reductions: what they leave out, what they must not, and on which conditions that rests.

mod reduced_communication;
mod reduction;
mod reduction_conditions;
