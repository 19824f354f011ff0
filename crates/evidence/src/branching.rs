//! Evidence for formulas of CTL*: lassos at whose positions further lassos start.
//!
//! A quantified formula `E ψ` that is true, or `A ψ` that is false, is shown by a [`Branch`]: a fair
//! lasso. The path formula may mention quantified formulas in turn; at each position of the lasso
//! they are shown by branches of their own. So the evidence is a tree, stored flat: a branch that
//! several positions need is there once. That `E ψ` is false somewhere is a statement about all runs,
//! and no run shows it: such facts are [`QuantifierClaim`]s that rest on the completeness of the search.
//!
//! The judge checks everything that runs can show, from definitions: the steps of the
//! model, fairness by looking at loops, path formulas by [`logic::holds_on_lasso`] with the values of
//! quantified formulas at each position, inner ones first.

use base::AtomId;
use logic::{CtlStar, Ltl};
use model::{CommandId, Model, State};
use rustc_hash::FxHashMap;

use crate::explain::exclusions;
use crate::explanation::{ExplainedBranch, ExplainedBranching, ExplainedRun, RunKind};
use crate::loop_judge::check_fair_loop;
use crate::replay::Replay;
use crate::{Invalid, Judge, Trace};

/// Why a state formula holds in an initial state.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Branching {
    /// The initial state.
    pub root: State,
    /// What runs show. Those that start in `root` first.
    pub branches: Vec<Branch>,
    /// What rests on the completeness of the search.
    pub claims: Vec<QuantifierClaim>,
}

/// A run that shows that a quantified formula `E ψ` is true or `A ψ` is false at its start.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Branch {
    /// The number of the quantified formula in the table of the whole formula.
    pub quantified: usize,
    /// What the step that leads to the start executes; nothing at the beginning of a run.
    pub entry: Vec<CommandId>,
    /// The run: a fair lasso. Under strong global fairness it takes every step of its loop's states.
    pub trace: Trace,
}

/// What the search found out about a quantified formula at a position, without a run to show it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct QuantifierClaim {
    /// The number of the quantified formula.
    pub quantified: usize,
    /// The state at the position.
    pub state: State,
    /// What the step that leads to the position executes.
    pub entry: Vec<CommandId>,
    /// Is there a run that makes `E ψ` true, or `A ψ` false?
    pub run_exists: bool,
}

/// A position as formulas see it: a state and the atoms that hold there.
type Place<'a> = (usize, &'a State, Vec<bool>);

/// Does the evidence show that the formula, which may be the negation of the property, holds in an
/// initial state?
pub(crate) fn judge_branching(
    judge: &Judge<'_>,
    formula: &CtlStar,
    evidence: &Branching,
) -> Result<ExplainedBranching, Invalid> {
    let model = judge.model;
    let error = |error| Invalid::Error { at: 0, error };
    if !model.is_initial(&evidence.root).map_err(error)? {
        return Err(Invalid::NotInitial);
    }

    let mut places = Places {
        model,
        formula,
        atoms: formula.atoms(),
        truth: FxHashMap::default(),
    };

    places.note_all(evidence)?;
    let mut branches = Vec::new();
    for branch in &evidence.branches {
        branches.push(places.explained_branch(judge, branch)?);
    }

    let root = (&evidence.root, &[][..]);
    if !places.satisfies(formula.root(), &[root], 0)? {
        return Err(Invalid::PropertyHolds);
    }
    Ok(ExplainedBranching {
        branches,
        n_claims: evidence.claims.len(),
    })
}

/// What is known about quantified formulas at places.
struct Places<'a> {
    model: &'a Model,
    formula: &'a CtlStar,
    atoms: Vec<AtomId>,
    /// The values of quantified formulas at places.
    truth: FxHashMap<Place<'a>, bool>,
}

/// A state and what the step that led to it executed.
type Position<'p> = (&'p State, &'p [CommandId]);

impl<'a> Places<'a> {
    /// Collects what branches and claims say about places; they must not contradict each other.
    fn note_all(&mut self, evidence: &'a Branching) -> Result<(), Invalid> {
        for branch in &evidence.branches {
            let start = branch.trace.states.first().ok_or(Invalid::NoTrace)?;
            self.note(branch.quantified, (start, &branch.entry), true)?;
        }
        for claim in &evidence.claims {
            self.note(
                claim.quantified,
                (&claim.state, &claim.entry),
                claim.run_exists,
            )?;
        }
        Ok(())
    }

    fn note(
        &mut self,
        quantified: usize,
        (state, entry): (&'a State, &[CommandId]),
        run_exists: bool,
    ) -> Result<(), Invalid> {
        let table = self.formula.quantified();
        let known = table.get(quantified);
        let known = known.ok_or_else(|| Invalid::Malformed("an unknown subformula".to_owned()))?;
        let (_, is_existential) = known.as_existential();
        let value = run_exists == is_existential;
        let place = (quantified, state, self.letter((state, entry))?);
        match self.truth.insert(place, value) {
            Some(other) if other != value => {
                Err(Invalid::Malformed("contradictory branches".to_owned()))
            }
            _ => Ok(()),
        }
    }

    /// Which atoms of the formula hold at a position.
    fn letter(&self, (state, entry): Position<'_>) -> Result<Vec<bool>, Invalid> {
        let holds = |atom: &AtomId| self.model.atom_holds(*atom, state, entry);
        let letter: Result<Vec<bool>, _> = self.atoms.iter().map(holds).collect();
        letter.map_err(|error| Invalid::Error { at: 0, error })
    }

    /// Checks a branch, and explains why it is fair. Of branches on the way only the run is shown.
    fn explained_branch(
        &self,
        judge: &Judge<'_>,
        branch: &Branch,
    ) -> Result<ExplainedBranch, Invalid> {
        let trace = &branch.trace;
        trace.loop_start.ok_or(Invalid::NoLoop)?;
        let replay = judge.replay_anywhere(trace)?;
        let conditions = check_fair_loop(judge, &replay)?;
        self.check_path(branch, &replay)?;

        let mut run = ExplainedRun::new(self.model, trace, RunKind::Branch);
        if self.model.is_initial(&trace.states[0]) == Ok(true) {
            run.conditions = conditions;
            run.excluded_by = exclusions(&replay, judge.fairness);
        }
        let (path, _) = self.formula.quantified()[branch.quantified].as_existential();
        let name = |atom: AtomId| self.model.parts().atoms[atom.index()].name.clone();
        Ok(ExplainedBranch {
            shows: self.formula.text_of(&path, &name),
            run,
        })
    }

    /// Does the run of a branch satisfy its path formula?
    fn check_path(&self, branch: &Branch, replay: &Replay<'_>) -> Result<(), Invalid> {
        let trace = &branch.trace;
        let start = trace.loop_range().start;

        // The loop is written out twice, because its start may be entered by two different steps.
        let n_states = trace.states.len();
        let commands_before = |at: usize| &replay.label(at).commands[..];
        let mut positions: Vec<Position<'_>> = vec![(&trace.states[0], &branch.entry)];
        positions.extend((1..n_states).map(|at| (&trace.states[at], commands_before(at - 1))));
        positions.push((&trace.states[start], commands_before(n_states - 1)));
        positions
            .extend((start + 1..n_states).map(|at| (&trace.states[at], commands_before(at - 1))));
        let (path, _) = self.formula.quantified()[branch.quantified].as_existential();
        if self.satisfies(&path, &positions, n_states)? {
            Ok(())
        } else {
            Err(Invalid::NotReached)
        }
    }

    /// Does the word of these positions, repeated from `loop_start` on, satisfy the formula?
    fn satisfies(
        &self,
        formula: &Ltl,
        positions: &[Position<'_>],
        loop_start: usize,
    ) -> Result<bool, Invalid> {
        let atoms = formula.atoms();

        let mut letters = Vec::new();
        for (at, &position) in positions.iter().enumerate() {
            let letter = self.letter(position)?;
            let mut values = Vec::new();
            for atom in &atoms {
                values.push(self.value(*atom, at, position, &letter)?);
            }
            letters.push(values);
        }

        let holds = |position: usize, atom: AtomId| {
            let index = atoms.binary_search(&atom).expect("an atom of the formula");
            letters[position][index]
        };
        Ok(logic::holds_on_lasso(
            formula,
            positions.len(),
            loop_start,
            &holds,
        ))
    }

    fn value(
        &self,
        atom: AtomId,
        at: usize,
        (state, _): Position<'_>,
        letter: &[bool],
    ) -> Result<bool, Invalid> {
        let Some(quantified) = CtlStar::as_quantified(atom) else {
            let index = self.atoms.binary_search(&atom);
            return Ok(letter[index.expect("an atom of the formula")]);
        };
        let place = (quantified, state, letter.to_vec());
        let missing = || {
            Invalid::Malformed(format!(
                "nothing is said about quantified formula {quantified} at position {at}"
            ))
        };
        self.truth.get(&place).copied().ok_or_else(missing)
    }
}
