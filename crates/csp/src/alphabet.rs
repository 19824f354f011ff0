//! The alphabets of processes in a parallel composition: what `#alphabet` says, else all events
//! without a program that the text of the process mentions, with the processes that it calls.

use std::collections::BTreeSet;
use std::rc::Rc;

use super::ast::{Action, EventSpec, IndexDef, IndexValues, IndexedOp, Prefix, Proc, ProcKind};
use super::discovery::of_event;
use super::lexer::Name;
use super::ranges::Interval;
use super::term::{Arg, Env, Machine, SetId};

/// More called processes than this are refused: the arguments of a recursion grow forever.
const MAX_CALLS: usize = 20_000;

impl Machine<'_> {
    /// The events that a list of events means.
    pub(crate) fn event_names(
        &mut self,
        events: &[EventSpec],
        env: &Env,
    ) -> Option<BTreeSet<Name>> {
        let mut names = BTreeSet::new();
        for event in events {
            for env in self.index_envs(IndexedOp::Parallel, &event.indices, env)? {
                let list = self.names_of(&event.name.text, &event.arguments, &env, event.name.span);
                names.extend(list?);
            }
        }
        Some(names)
    }

    fn names_of(
        &mut self,
        name: &Name,
        arguments: &[super::ast::ExprRef],
        env: &Env,
        span: base::Span,
    ) -> Option<Vec<Name>> {
        let mut values = Vec::new();
        for argument in arguments {
            let interval = match self.const_value(argument, env) {
                Some((value, _)) => Some((value, value)),
                None => self.interval(argument, env),
            };
            let Some(interval) = interval else {
                // The event can never happen: nothing gives its argument a value.
                return Some(Vec::new());
            };
            // Any expression that is not constant will do: only the range matters.
            values.push((model::Expr::Bound(model::BoundId(u32::MAX)), interval));
        }

        let Some(list) = self.spelled(&values) else {
            let intervals: Vec<Interval> = values.iter().map(|(_, interval)| *interval).collect();
            return Some(self.open_names(name, &intervals, span));
        };

        let spell =
            |(numbers, _): (Vec<i64>, _)| super::channels::spell(name, '.', &numbers).into();
        Some(list.into_iter().map(spell).collect())
    }

    /// The names of an event with too many possible values: those that are known to occur, and the
    /// one that they share as long as nothing is known.
    fn open_names(&mut self, name: &Name, intervals: &[Interval], span: base::Span) -> Vec<Name> {
        self.open.entry(name.to_string()).or_insert(span);
        let fits = |numbers: &&Vec<i64>| {
            let within = |(number, (lo, hi)): (&i64, &Interval)| (lo..=hi).contains(&number);
            numbers.len() == intervals.len() && numbers.iter().zip(intervals).all(within)
        };
        let known = of_event(&self.mentioned, name).filter(fits);
        let known = known.map(|numbers| super::channels::spell(name, '.', numbers).into());
        known.chain([format!("{name}._").into()]).collect()
    }

    /// The alphabet of a process expression.
    pub(crate) fn alphabet(&mut self, proc: &Proc, env: &Env) -> Option<SetId> {
        let mut walk = AlphabetWalk {
            events: BTreeSet::new(),
            called: BTreeSet::new(),
            waiting: Vec::new(),
        };
        self.mention(proc, env, &mut walk)?;
        while let Some((process, arguments)) = walk.waiting.pop() {
            self.mention_call(process, &arguments, &mut walk)?;
        }
        Some(self.set(walk.events))
    }

    fn mention_call(
        &mut self,
        process: usize,
        arguments: &[Option<i64>],
        walk: &mut AlphabetWalk,
    ) -> Option<()> {
        let key = (process, arguments.to_vec());
        if let Some(known) = self.alphabets.get(&key) {
            walk.events.extend(known.iter().cloned());
            return Some(());
        }

        let decl = &self.scope.processes[process];
        let value = |(name, value): (&super::ast::Ident, &Option<i64>)| {
            value.map(|value| (name.text.clone(), Arg::Const(value, super::scope::Ty::Any)))
        };
        let values = decl
            .parameters
            .iter()
            .zip(arguments)
            .filter_map(value)
            .collect();

        let env = Env::new(process, values);
        if let Some(events) = self.scope.alphabets.get(&decl.name.text).cloned() {
            let names = self.event_names(&events, &env)?;
            walk.events.extend(names.iter().cloned());
            self.alphabets.insert(key, Rc::new(names));
            return Some(());
        }

        let body = decl.body.clone();
        self.mention(&body, &env, walk)
    }

    fn mention(&mut self, proc: &Proc, env: &Env, walk: &mut AlphabetWalk) -> Option<()> {
        match &proc.kind {
            ProcKind::Stop | ProcKind::Skip | ProcKind::Assert(_) => Some(()),
            ProcKind::Call(name, arguments) => {
                let Some(&process) = self.scope.process_by_name.get(&name.text) else {
                    // Reported where the call is made.
                    return Some(());
                };
                let value = |argument: &super::ast::ExprRef| {
                    self.const_value(argument, env).map(|(value, _)| value)
                };
                let call = (process, arguments.iter().map(value).collect::<Vec<_>>());
                if walk.called.insert(call.clone()) {
                    if walk.called.len() > MAX_CALLS {
                        let message = format!(
                            "the alphabet of `{}` cannot be worked out: its arguments grow without end",
                            name.text
                        );
                        let help = "say what the alphabet is with `#alphabet`";
                        let diagnostic =
                            base::Diagnostic::error("open-alphabet", name.span, message);
                        self.diagnostics.push(diagnostic.help(help));
                        return None;
                    }
                    walk.waiting.push(call);
                }
                Some(())
            }
            ProcKind::Prefix(prefixes, rest) => {
                for prefix in prefixes {
                    self.mention_prefix(prefix, env, walk)?;
                }
                let bound = prefixes.iter().flat_map(|prefix| self.received(prefix));
                let env = without(env, &bound.collect::<Vec<_>>());
                self.mention(rest, &env, walk)
            }
            ProcKind::If(_, _, then, otherwise) => {
                self.mention(then, env, walk)?;
                otherwise
                    .iter()
                    .try_for_each(|p| self.mention(p, env, walk))
            }
            ProcKind::Case(branches, default) => {
                for (_, body) in branches {
                    self.mention(body, env, walk)?;
                }
                default.iter().try_for_each(|p| self.mention(p, env, walk))
            }
            ProcKind::Guard(_, body) | ProcKind::Atomic(body) | ProcKind::Replicated(_, body) => {
                self.mention(body, env, walk)
            }
            ProcKind::Hide(body, events) => {
                let hidden = self.event_names(events, env)?;
                let inner = self.alphabet(body, env)?;
                let inner = self.sets[inner.index()].iter();
                walk.events
                    .extend(inner.filter(|name| !hidden.contains(*name)).cloned());
                Some(())
            }
            ProcKind::Seq(a, b) | ProcKind::Interrupt(a, b) => {
                self.mention(a, env, walk)?;
                self.mention(b, env, walk)
            }
            ProcKind::Choice(_, parts)
            | ProcKind::Interleave(parts)
            | ProcKind::Parallel(parts) => parts
                .iter()
                .try_for_each(|part| self.mention(part, env, walk)),
            ProcKind::Indexed(_, indices, body) => {
                for env in self.mentioned_envs(indices, env)? {
                    self.mention(body, &env, walk)?;
                }
                Some(())
            }
        }
    }

    fn mentioned_envs(&mut self, indices: &[IndexDef], env: &Env) -> Option<Vec<Env>> {
        let constant =
            |machine: &Self, expr: &super::ast::ExprRef| machine.const_value(expr, env).is_some();
        let known = indices.iter().all(|index| match &index.values {
            IndexValues::Range(lo, hi) => constant(self, lo) && constant(self, hi),
            IndexValues::List(list) => list.iter().all(|expr| constant(self, expr)),
        });
        if known || indices.len() > 1 {
            return self.index_envs(IndexedOp::Parallel, indices, env);
        }
        let names: Vec<Name> = indices
            .iter()
            .map(|index| index.name.text.clone())
            .collect();
        Some(vec![without(env, &names)])
    }

    fn mention_prefix(
        &mut self,
        prefix: &Prefix,
        env: &Env,
        walk: &mut AlphabetWalk,
    ) -> Option<()> {
        if let (Action::Event(name, arguments), None) = (&prefix.action, &prefix.program) {
            let names = self.names_of(&name.text, arguments, env, name.span)?;
            walk.events.extend(names);
        }
        Some(())
    }

    fn received(&self, prefix: &Prefix) -> Vec<Name> {
        let Action::Receive(_, _, patterns) = &prefix.action else {
            return Vec::new();
        };
        let names = patterns.iter();
        names
            .filter_map(|pattern| super::ranges::binder(self.scope, pattern).cloned())
            .collect()
    }
}

/// What is to be looked at for an alphabet.
struct AlphabetWalk {
    events: BTreeSet<Name>,
    called: BTreeSet<(usize, Vec<Option<i64>>)>,
    waiting: Vec<(usize, Vec<Option<i64>>)>,
}

/// The environment without the names that are bound anew.
fn without(env: &Env, names: &[Name]) -> Env {
    let kept = env.values.iter().filter(|(name, _)| !names.contains(name));
    Env::new(env.def, kept.cloned().collect())
}
