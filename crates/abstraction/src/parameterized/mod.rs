//! Families of any number of processes, by way of WS1S.
//!
//! A [`model::Template`] describes a model for every value of its parameter. [`Family`] is all of
//! them as one transition system over finite sets of indices; [`explore`] abstracts it to a finite
//! graph.
//!
//! The method is that of K. Baukus, Y. Lakhnech, K. Stahl, *Verification of parameterized
//! protocols*, Journal of Universal Computer Science 7(2), 2001, cited in this module as "Baukus,
//! Lakhnech, Stahl".

mod build;
mod candidates;
mod cases;
mod choice;
mod core_model;
mod counters;
mod describe;
mod effect;
mod embed;
mod encode;
mod fields;
mod induction;
mod lifting;
mod logic;
mod mona;
mod native;
mod negative;
mod neighbours;
mod progress;
mod question;
mod relation;
mod samples;
mod spread;
mod steps;
mod synchronous;
mod system;
mod translate;
mod values;

pub use build::{Abstraction, Asked, AtomTruth, Facts, Obstacle, abstraction, facts};
pub use candidates::Depth;
pub use choice::Level;
pub use core_model::{PROCESS, Selection, core_model};
pub use counters::{Uncounted, without_counters};
pub use embed::with_one_range;
pub use fields::Detail;
pub use induction::Refuted;
pub use lifting::Lifted;
pub use logic::{Base, CellId, ColumnId, FieldId, IndexVar, Logic, PointerId, Term, Time};
pub use mona::mona;
pub use native::native;
pub use negative::without_negatives;
pub use neighbours::{Step, induction_steps};
pub use progress::{Visit, visits};
pub use question::FamilyQuestion;
pub use relation::{Edge, Graph, Label, Mark, Predicate, Ranking, Request, explore};
pub use samples::Sample;
pub use spread::about_each;
pub use steps::{Family, Transition};
pub use system::{Bit, Field, Finite, Outside, Pointer, Source, System};
