//! What is answered to each kind of question, and what is said besides.

mod audit;
mod checkpoints;
mod ctl_star;
mod explanations;
mod may_must;
mod native_thresholds;
mod properties;
mod published_justness;
mod random_abstraction;
mod refinement;
mod starting_again;
mod thresholds;
mod together;
mod warnings;
