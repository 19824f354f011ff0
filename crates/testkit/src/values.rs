//! Random effects over sets, bags, maps, sequences and records, as texts and as what they mean.
//!
//! What they mean is said with the collections of the standard library, value by value, so that it has
//! nothing in common with cells.

use std::collections::{BTreeMap, BTreeSet};

use crate::Random;

/// The values of the variables that effects change.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct Values {
    /// `s : set of 0..2`.
    pub s: BTreeSet<i64>,
    /// `t : set of 0..2`.
    pub t: BTreeSet<i64>,
    /// `r : set of R`, where `R` has the components `a : 0..1` and `b : bool`.
    pub r: BTreeSet<(i64, bool)>,
    /// `b : bag[2] of 0..2`.
    pub b: BTreeMap<i64, i64>,
    /// `m : map[0..2] of 0..1`.
    pub m: BTreeMap<i64, i64>,
    /// `q : seq[2] of 0..2`.
    pub q: Vec<i64>,
    /// `o : option of 0..2`.
    pub o: Option<i64>,
    /// `n : 0..2`.
    pub n: i64,
    /// Names that are bound, innermost last.
    pub bound: Vec<i64>,
}

/// What the variables are called in a text.
pub const DECLARATIONS: &str = "record R { a: 0..1, b: bool }
var s, t : set of 0..2
var r : set of R
var b : bag[2] of 0..2
var m : map[0..2] of 0..1
var q : seq[2] of 0..2
var o : option of 0..2
var n : 0..2 = 0
";

/// The value of an expression, or nothing if the run-time error is to come when it is stored.
type Eval<T> = Box<dyn Fn(&Values) -> T>;

/// An expression as a text, and its value.
struct Expr<T>(String, Eval<T>);

fn expr<T>(text: String, value: impl Fn(&Values) -> T + 'static) -> Expr<T> {
    Expr(text, Box::new(value))
}

type Set = BTreeSet<i64>;
type Bag = Option<BTreeMap<i64, i64>>;
type Sequence = Option<Vec<i64>>;

/// An effect as a text, and what it does: all results, or nothing for a run-time error.
pub struct Effect {
    /// The statement.
    pub text: String,
    /// What it does.
    pub run: Eval<Option<Vec<Values>>>,
}

/// A model with a step for each of these effects.
#[must_use]
pub fn text_of(effects: &[Effect]) -> String {
    let steps = effects.iter().enumerate();
    let steps: String = steps
        .map(|(number, effect)| format!("    go{number} {{ {} }}\n", effect.text))
        .collect();
    format!(
        "{DECLARATIONS}process P {{\n{steps}}}\ninvariant few: size(s) + size(r) + size(b) < 4\n"
    )
}

/// A random effect.
pub fn random_effect(random: &mut Random) -> Effect {
    Generator { random, n_bound: 0 }.effect(2)
}

struct Generator<'r> {
    random: &'r mut Random,
    n_bound: usize,
}

/// An effect that has one result or none.
fn change(text: String, run: impl Fn(&mut Values) -> Option<()> + 'static) -> Effect {
    let run = move |old: &Values| {
        let mut new = old.clone();
        run(&mut new)?;
        Some(vec![new])
    };
    Effect {
        text,
        run: Box::new(run),
    }
}

impl Generator<'_> {
    fn effect(&mut self, depth: usize) -> Effect {
        if self.random.chance(10) {
            return self.option();
        }
        match self.random.below(if depth == 0 { 9 } else { 12 }) {
            0 | 1 => {
                let Expr(text, value) = self.set(2);
                change(format!("s := {text}"), move |v| {
                    v.s = value(v);
                    Some(())
                })
            }
            2 => {
                let Expr(text, value) = self.set(2);
                change(format!("t, s := s, {text}"), move |v| {
                    let new = value(v);
                    v.t = std::mem::replace(&mut v.s, new);
                    Some(())
                })
            }
            3 => {
                let Expr(text, value) = self.bag(2);
                change(format!("b := {text}"), move |v| {
                    v.b = value(v).filter(|bag| bag.values().sum::<i64>() <= 2)?;
                    Some(())
                })
            }
            4 => self.map(),
            5 => {
                let Expr(text, value) = self.sequence(2);
                change(format!("q := {text}"), move |v| {
                    let fits = |q: &Vec<i64>| q.iter().all(|x| (0..=2).contains(x));
                    v.q = value(v).filter(fits)?;
                    Some(())
                })
            }
            6 => self.records(),
            7 => self.entry(),
            8 => self.choice(),
            9 => {
                let Expr(text, condition) = self.condition(2);
                let (yes, no) = (self.effect(depth - 1), self.effect(depth - 1));
                Effect {
                    text: format!("if {text} {{ {} }} else {{ {} }}", yes.text, no.text),
                    run: Box::new(move |v| {
                        if condition(v) {
                            (yes.run)(v)
                        } else {
                            (no.run)(v)
                        }
                    }),
                }
            }
            10 => {
                let (first, second) = (self.effect(depth - 1), self.effect(depth - 1));
                Effect {
                    text: format!("{}; {}", first.text, second.text),
                    run: Box::new(move |v| {
                        let mut all = Vec::new();
                        for middle in (first.run)(v)? {
                            all.extend((second.run)(&middle)?);
                        }
                        Some(all)
                    }),
                }
            }
            _ => self.every(depth),
        }
    }

    /// A loop over the elements that the set has at each turn.
    fn every(&mut self, depth: usize) -> Effect {
        let name = self.bind();
        let body = self.effect(depth - 1);
        self.n_bound -= 1;

        Effect {
            text: format!("for {name} in t {{ {} }}", body.text),
            run: Box::new(move |v| {
                let mut all = vec![v.clone()];
                for element in 0..=2 {
                    let mut next = Vec::new();
                    for mut values in all {
                        if !values.t.contains(&element) {
                            next.push(values);
                            continue;
                        }
                        values.bound.push(element);
                        for mut result in (body.run)(&values)? {
                            result.bound.pop();
                            next.push(result);
                        }
                    }
                    all = next;
                }
                Some(all)
            }),
        }
    }

    fn map(&mut self) -> Effect {
        match self.random.below(4) {
            0 => {
                let Expr(text, key) = self.number(1);
                change(format!("m := remove(m, {text})"), move |v| {
                    v.m.remove(&key(v));
                    Some(())
                })
            }
            1 => {
                let (k, l) = (self.number(1), self.number(0));
                let text = format!("m := {{{}: 1, {}: 0}}", k.0, l.0);
                change(text, move |v| {
                    let entries = [(k.1(v), 1), (l.1(v), 0)];
                    v.m = entries
                        .into_iter()
                        .filter(|(k, _)| (0..=2).contains(k))
                        .collect();
                    Some(())
                })
            }
            2 => {
                let Expr(set, value) = self.set(1);
                change(
                    format!("m := {{ k in ({set}) where k != 1: k / 2 }}"),
                    move |v| {
                        let keys = value(v).into_iter().filter(|k| *k != 1);
                        v.m = keys.map(|k| (k, k / 2)).collect();
                        Some(())
                    },
                )
            }
            _ => change("m := {}".to_owned(), |v| {
                v.m.clear();
                Some(())
            }),
        }
    }

    /// Reads and writes what belongs to a key.
    fn entry(&mut self) -> Effect {
        let (key, value) = (self.number(1), self.number(1));
        if self.random.chance(30) {
            // The key is that of before, whatever is assigned first.
            let (number, small) = (key, value);
            let new = format!("{} + len(q) - len(q)", number.0);
            let entry = format!("{} + len(q) - len(q)", small.0);
            let text = if self.random.chance(50) {
                format!("n, m[n] := {new}, {entry}")
            } else {
                format!("m[n], n := {entry}, {new}")
            };
            return change(text, move |v| {
                let (number, value) = (number.1(v), small.1(v));
                v.m.insert(v.n, value);
                v.n = number;
                let fits = (0..=2).contains(&number) && (0..=1).contains(&value);
                fits.then_some(())
            });
        }
        if self.random.chance(50) {
            // Not a literal: one outside the range is an error of the text.
            let text = format!("m[{}] := {} + len(q) - len(q)", key.0, value.0);
            return change(text, move |v| {
                let (key, value) = (key.1(v), value.1(v));
                let fits = (0..=2).contains(&key) && (0..=1).contains(&value);
                v.m.insert(key, value);
                fits.then_some(())
            });
        }
        change(format!("n := m[{}]", key.0), move |v| {
            v.n = *v.m.get(&key.1(v))?;
            Some(())
        })
    }

    fn option(&mut self) -> Effect {
        let Expr(text, value) = self.number(1);
        match self.random.below(5) {
            0 => change("o := none".to_owned(), |v| {
                v.o = None;
                Some(())
            }),
            1 => change("n := value(o)".to_owned(), |v| {
                v.n = v.o?;
                Some(())
            }),
            2 => change("o := if n in s then some(n) else o".to_owned(), |v| {
                if v.s.contains(&v.n) {
                    v.o = Some(v.n);
                }
                Some(())
            }),
            // Not a literal: one outside the range is an error of the text.
            _ => change(format!("o := some({text} + len(q) - len(q))"), move |v| {
                v.o = Some(value(v)).filter(|x| (0..=2).contains(x));
                v.o.map(drop)
            }),
        }
    }

    fn records(&mut self) -> Effect {
        let (number, condition) = (self.number(1), self.condition(1));
        let one = format!("R(if {} > 0 then 1 else 0, {})", number.0, condition.0);
        let value = move |v: &Values| (i64::from(number.1(v) > 0), condition.1(v));

        match self.random.below(4) {
            0 => change(format!("r := r union {{{one}}}"), move |v| {
                v.r.insert(value(v));
                Some(())
            }),
            1 => change(format!("r := {{{one}}} union r"), move |v| {
                v.r.insert(value(v));
                Some(())
            }),
            2 => change(format!("r := remove(r, {one})"), move |v| {
                v.r.remove(&value(v));
                Some(())
            }),
            _ => change(
                "r := { R(x.a, !x.b) for x in r where x.b || x.a == 1 }".to_owned(),
                |v| {
                    let kept = v.r.iter().filter(|(a, b)| *b || *a == 1);
                    v.r = kept.map(|(a, b)| (*a, !b)).collect();
                    Some(())
                },
            ),
        }
    }

    fn choice(&mut self) -> Effect {
        let from_all = |values: Vec<i64>, v: &Values| {
            let chosen = |n| Values { n, ..v.clone() };
            Some(values.into_iter().map(chosen).collect())
        };
        match self.random.below(4) {
            0 => {
                let Expr(set, value) = self.set(1);
                Effect {
                    text: format!("n := choose x in ({set}) where x != n"),
                    run: Box::new(move |v| {
                        let others = value(v).into_iter().filter(|x| *x != v.n);
                        from_all(others.collect(), v)
                    }),
                }
            }
            1 => Effect {
                text: "n := any x in b".to_owned(),
                run: Box::new(move |v| from_all(v.b.keys().copied().collect(), v)),
            },
            2 => Effect {
                text: "let one = choose x in r where x.b; n := one.a".to_owned(),
                run: Box::new(move |v| {
                    let chosen = v.r.iter().filter(|(_, b)| *b).map(|(a, _)| *a);
                    from_all(chosen.collect(), v)
                }),
            },
            _ => {
                let Expr(text, value) = self.number(2);
                change(format!("n := {text}"), move |v| {
                    v.n = value(v);
                    (0..=2).contains(&v.n).then_some(())
                })
            }
        }
    }

    fn bind(&mut self) -> String {
        self.n_bound += 1;
        format!("i{}", self.n_bound - 1)
    }

    fn number(&mut self, depth: usize) -> Expr<i64> {
        if self.n_bound > 0 && self.random.chance(40) {
            let which = self.random.below(self.n_bound);
            return expr(format!("i{which}"), move |v| v.bound[which]);
        }
        match self.random.below(if depth == 0 { 3 } else { 6 }) {
            0 => expr("n".to_owned(), |v| v.n),
            1 | 2 => {
                let number = self.random.below(3) as i64;
                expr(number.to_string(), move |_| number)
            }
            3 => {
                let Expr(text, value) = self.set(depth - 1);
                expr(format!("size({text})"), move |v| value(v).len() as i64)
            }
            4 => {
                let Expr(text, value) = self.number(depth - 1);
                expr(format!("copies(b, {text})"), move |v| {
                    v.b.get(&value(v)).copied().unwrap_or(0)
                })
            }
            _ => expr("(len(q) + size(m) + size(b) + size(r))".to_owned(), |v| {
                let others = v.q.len() + v.m.len() + v.r.len();
                others as i64 + v.b.values().sum::<i64>()
            }),
        }
    }

    fn set(&mut self, depth: usize) -> Expr<Set> {
        match self.random.below(if depth == 0 { 3 } else { 10 }) {
            0 => expr("s".to_owned(), |v| v.s.clone()),
            1 => expr("t".to_owned(), |v| v.t.clone()),
            2 => expr("keys(m)".to_owned(), |v| v.m.keys().copied().collect()),
            3 | 4 => {
                let op = *self.random.pick(&["union", "inter", "minus"]);
                let (a, b) = (self.set(depth - 1), self.set(depth - 1));
                expr(format!("({} {op} {})", a.0, b.0), move |v| {
                    let (a, b) = (a.1(v), b.1(v));
                    match op {
                        "union" => &a | &b,
                        "inter" => &a & &b,
                        _ => &a - &b,
                    }
                })
            }
            5 | 6 => {
                let adds = self.random.chance(50);
                let op = if adds { "union" } else { "minus" };
                let (a, x) = (self.set(0), self.number(depth - 1));
                expr(format!("({} {op} {{{}}})", a.0, x.0), move |v| {
                    let (mut a, x) = (a.1(v), x.1(v));
                    if !adds {
                        a.remove(&x);
                    } else if (0..=2).contains(&x) {
                        a.insert(x);
                    }
                    a
                })
            }
            7 => {
                let (a, x) = (self.set(depth - 1), self.number(depth - 1));
                expr(format!("{{ x in {} where x != {} }}", a.0, x.0), move |v| {
                    let x = x.1(v);
                    a.1(v).into_iter().filter(|y| *y != x).collect()
                })
            }
            8 => {
                let a = self.set(depth - 1);
                let text = format!("((s minus s) union {{ 2 - x for x in {} }})", a.0);
                expr(text, move |v| a.1(v).into_iter().map(|x| 2 - x).collect())
            }
            _ => {
                let (c, a) = (self.condition(depth - 1), self.set(depth - 1));
                expr(format!("(if {} then {} else s)", c.0, a.0), move |v| {
                    if c.1(v) { a.1(v) } else { v.s.clone() }
                })
            }
        }
    }

    fn bag(&mut self, depth: usize) -> Expr<Bag> {
        match self.random.below(if depth == 0 { 1 } else { 5 }) {
            0 => expr("b".to_owned(), |v| Some(v.b.clone())),
            1 => {
                let (a, x) = (self.bag(depth - 1), self.number(1));
                expr(format!("add({}, {})", a.0, x.0), move |v| {
                    let (mut bag, x) = (a.1(v)?, x.1(v));
                    *bag.entry(x).or_default() += 1;
                    (0..=2).contains(&x).then_some(bag)
                })
            }
            2 => {
                let (a, x) = (self.bag(depth - 1), self.number(1));
                expr(format!("remove({}, {})", a.0, x.0), move |v| {
                    let mut bag = a.1(v)?;
                    *bag.get_mut(&x.1(v))? -= 1;
                    bag.retain(|_, count| *count > 0);
                    Some(bag)
                })
            }
            3 => {
                let x = self.number(1);
                expr(format!("{{{}, 1}}", x.0), move |v| {
                    let mut bag = BTreeMap::from([(1, 1)]);
                    let x = x.1(v);
                    if (0..=2).contains(&x) {
                        *bag.entry(x).or_default() += 1;
                    }
                    Some(bag)
                })
            }
            _ => {
                let op = *self.random.pick(&["union", "inter", "minus"]);
                let (a, b) = (self.bag(depth - 1), self.bag(depth - 1));
                expr(format!("({} {op} {})", a.0, b.0), move |v| {
                    let (a, b) = (a.1(v)?, b.1(v)?);
                    let count = |bag: &BTreeMap<i64, i64>, x| bag.get(&x).copied().unwrap_or(0);
                    let joined = (0..=2).map(|x| {
                        let (a, b) = (count(&a, x), count(&b, x));
                        let number = match op {
                            "union" => a + b,
                            "inter" => a.min(b),
                            _ => (a - b).max(0),
                        };
                        (x, number)
                    });
                    Some(joined.filter(|(_, count)| *count > 0).collect())
                })
            }
        }
    }

    fn sequence(&mut self, depth: usize) -> Expr<Sequence> {
        match self.random.below(if depth == 0 { 2 } else { 4 }) {
            0 => expr("q".to_owned(), |v| Some(v.q.clone())),
            1 => {
                let x = self.number(0);
                expr(format!("[{}]", x.0), move |v| Some(vec![x.1(v)]))
            }
            2 => {
                let (a, x) = (self.sequence(depth - 1), self.number(1));
                expr(format!("append({}, {})", a.0, x.0), move |v| {
                    let mut q = a.1(v)?;
                    q.push(x.1(v));
                    (q.len() <= 2).then_some(q)
                })
            }
            _ => {
                let a = self.sequence(depth - 1);
                expr(format!("tail({})", a.0), move |v| {
                    let q = a.1(v)?;
                    (!q.is_empty()).then(|| q[1..].to_vec())
                })
            }
        }
    }

    fn condition(&mut self, depth: usize) -> Expr<bool> {
        match self.random.below(if depth == 0 { 4 } else { 11 }) {
            10 => expr("(o != none && value(o) == n)".to_owned(), |v| {
                v.o == Some(v.n)
            }),
            3 if depth == 0 => expr("o == none".to_owned(), |v| v.o.is_none()),
            0 => expr("n in q".to_owned(), |v| v.q.contains(&v.n)),
            1 => expr("n in m".to_owned(), |v| v.m.contains_key(&v.n)),
            2 => expr("(exists x in r: x.b && x.a == n)".to_owned(), |v| {
                v.r.contains(&(v.n, true))
            }),
            3 | 4 => {
                let (x, a) = (self.number(depth - 1), self.set(depth - 1));
                expr(format!("({}) in ({})", x.0, a.0), move |v| {
                    a.1(v).contains(&x.1(v))
                })
            }
            5 => {
                let (a, b) = (self.set(depth - 1), self.set(depth - 1));
                expr(format!("({}) subset ({})", a.0, b.0), move |v| {
                    a.1(v).is_subset(&b.1(v))
                })
            }
            6 => {
                let (a, b) = (self.set(depth - 1), self.set(depth - 1));
                expr(format!("({}) == ({})", a.0, b.0), move |v| a.1(v) == b.1(v))
            }
            7 => {
                let (a, x) = (self.set(depth - 1), self.number(depth - 1));
                expr(format!("(forall x in ({}): x <= {})", a.0, x.0), move |v| {
                    let x = x.1(v);
                    a.1(v).iter().all(|y| *y <= x)
                })
            }
            8 => {
                let x = self.number(0);
                let text = format!("R(if {} > 0 then 1 else 0, true) in r", x.0);
                expr(text, move |v| v.r.contains(&(i64::from(x.1(v) > 0), true)))
            }
            _ => {
                let (a, b) = (self.condition(depth - 1), self.condition(depth - 1));
                expr(format!("(!({}) && ({}))", a.0, b.0), move |v| {
                    !a.1(v) && b.1(v)
                })
            }
        }
    }
}
