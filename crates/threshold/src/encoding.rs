//! All runs with a pattern, as one formula of linear integer arithmetic.
//!
//! A run is cut where a guard changes its truth and where the pattern picks a point; between two cuts
//! lies a *segment*. How many cuts there are at most is known, so the number of segments is. In a
//! segment the truth of guards is constant but for its last step. So processes in it do not influence
//! each other, and what happens is known from how often each move happens: numbers that balance and
//! leave no location with less than nothing can be realised, source before target, because the graph
//! has no cycles. A falling guard must be true before its last use: where it becomes false at the end
//! of a segment, the step that does that is written down separately.
//!
//! That a formula describes all orders in which guards change, instead of one formula for each (a
//! *schema*), is from A. R. Balasubramanian, J. Esparza, M. Lazić, *Complexity of verification and
//! synthesis of threshold automata*, ATVA 2020, section 4, doi:10.1007/978-3-030-59152-6_8; schemas are from
//! I. Konnov, M. Lazić, H. Veith, J. Widder, POPL 2017, doi:10.1145/3009837.3009860.
//!
//! Invariant: every run of the automaton with the pattern, for any parameters, gives a solution. The
//! converse is true but for `Always`: its condition is asked for at all cuts, and where it says that
//! locations are empty, no move leads to them; in between, other conditions may be false.

use model::threshold::{Comparison, Condition, Quantity, Sum};
use smt::{Sort, Term};

use crate::facts::Facts;
use crate::pattern::Pattern;
use crate::shape::{Guard, Move, Shape, Trend};

/// A configuration in terms.
#[derive(Clone, Debug)]
pub(crate) struct Point {
    pub(crate) locations: Vec<Term>,
    pub(crate) shared: Vec<Term>,
}

/// What happens between two cuts.
#[derive(Clone, Debug)]
pub(crate) struct Segment {
    /// How often each move happens, the separate step not counted.
    pub(crate) flows: Vec<Term>,
    /// The moves that may be the separate step, which comes last, and whether they are.
    pub(crate) last: Vec<(usize, Term)>,
    /// The configuration before the separate step.
    middle: Point,
}

/// All runs with a pattern.
pub(crate) struct Encoding<'a> {
    shape: &'a Shape<'a>,
    pub(crate) parameters: Vec<Term>,
    pub(crate) points: Vec<Point>,
    pub(crate) segments: Vec<Segment>,
    pub(crate) assertions: Vec<Term>,
    n_names: usize,
}

impl<'a> Encoding<'a> {
    pub(crate) fn new(shape: &'a Shape<'a>, pattern: &Pattern, facts: &Facts) -> Self {
        let mut encoding = Self::started(shape);
        for _ in 0..n_segments(facts, pattern) {
            encoding.add_segment();
        }
        encoding.remind(facts);

        let truths = encoding.pattern(pattern);
        encoding.assertions.extend(truths.into_iter().next());
        if pattern.is_about_the_end() {
            let can_stay = encoding.can_stay();
            encoding.assertions.push(can_stay);
        }
        encoding
    }

    /// The parameters and an initial configuration.
    fn started(shape: &'a Shape<'a>) -> Self {
        let mut encoding = Self {
            shape,
            parameters: Vec::new(),
            points: Vec::new(),
            segments: Vec::new(),
            assertions: Vec::new(),
            n_names: 0,
        };
        encoding.start();
        encoding
    }

    /// Any beginning of a run with the pattern, its first and last configuration, and how often each
    /// move happens in it: what is necessary only.
    pub(crate) fn beginning(
        shape: &'a Shape<'a>,
        pattern: &Pattern,
    ) -> (Self, [Point; 2], Vec<Term>) {
        let mut encoding = Self::started(shape);
        let start = encoding.points[0].clone();
        let flows = encoding.naturals(shape.moves.len());
        let counted: Vec<(usize, Term)> = flows.iter().cloned().enumerate().collect();
        let end = encoding.next_point(&start, &counted);
        encoding.guarded(&counted, [&end, &start, &end]);

        for part in pattern.conjuncts() {
            let now = match part {
                Pattern::Now(condition) => encoding.condition(condition, &start),
                Pattern::Always(condition) => Term::and([
                    encoding.condition(condition, &start),
                    encoding.condition(condition, &end),
                    encoding.never_entered(condition, &counted),
                ]),
                Pattern::AtTheEnd(_)
                | Pattern::Eventually(_)
                | Pattern::All(_)
                | Pattern::Any(_) => continue,
            };
            encoding.assertions.push(now);
        }
        (encoding, [start, end], flows)
    }

    /// Says what is known of changes, which follows from the rest: that spares the solver finding it.
    fn remind(&mut self, facts: &Facts) {
        let mut reminders = Vec::new();

        for (position, point) in self.points.iter().enumerate() {
            let happened = |change: usize| self.at_least_zero(&facts.changes[change], point);
            for (first, second) in &facts.implications {
                let not_yet = Term::not(happened(*first));
                reminders.push(Term::or([not_yet, happened(*second)]));
            }
            for (first, second) in &facts.exclusions {
                let both = [happened(*first), happened(*second)];
                reminders.push(Term::or(both.map(Term::not)));
            }

            let Some(next) = self.points.get(position + 1) else {
                continue;
            };

            for change in 0..facts.changes.len() {
                let later = self.at_least_zero(&facts.changes[change], next);
                reminders.push(Term::or([Term::not(happened(change)), later]));
            }
        }

        self.assertions.extend(reminders);
    }

    fn name(&mut self, sort: Sort) -> Term {
        self.n_names += 1;
        // One solver hears of several encodings: a name has the same sort in all of them.
        let prefix = match sort {
            Sort::Bool => "b",
            Sort::Int => "n",
            Sort::Array => "a",
        };
        Term::var(&format!("{prefix}{}", self.n_names), sort)
    }

    /// New natural numbers.
    fn naturals(&mut self, n: usize) -> Vec<Term> {
        (0..n).map(|_| self.natural()).collect()
    }

    fn natural(&mut self) -> Term {
        let term = self.name(Sort::Int);
        self.assertions.push(Term::le(Term::Int(0), term.clone()));
        term
    }

    fn point(&mut self) -> Point {
        let automaton = self.shape.automaton;
        Point {
            locations: self.naturals(automaton.locations.len()),
            shared: self.naturals(automaton.shared.len()),
        }
    }

    /// Parameters and the initial configuration.
    fn start(&mut self) {
        let automaton = self.shape.automaton;
        self.parameters = self.naturals(automaton.parameters.len());
        let point = self.point();
        for condition in automaton.assumptions.iter().chain(&automaton.init) {
            let condition = self.condition(condition, &point);
            self.assertions.push(condition);
        }
        self.points.push(point);
    }

    fn add_segment(&mut self) {
        let shape = self.shape;
        let from = self.points.last().expect("there is a first").clone();
        let flows = self.naturals(shape.moves.len());
        let counted: Vec<(usize, Term)> = flows.iter().cloned().enumerate().collect();
        let middle = self.next_point(&from, &counted);

        let (mut last, mut to) = (Vec::new(), middle.clone());
        if shape.has_falling_guards() {
            let candidates: Vec<usize> = self.falsifying().collect();
            let chosen = self.naturals(candidates.len());
            let at_most_one = Term::le(Term::add(chosen.iter().cloned()), Term::Int(1));
            self.assertions.push(at_most_one);
            last = candidates.into_iter().zip(chosen).collect();
            to = self.next_point(&middle, &last);
        }

        self.guarded(&counted, [&from, &middle, &middle]);
        self.guarded(&last, [&from, &middle, &to]);
        self.segments.push(Segment {
            flows,
            last,
            middle,
        });
        self.points.push(to);
    }

    /// Moves happen only if their guards are true: rising ones at the first point, falling ones at the
    /// second; the third is where the moves lead to.
    pub(crate) fn guarded(
        &mut self,
        moves: &[(usize, Term)],
        [rising, falling, after]: [&Point; 3],
    ) {
        let shape = self.shape;
        for (position, times) in moves {
            for guard in &shape.moves[*position].guards {
                let Guard { sum, trend } = &shape.guards[*guard];
                let is_true = match trend {
                    Trend::Constant | Trend::Rising => self.at_least_zero(sum, rising),
                    Trend::Falling => self.at_least_zero(sum, falling),
                    Trend::Limited(amount) => {
                        Term::le(Term::Int(-i128::from(*amount)), self.sum(sum, after))
                    }
                };
                let never = Term::le(times.clone(), Term::Int(0));
                self.assertions.push(Term::or([is_true, never]));
            }
        }
    }

    /// The moves that can make a falling guard false.
    fn falsifying(&self) -> impl Iterator<Item = usize> + use<'a> {
        let shape = self.shape;
        let falling = shape.guards.iter().filter(|g| g.trend == Trend::Falling);
        let falling: Vec<&Sum> = falling.map(|guard| &guard.sum).collect();
        let lowers = move |step: &Move| {
            let mut updated = step.update.iter().map(|(at, _)| Quantity::Shared(*at));
            updated.any(|counter| falling.iter().any(|sum| sum.terms.contains_key(&counter)))
        };
        let moves = shape.moves.iter().enumerate();
        moves
            .filter(move |(_, step)| lowers(step))
            .map(|(position, _)| position)
    }

    /// What moves make of a point.
    fn next_point(&mut self, from: &Point, moves: &[(usize, Term)]) -> Point {
        let shape = self.shape;
        let mut to = from.clone();
        for (location, after) in to.locations.iter_mut().enumerate() {
            let mut changes = Vec::new();
            for (position, times) in moves {
                let step = &shape.moves[*position];
                if step.source == location {
                    changes.push(times_int(-1, times));
                }
                if step.target == location {
                    changes.push(times.clone());
                }
            }
            *after = self.changed(after, changes);
        }

        for (shared, after) in to.shared.iter_mut().enumerate() {
            let mut changes = Vec::new();
            for (position, times) in moves {
                let update = shape.moves[*position].update.iter();
                for (_, amount) in update.filter(|(at, _)| *at == shared) {
                    changes.push(times_int(*amount, times));
                }
            }
            *after = self.changed(after, changes);
        }
        to
    }

    /// A natural number that is another and changes together.
    fn changed(&mut self, before: &Term, changes: Vec<Term>) -> Term {
        if changes.is_empty() {
            return before.clone();
        }
        let after = self.natural();
        let sum = Term::add(changes.into_iter().chain([before.clone()]));
        self.assertions.push(Term::eq(after.clone(), sum));
        after
    }

    /// For each cut, what makes the run from there on look like the pattern. Patterns have no negations,
    /// so names for parts need to imply them only.
    fn pattern(&mut self, pattern: &Pattern) -> Vec<Term> {
        match pattern {
            Pattern::Now(condition) => self.at_points(condition),
            Pattern::AtTheEnd(condition) => {
                let last = self.points.last().expect("there is a first");
                vec![self.condition(condition, last); self.points.len()]
            }
            Pattern::Always(condition) => {
                let mut here = self.at_points(condition);
                for (segment, here) in here.iter_mut().enumerate().take(self.segments.len()) {
                    let kept = self.kept(condition, segment);
                    *here = Term::and([here.clone(), kept]);
                }
                self.chain(here, |now, later| Term::and([now, later]))
            }
            Pattern::Eventually(inner) => {
                let here = self.pattern(inner);
                self.chain(here, |now, later| Term::or([now, later]))
            }
            Pattern::All(parts) => self.each(parts, Term::and),
            Pattern::Any(parts) => self.each(parts, Term::or),
        }
    }

    fn at_points(&self, condition: &Condition) -> Vec<Term> {
        let points = self.points.iter();
        points.map(|at| self.condition(condition, at)).collect()
    }

    fn each(&mut self, parts: &[Pattern], of: fn(Vec<Term>) -> Term) -> Vec<Term> {
        let parts: Vec<Vec<Term>> = parts.iter().map(|part| self.pattern(part)).collect();
        let at = |point: usize| parts.iter().map(|part| part[point].clone()).collect();
        (0..self.points.len()).map(|point| of(at(point))).collect()
    }

    /// Names for what depends on what is true here and on the same at the next cut.
    fn chain(&mut self, here: Vec<Term>, of: fn(Term, Term) -> Term) -> Vec<Term> {
        let mut chained = Vec::new();
        let mut later: Option<Term> = None;
        for now in here.into_iter().rev() {
            let meaning = match later {
                Some(later) => of(now, later),
                None => now,
            };
            let name = self.name(Sort::Bool);
            self.assertions.push(Term::implies(name.clone(), meaning));
            chained.push(name.clone());
            later = Some(name);
        }
        chained.reverse();
        chained
    }

    /// What must be so in a segment if the condition is true all the time.
    fn kept(&self, condition: &Condition, segment: usize) -> Term {
        let Segment {
            flows,
            last,
            middle,
        } = &self.segments[segment];
        let flows = flows.iter().cloned().enumerate();
        let moves: Vec<(usize, Term)> = flows.chain(last.iter().cloned()).collect();
        let middle = self.condition(condition, middle);
        Term::and([middle, self.never_entered(condition, &moves)])
    }

    /// No process enters locations that are empty all the time.
    fn never_entered(&self, condition: &Condition, moves: &[(usize, Term)]) -> Term {
        match condition {
            Condition::All(parts) => {
                let parts = parts.iter();
                Term::and(parts.map(|part| self.never_entered(part, moves)))
            }
            Condition::Compare(sum, comparison) if says_empty(sum, *comparison) => {
                let enters = |position: usize| {
                    let target = Quantity::Location(self.shape.moves[position].target);
                    sum.terms.contains_key(&target)
                };
                let entering = moves.iter().filter(|(position, _)| enters(*position));
                Term::and(entering.map(|(_, times)| Term::le(times.clone(), Term::Int(0))))
            }
            Condition::Compare(..) | Condition::Bool(_) | Condition::Any(_) => Term::Bool(true),
        }
    }

    /// Can the last configuration be repeated forever? A loop at a location is possible, or nothing is.
    fn can_stay(&self) -> Term {
        let last = self.points.last().expect("there is a first");
        let possible = |step: &Move| {
            let guards = step.guards.iter();
            let guards =
                guards.map(|guard| self.at_least_zero(&self.shape.guards[*guard].sum, last));
            let one_there = Term::le(Term::Int(1), last.locations[step.source].clone());
            Term::and(guards.chain([one_there]))
        };
        let idle = self.shape.idle.iter().map(possible);
        let stuck = self.shape.moves.iter().map(possible);
        let stuck = Term::and(stuck.map(Term::not));
        Term::or(idle.chain([stuck]))
    }

    fn condition(&self, condition: &Condition, at: &Point) -> Term {
        match condition {
            Condition::Bool(value) => Term::Bool(*value),
            Condition::Compare(sum, Comparison::AtLeastZero) => self.at_least_zero(sum, at),
            Condition::Compare(sum, Comparison::Zero) => Term::eq(self.sum(sum, at), Term::Int(0)),
            Condition::Compare(sum, Comparison::NotZero) => {
                // Solvers split inequalities themselves, but not all of them disequations.
                let sum = self.sum(sum, at);
                Term::or([
                    Term::lt(sum.clone(), Term::Int(0)),
                    Term::lt(Term::Int(0), sum),
                ])
            }
            Condition::All(parts) => Term::and(parts.iter().map(|part| self.condition(part, at))),
            Condition::Any(parts) => Term::or(parts.iter().map(|part| self.condition(part, at))),
        }
    }

    pub(crate) fn at_least_zero(&self, sum: &Sum, at: &Point) -> Term {
        Term::le(Term::Int(0), self.sum(sum, at))
    }

    fn sum(&self, sum: &Sum, at: &Point) -> Term {
        let part = |(quantity, factor): (&Quantity, &i64)| {
            let term = match quantity {
                Quantity::Parameter(position) => &self.parameters[*position],
                Quantity::Location(position) => &at.locations[*position],
                Quantity::Shared(position) => &at.shared[*position],
            };
            times_int(*factor, term)
        };
        let offset = Term::Int(i128::from(sum.offset));
        Term::add(sum.terms.iter().map(part).chain([offset]))
    }
}

/// How many segments a run with the pattern is cut into: one more than there are cuts.
pub(crate) fn n_segments(facts: &Facts, pattern: &Pattern) -> usize {
    facts.n_changes() + pattern.n_points() + 1
}

/// Does the comparison say that no process is in any of some locations?
fn says_empty(sum: &Sum, comparison: Comparison) -> bool {
    let all = |sign: i64| {
        let mut terms = sum.terms.iter();
        terms.all(|(quantity, factor)| {
            matches!(quantity, Quantity::Location(_)) && factor.signum() == sign
        })
    };
    let is_so = match comparison {
        Comparison::Zero => all(1) || all(-1),
        Comparison::AtLeastZero => all(-1),
        Comparison::NotZero => false,
    };
    is_so && sum.offset == 0
}

fn times_int(factor: i64, term: &Term) -> Term {
    let product = Term::mul(&Term::Int(i128::from(factor)), term);
    product.expect("a factor of 64 bits is not enormous")
}
