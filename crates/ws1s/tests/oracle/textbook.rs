//! The textbook construction: explicit alphabets, singletons for positions, one operation at a time.
//!
//! Everything is reduced to four atoms over tracks (`X ⊆ Y` at every position, "exactly one
//! element", successor, order) and ∧, ¬, ∃. A Boolean is read off position 0 of its track.

use std::collections::BTreeMap;

use ws1s::Verdict;

use crate::random::{Formula, Set, Sort, Term};

/// A complete deterministic automaton over letters of `N_TRACKS` bits. State 0 is initial.
#[derive(Clone)]
pub struct Dfa {
    steps: Vec<Vec<usize>>,
    accepting: Vec<bool>,
    n_tracks: usize,
}

/// The automaton of a formula; free variables are the first tracks.
pub fn construct(formula: &Formula, sorts: &[Sort]) -> Dfa {
    let builder = AutomatonBuilder {
        n_tracks: sorts.len() + depth(formula) + 3,
    };
    let mut sorts = sorts.to_vec();
    builder.formula(formula, &mut sorts)
}

impl Dfa {
    pub fn accepts(&self, values: &[u64], length: usize) -> bool {
        let state = (0..length.max(1)).fold(0, |state, position| {
            let bit = |index: usize| (values[index] >> position & 1) as usize;
            let letter = (0..values.len()).fold(0, |letter, i| letter | bit(i) << i);
            self.steps[state][letter]
        });
        self.accepting[state]
    }

    /// True of every word that can be continued to an accepted one.
    pub fn prefixes(&self) -> Self {
        let mut accepting = self.accepting.clone();
        loop {
            let leads = |state: usize| {
                accepting[state] || self.steps[state].iter().any(|&next| accepting[next])
            };
            let next: Vec<bool> = (0..accepting.len()).map(leads).collect();
            if next == accepting {
                break;
            }
            accepting = next;
        }
        Self {
            accepting,
            ..self.clone()
        }
    }

    /// Validity and satisfiability over well-formed values of the free variables that satisfy a
    /// restriction.
    pub fn verdict(&self, sorts: &[Sort], restriction: &Formula) -> Verdict {
        let builder = AutomatonBuilder {
            n_tracks: self.n_tracks,
        };
        let mut formed = builder.formula(restriction, &mut sorts.to_vec());
        for (index, sort) in sorts.iter().enumerate() {
            if *sort == Sort::First {
                formed = formed.and(&builder.singleton(index));
            }
        }
        let some_true = formed.and(self).is_satisfiable();
        let some_false = formed.and(&self.not()).is_satisfiable();
        match (some_true, some_false) {
            (false, _) => Verdict::Unsatisfiable,
            (true, false) => Verdict::Valid,
            (true, true) => Verdict::Satisfiable,
        }
    }

    fn is_satisfiable(&self) -> bool {
        // Only reachable states are ever constructed.
        self.accepting.contains(&true)
    }

    fn not(&self) -> Self {
        Self {
            accepting: self.accepting.iter().map(|accepting| !accepting).collect(),
            ..self.clone()
        }
    }

    fn and(&self, other: &Self) -> Self {
        let step = |&(a, b): &(usize, usize), letter: usize| {
            (self.steps[a][letter], other.steps[b][letter])
        };
        let accepts = |&(a, b): &(usize, usize)| self.accepting[a] && other.accepting[b];
        explore((0, 0), self.n_tracks, step, accepts).minimal()
    }

    fn or(&self, other: &Self) -> Self {
        self.not().and(&other.not()).not()
    }

    fn iff(&self, other: &Self) -> Self {
        self.and(other).or(&self.not().and(&other.not()))
    }

    fn exists(&self, track: usize) -> Self {
        // Accept what trailing zeros on all other tracks can complete.
        let mut accepting = self.accepting.clone();
        loop {
            let complete = |state: usize| {
                accepting[state]
                    || [0, 1 << track]
                        .iter()
                        .any(|&l| accepting[self.steps[state][l]])
            };
            let next: Vec<bool> = (0..accepting.len()).map(complete).collect();
            if next == accepting {
                break;
            }
            accepting = next;
        }

        let step = |states: &Vec<usize>, letter: usize| {
            let mut next: Vec<usize> = states
                .iter()
                .flat_map(|&state| {
                    [letter & !(1 << track), letter | 1 << track].map(|l| self.steps[state][l])
                })
                .collect();
            next.sort_unstable();
            next.dedup();
            next
        };

        let accepts = |states: &Vec<usize>| states.iter().any(|&state| accepting[state]);
        explore(vec![0], self.n_tracks, step, accepts).minimal()
    }

    /// Moore's algorithm, classes recomputed until nothing changes.
    fn minimal(&self) -> Self {
        let mut classes: Vec<usize> = self.accepting.iter().map(|&a| usize::from(a)).collect();
        let mut n_classes = 0;
        loop {
            let mut numbers = BTreeMap::new();
            let mut next = Vec::new();
            for (state, steps) in self.steps.iter().enumerate() {
                let targets: Vec<usize> = steps.iter().map(|&target| classes[target]).collect();
                let fresh = numbers.len();
                next.push(*numbers.entry((classes[state], targets)).or_insert(fresh));
            }
            classes = next;
            if numbers.len() == n_classes {
                break;
            }
            n_classes = numbers.len();
        }

        let step = |state: &usize, letter: usize| {
            let target = classes[self.steps[*state][letter]];
            classes
                .iter()
                .position(|&class| class == target)
                .expect("a class has a state")
        };

        explore(0, self.n_tracks, step, |state| self.accepting[*state])
    }
}

/// The reachable automaton of a step function.
fn explore<S: Ord + Clone>(
    initial: S,
    n_tracks: usize,
    step: impl Fn(&S, usize) -> S,
    accepts: impl Fn(&S) -> bool,
) -> Dfa {
    let mut numbers = BTreeMap::from([(initial.clone(), 0)]);
    let mut states = vec![initial];
    let mut steps = Vec::new();
    while steps.len() < states.len() {
        let state = states[steps.len()].clone();
        let mut row = Vec::new();
        for letter in 0..1 << n_tracks {
            let next = step(&state, letter);
            let fresh = numbers.len();
            let number = *numbers.entry(next.clone()).or_insert(fresh);
            if number == fresh {
                states.push(next);
            }
            row.push(number);
        }
        steps.push(row);
    }

    Dfa {
        accepting: states.iter().map(accepts).collect(),
        steps,
        n_tracks,
    }
}

/// How many tracks bound variables need. (Terms need up to three more.)
fn depth(formula: &Formula) -> usize {
    match formula {
        Formula::Not(a) => depth(a),
        Formula::And(all) | Formula::Or(all) => all.iter().map(depth).max().unwrap_or(0),
        Formula::Implies(a, b) | Formula::Iff(a, b) => depth(a).max(depth(b)),
        Formula::Quantifier(_, _, _, body) => 1 + depth(body),
        _ => 0,
    }
}

struct AutomatonBuilder {
    n_tracks: usize,
}

impl AutomatonBuilder {
    fn constant(&self, value: bool) -> Dfa {
        explore((), self.n_tracks, |(), _| (), |()| value)
    }

    /// Exactly one element.
    fn singleton(&self, track: usize) -> Dfa {
        let step = |count: &usize, letter: usize| (count + (letter >> track & 1)).min(2);
        explore(0, self.n_tracks, step, |count| *count == 1)
    }

    /// Every position satisfies the relation of two tracks.
    fn always(&self, a: usize, b: usize, relation: fn(bool, bool) -> bool) -> Dfa {
        let step = |&good: &bool, letter: usize| {
            good && relation(letter >> a & 1 == 1, letter >> b & 1 == 1)
        };
        explore(true, self.n_tracks, step, |good| *good)
    }

    /// The only element of `a` is the one before the only element of `b`.
    fn successor(&self, a: usize, b: usize) -> Dfa {
        let step = |&(seen, good): &(bool, bool), letter: usize| {
            let (x, y) = (letter >> a & 1 == 1, letter >> b & 1 == 1);
            (x, good && y == seen)
        };
        let accepts = |&(seen, good): &(bool, bool)| good && !seen;
        let shifted = explore((false, true), self.n_tracks, step, accepts);
        shifted.and(&self.singleton(a)).and(&self.singleton(b))
    }

    /// The only element of `a` is less than the only element of `b`.
    fn less(&self, a: usize, b: usize) -> Dfa {
        let step = |&(x, good): &(bool, bool), letter: usize| {
            let (now_x, now_y) = (letter >> a & 1 == 1, letter >> b & 1 == 1);
            (x || now_x, good && (!now_y || x))
        };
        let ordered = explore((false, true), self.n_tracks, step, |&(_, good)| good);
        ordered.and(&self.singleton(a)).and(&self.singleton(b))
    }

    fn zero(&self, track: usize) -> Dfa {
        let step = |&(first, good): &(bool, bool), letter: usize| {
            (
                false,
                if first {
                    letter >> track & 1 == 1
                } else {
                    good
                },
            )
        };
        let starts = explore((true, false), self.n_tracks, step, |&(_, good)| good);
        starts.and(&self.singleton(track))
    }

    fn formula(&self, formula: &Formula, sorts: &mut Vec<Sort>) -> Dfa {
        let n = sorts.len();
        match formula {
            Formula::Constant(value) => self.constant(*value),
            Formula::Bool(var) => {
                let step = |&(first, good): &(bool, bool), letter: usize| {
                    (false, if first { letter >> var & 1 == 1 } else { good })
                };
                explore((true, false), self.n_tracks, step, |&(_, good)| good)
            }
            Formula::Less(a, b) => self.relate(a, b, n, &|x, y| self.less(x, y)),
            Formula::LessEqual(a, b) => {
                self.relate(a, b, n, &|x, y| self.less(x, y).or(&self.same(x, y)))
            }
            Formula::Equal(a, b) => self.relate(a, b, n, &|x, y| self.same(x, y)),
            Formula::In(a, b) => {
                let element = self.value(a, n, n + 1).and(&self.member(n, b, n + 1));
                element.and(&self.singleton(n)).exists(n)
            }
            Formula::Sub(a, b) => self.for_all(
                n,
                &self.member(n, a, n + 1).not().or(&self.member(n, b, n + 1)),
            ),
            Formula::SetEqual(a, b) => {
                self.for_all(n, &self.member(n, a, n + 1).iff(&self.member(n, b, n + 1)))
            }
            Formula::Empty(a) => self.for_all(n, &self.member(n, a, n + 1).not()),
            Formula::Not(a) => self.formula(a, sorts).not(),
            Formula::And(all) => all.iter().fold(self.constant(true), |dfa, f| {
                dfa.and(&self.formula(f, sorts))
            }),
            Formula::Or(all) => all.iter().fold(self.constant(false), |dfa, f| {
                dfa.or(&self.formula(f, sorts))
            }),
            Formula::Implies(a, b) => self.formula(a, sorts).not().or(&self.formula(b, sorts)),
            Formula::Iff(a, b) => self.formula(a, sorts).iff(&self.formula(b, sorts)),
            Formula::Quantifier(universal, sort, _, body) => {
                sorts.push(*sort);
                let body = self.formula(body, sorts);
                sorts.pop();
                let body = if *universal { body.not() } else { body };
                let body = match sort {
                    Sort::First => body.and(&self.singleton(n)),
                    _ => body,
                };
                let exists = body.exists(n);
                if *universal { exists.not() } else { exists }
            }
            _ => unreachable!("only plain formulas are translated"),
        }
    }

    fn same(&self, a: usize, b: usize) -> Dfa {
        self.always(a, b, |x, y| x == y).and(&self.singleton(a))
    }

    /// For every position, put on `track`.
    fn for_all(&self, track: usize, body: &Dfa) -> Dfa {
        body.not().and(&self.singleton(track)).exists(track).not()
    }

    fn relate(&self, a: &Term, b: &Term, n: usize, relation: &dyn Fn(usize, usize) -> Dfa) -> Dfa {
        let values = self.value(a, n, n + 2).and(&self.value(b, n + 1, n + 2));
        values.and(&relation(n, n + 1)).exists(n + 1).exists(n)
    }

    /// The value of `term` is the element of `track`; tracks from `free` on may be used.
    fn value(&self, term: &Term, track: usize, free: usize) -> Dfa {
        match term {
            Term::Var(var) => self.same(*var, track),
            Term::Number(0) => self.zero(track),
            Term::Number(number) => {
                let step = |&at: &(u32, bool), letter: usize| match letter >> track & 1 {
                    1 => (at.0.min(*number + 1) + 1, at.0 == *number),
                    _ => (at.0.min(*number + 1) + 1, at.1),
                };
                let there = explore((0, false), self.n_tracks, step, |at| at.1);
                there.and(&self.singleton(track))
            }
            Term::Plus(inner, k) | Term::Minus(inner, k) => {
                let up = matches!(term, Term::Plus(..));
                // The value is shifted one by one: through a chain of at most two links.
                let mut dfa = self.value(inner, free, free + 1);
                for link in 0..*k {
                    let (from, to) = match link % 2 {
                        0 => (free, track),
                        _ => (track, free),
                    };
                    let shift = if up {
                        self.successor(from, to)
                    } else {
                        let both = self.zero(from).and(&self.zero(to));
                        self.successor(to, from).or(&both)
                    };
                    dfa = dfa.and(&shift).exists(from);
                }
                match k % 2 {
                    1 => dfa,
                    _ => dfa.and(&self.same(free, track)).exists(free),
                }
            }
            Term::Min(_) | Term::Max(_) | Term::Modulo(..) => unreachable!("only in rich formulas"),
        }
    }

    /// The element of `track` is in `set`.
    fn member(&self, track: usize, set: &Set, free: usize) -> Dfa {
        match set {
            Set::Var(var) => self.always(track, *var, |x, y| !x || y),
            Set::Empty => self.constant(false),
            Set::Number(number) => {
                let step = |&(at, good): &(u32, bool), letter: usize| {
                    let is_element = at < 60 && number >> at & 1 == 1;
                    let next = (at + 1).min(60);
                    (next, good && (letter >> track & 1 == 0 || is_element))
                };
                explore((0, true), self.n_tracks, step, |&(_, good)| good).minimal()
            }
            Set::Single(term) => self.value(term, track, free),
            Set::Interval(from, to) => {
                let at_least = |a, b| self.less(a, b).or(&self.same(a, b));
                let above = self.value(from, free, free + 1).and(&at_least(free, track));
                let below = self.value(to, free, free + 1).and(&at_least(track, free));
                above.exists(free).and(&below.exists(free))
            }
            Set::Union(a, b) => self.member(track, a, free).or(&self.member(track, b, free)),
            Set::Inter(a, b) => self
                .member(track, a, free)
                .and(&self.member(track, b, free)),
            Set::Minus(a, b) => self
                .member(track, a, free)
                .and(&self.member(track, b, free).not()),
            Set::ShiftUp(_) | Set::ShiftDown(_) => unreachable!("only in rich formulas"),
        }
    }
}
