//! Formulas: hash-consed up to the names of their variables.
//!
//! A [`Formula`] is a *shape* together with the variables that its tracks stand for, in ascending
//! order. Shapes are interned, so `p(x, y)` and `p(u, v)` have one shape, and one automaton, as long
//! as `x < y` and `u < v`: the order of the variables is the order of the tracks, so renaming never
//! reorders a diagram. A variable is ordered by when it was made.
//!
//! Formulas are three-valued (see [`Formulas::restrict`]); the simplifications here are laws of
//! that logic, or are applied only to *classical* formulas, which contain no restriction but
//! that of first-order variables to non-empty tracks. (A classical formula may forget about the
//! definedness of its variables: quantifiers range over defined values, of which there is one, and
//! global variables are restricted at the top.)

use std::rc::Rc;

use rustc_hash::FxHashMap;

use crate::atoms::Atom;
use crate::machine::Machine;

/// What a variable ranges over.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum VarKind {
    /// Truth values.
    Bool,
    /// Positions.
    First,
    /// Finite sets of positions.
    Set,
}

/// A variable. Variables made later are greater.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Var {
    pub(crate) index: u32,
    pub(crate) kind: VarKind,
}

impl Var {
    /// What it ranges over.
    #[must_use]
    pub const fn kind(self) -> VarKind {
        self.kind
    }
}

base::define_index! {
    /// An interned shape.
    pub struct ShapeId;
}

/// A sub-formula inside a shape. Invariant: `tracks` is strictly increasing; track `i` of the child
/// is track `tracks[i]` of the parent.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct Child {
    pub(crate) shape: ShapeId,
    pub(crate) negated: bool,
    pub(crate) tracks: Box<[u32]>,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Shape {
    True,
    Atom {
        atom: Atom,
        roles: Box<[u32]>,
    },
    /// At least two children, sorted, none of them a conjunction that is not negated.
    And(Box<[Child]>),
    Iff(Box<[Child; 2]>),
    /// `bound` are tracks of the child; the others are the tracks of the shape.
    Exists {
        child: Child,
        bound: Box<[u32]>,
    },
    Restrict(Child),
    Prefix(Child),
    /// Two formulas that mean the same, over the same tracks: the first is to be translated, unless
    /// that gets out of hand.
    Choice(Box<[Child; 2]>),
    /// An automaton from outside, by its number in the store.
    Given(u32),
}

pub(crate) struct ShapeInfo {
    pub(crate) shape: Shape,
    pub(crate) n_tracks: usize,
    pub(crate) classical: bool,
}

/// A formula of a store. Cheap to copy; means nothing outside its store.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Formula {
    pub(crate) shape: ShapeId,
    pub(crate) negated: bool,
    pub(crate) vars: Rc<[Var]>,
}

impl Formula {
    /// The variables that it may depend on, in ascending order.
    #[must_use]
    pub fn vars(&self) -> &[Var] {
        &self.vars
    }

    fn child(&self, vars: &[Var]) -> Child {
        let track = |var| vars.binary_search(var).expect("a variable of the parent") as u32;
        Child {
            shape: self.shape,
            negated: self.negated,
            tracks: self.vars.iter().map(track).collect(),
        }
    }
}

/// Owns formulas and variables.
#[derive(Default)]
pub struct Formulas {
    pub(crate) shapes: Vec<ShapeInfo>,
    ids: FxHashMap<Shape, ShapeId>,
    pub(crate) given: Vec<Rc<Machine>>,
    n_vars: u32,
}

impl Formulas {
    /// An empty store.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// A new variable, greater than all before.
    pub fn var(&mut self, kind: VarKind) -> Var {
        self.n_vars += 1;
        Var {
            index: self.n_vars - 1,
            kind,
        }
    }

    pub(crate) fn info(&self, id: ShapeId) -> &ShapeInfo {
        &self.shapes[id.index()]
    }

    fn intern(&mut self, shape: Shape, vars: Vec<Var>, classical: bool) -> Formula {
        let next = ShapeId::new(self.shapes.len());
        let id = *self.ids.entry(shape.clone()).or_insert(next);
        if id == next {
            self.shapes.push(ShapeInfo {
                shape,
                n_tracks: vars.len(),
                classical,
            });
        }
        Formula {
            shape: id,
            negated: false,
            vars: vars.into(),
        }
    }

    /// The formula that is always true (or always false).
    pub fn constant(&mut self, value: bool) -> Formula {
        let mut formula = self.intern(Shape::True, Vec::new(), true);
        formula.negated = !value;
        formula
    }

    /// `Some` if the formula is a constant.
    pub(crate) fn as_constant(&self, formula: &Formula) -> Option<bool> {
        (self.info(formula.shape).shape == Shape::True).then_some(!formula.negated)
    }

    pub(crate) fn atom(&mut self, atom: Atom, roles: &[Var]) -> Formula {
        debug_assert_eq!(atom.n_roles(), roles.len());
        let mut vars = roles.to_vec();
        vars.sort_unstable();
        vars.dedup();
        let track = |var| vars.binary_search(var).expect("just collected") as u32;
        let roles = roles.iter().map(track).collect();
        self.intern(Shape::Atom { atom, roles }, vars, true)
    }

    /// An automaton as a formula over the given variables, which must ascend.
    pub(crate) fn given(&mut self, machine: Rc<Machine>, vars: Vec<Var>) -> Formula {
        debug_assert!(vars.is_sorted_by(|a, b| a < b) && vars.len() == machine.n_tracks);
        let number = match self.given.iter().position(|known| **known == *machine) {
            Some(number) => number,
            None => {
                self.given.push(machine);
                self.given.len() - 1
            }
        };
        self.intern(Shape::Given(number as u32), vars, false)
    }

    /// Negation.
    #[must_use]
    pub fn not(&self, formula: &Formula) -> Formula {
        Formula {
            negated: !formula.negated,
            ..formula.clone()
        }
    }

    /// Is the formula free of restrictions other than those of first-order variables?
    pub(crate) fn is_classical(&self, formula: &Formula) -> bool {
        self.info(formula.shape).classical
    }

    /// Is the formula a restriction: true or undefined?
    pub(crate) fn is_never_false(&self, formula: &Formula) -> bool {
        let is_restriction = match &self.info(formula.shape).shape {
            Shape::Restrict(_) => true,
            Shape::Atom { atom, .. } => *atom == Atom::FirstOrder,
            _ => false,
        };
        is_restriction && !formula.negated
    }

    /// The conjuncts of a formula (itself, unless it is a conjunction).
    pub(crate) fn conjuncts(&self, formula: &Formula) -> Vec<Formula> {
        match &self.info(formula.shape).shape {
            Shape::And(children) if !formula.negated => children
                .iter()
                .map(|child| Formula {
                    shape: child.shape,
                    negated: child.negated,
                    vars: child
                        .tracks
                        .iter()
                        .map(|&track| formula.vars[track as usize])
                        .collect(),
                })
                .collect(),
            _ => vec![formula.clone()],
        }
    }

    /// Conjunction.
    pub fn and(&mut self, formulas: &[Formula]) -> Formula {
        let mut conjuncts = Vec::new();
        for formula in formulas {
            match self.as_constant(formula) {
                Some(true) => {}
                _ => conjuncts.extend(self.conjuncts(formula)),
            }
        }

        // Equal conjunctions get one shape.
        conjuncts.sort_unstable();
        conjuncts.dedup();
        if let Some(simple) = self.simple_conjunction(&conjuncts) {
            return simple;
        }

        let mut vars: Vec<Var> = conjuncts.iter().flat_map(|f| f.vars.to_vec()).collect();
        vars.sort_unstable();
        vars.dedup();
        let mut children: Vec<Child> = conjuncts.iter().map(|f| f.child(&vars)).collect();
        children.sort_unstable();

        let classical = conjuncts.iter().all(|f| self.is_classical(f));
        self.intern(Shape::And(children.into()), vars, classical)
    }

    /// A conjunction that needs no node: of at most one conjunct, or of classical ones that
    /// contradict each other.
    fn simple_conjunction(&mut self, conjuncts: &[Formula]) -> Option<Formula> {
        match conjuncts {
            [] => return Some(self.constant(true)),
            [single] => return Some(single.clone()),
            _ => {}
        }
        if !conjuncts.iter().all(|formula| self.is_classical(formula)) {
            return None;
        }
        let contradicts = |formula: &Formula| {
            self.as_constant(formula) == Some(false)
                || formula.negated && conjuncts.binary_search(&self.not(formula)).is_ok()
        };
        let contradiction = conjuncts.iter().any(contradicts);
        contradiction.then(|| self.constant(false))
    }

    /// Disjunction.
    pub fn or(&mut self, formulas: &[Formula]) -> Formula {
        let negations: Vec<Formula> = formulas.iter().map(|f| self.not(f)).collect();
        let conjunction = self.and(&negations);
        self.not(&conjunction)
    }

    /// Implication.
    pub fn implies(&mut self, left: &Formula, right: &Formula) -> Formula {
        let left = self.not(left);
        self.or(&[left, right.clone()])
    }

    /// Equivalence.
    pub fn iff(&mut self, left: &Formula, right: &Formula) -> Formula {
        if let Some(value) = self.as_constant(left) {
            return if value {
                right.clone()
            } else {
                self.not(right)
            };
        }

        if let Some(value) = self.as_constant(right) {
            return if value { left.clone() } else { self.not(left) };
        }
        let negated = left.negated != right.negated;
        let positive = |formula: &Formula| Formula {
            negated: false,
            ..formula.clone()
        };
        let (left, right) = (positive(left), positive(right));
        if left == right && self.is_classical(&left) {
            return self.constant(!negated);
        }
        let mut vars: Vec<Var> = left.vars.iter().chain(right.vars.iter()).copied().collect();
        vars.sort_unstable();
        vars.dedup();

        let mut children = [left.child(&vars), right.child(&vars)];
        children.sort_unstable();
        let classical = self.is_classical(&left) && self.is_classical(&right);
        let mut formula = self.intern(Shape::Iff(Box::new(children)), vars, classical);
        formula.negated = negated;
        formula
    }

    /// True where `formula` is, and undefined elsewhere. Every connective is undefined where an
    /// operand is; a quantifier is true if some defined value makes its body true, otherwise false
    /// if there is a defined value, otherwise undefined.
    pub fn restrict(&mut self, formula: &Formula) -> Formula {
        let is_restriction = matches!(self.info(formula.shape).shape, Shape::Restrict(_));
        if is_restriction && !formula.negated {
            return formula.clone();
        }
        if self.as_constant(formula) == Some(true) {
            return formula.clone();
        }
        let child = formula.child(&formula.vars);
        self.intern(Shape::Restrict(child), formula.vars.to_vec(), false)
    }

    /// True for every prefix of a word that satisfies `formula`.
    pub fn prefix(&mut self, formula: &Formula) -> Formula {
        let child = formula.child(&formula.vars);
        self.intern(Shape::Prefix(child), formula.vars.to_vec(), false)
    }

    /// The projection of `bound` out of a formula as it stands; see [`Formulas::exists`].
    pub(crate) fn project(&mut self, bound: &[Var], formula: &Formula) -> Formula {
        let is_bound = |var: &Var| bound.contains(var);
        let tracks = (0..formula.vars.len() as u32)
            .filter(|&track| is_bound(&formula.vars[track as usize]))
            .collect::<Box<[u32]>>();
        if tracks.is_empty() {
            return formula.clone();
        }
        let vars = formula.vars.iter().copied().filter(|var| !is_bound(var));
        let shape = Shape::Exists {
            child: formula.child(&formula.vars),
            bound: tracks,
        };
        let classical = self.is_classical(formula);
        self.intern(shape, vars.collect(), classical)
    }

    /// Either of two formulas that mean the same; the first is preferred.
    pub(crate) fn choice(&mut self, first: Formula, second: Formula) -> Formula {
        if first == second || first.vars != second.vars || first.vars.is_empty() {
            return first;
        }
        let children = [first.child(&first.vars), second.child(&first.vars)];
        let classical = self.is_classical(&first) && self.is_classical(&second);
        let vars = first.vars.to_vec();
        self.intern(Shape::Choice(Box::new(children)), vars, classical)
    }

    /// The same formula over other variables: `vars[i]` for its `i`-th. They must ascend.
    pub(crate) fn rename(&self, formula: &Formula, vars: Vec<Var>) -> Formula {
        debug_assert!(vars.is_sorted_by(|a, b| a < b) && vars.len() == formula.vars.len());
        Formula {
            vars: vars.into(),
            ..formula.clone()
        }
    }

    /// The formula with the truth value `value` where it is a Boolean variable.
    pub fn boolean(&mut self, var: Var) -> Formula {
        self.atom(Atom::Bool, &[var])
    }
}
