//! Temporal logic: formulas of LTL and CTL*, what they mean, and their automata.
//!
//! A word is an infinite sequence of letters and a letter is a set of atoms. This crate decides whether a
//! formula holds on an ultimately periodic word ([`holds_on_lasso`], the definition of truth), and builds
//! an automaton that accepts exactly the words on which a formula holds ([`translate`]). What an atom
//! means is the business of the model that owns the atom table; nothing here knows models.
//!
//! ```
//! use base::AtomId;
//! use logic::Ltl;
//!
//! let [request, answer] = [0, 1].map(|index| Ltl::atom(AtomId(index)));
//! let responds = Ltl::always(Ltl::implies(request, Ltl::eventually(answer)));
//! let name = |atom: AtomId| ["request", "answer"][atom.index()].to_owned();
//! assert_eq!(responds.display(&name).to_string(), "[](request -> <>answer)");
//!
//! // Position 0 has a request; positions 1 and 2 repeat forever, and 2 has an answer.
//! let letter = |position, atom| [(0, AtomId(0)), (2, AtomId(1))].contains(&(position, atom));
//! assert!(logic::holds_on_lasso(&responds, 3, 1, &letter));
//!
//! // What a search for a violation looks for: a request, and from then on no answer.
//! let violation = logic::translate(&Ltl::not(responds))?;
//! assert_eq!(violation.n_states(), 2);
//! # Ok::<(), logic::TranslateError>(())
//! ```
//!
//! Read next: `ltl.rs` for the formulas, `lasso.rs` for their meaning, `translate.rs` for the way to
//! automata.

mod arena;
mod bdd;
mod claim;
mod ctl_star;
mod display;
mod fairness;
mod implication;
mod lasso;
mod lexer;
mod ltl;
mod obligation;
mod parse;
mod past;
mod prefix;
mod property;
mod reduce;
mod simplify;
mod simplify_binary;
mod tableau;
mod tgba;
mod translate;

pub use claim::{ClaimState, NeverClaim};
pub use ctl_star::{CtlStar, CtlStarBuilder, NoStateFormula, PathQuantifier, Quantified};
pub use display::Display;
pub use lasso::{holds_on_lasso, truths_on_lasso};
pub use lexer::atom_text;
pub use ltl::{Ltl, Op};
pub use parse::parse;
pub use prefix::truths_on_prefix;
pub use property::{
    MayMustProperty, NamedProperty, Property, classify, classify_state_formula, propositional,
};
pub use simplify::simplify;
pub use translate::{TranslateError, translate};

/// How deep operators may be nested in formulas that are parsed or translated.
pub const MAX_DEPTH: usize = 500;
