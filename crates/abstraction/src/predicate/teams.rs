//! Commands that move together, as transitions: alone, in a rendezvous, at an event, or all at once.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use base::Span;
use model::{CommandId, InstanceId};
use smt::{Linear, Sort, Term};

use super::domain::is_enumerated;
use super::execute::{Member, ProgramBuilder};
use super::program::{Content, Failure, Local, Refusal, Transition};
use super::rational::gcd;

/// More ways of moving together than this are not written down.
const MAX_TEAMS: usize = 4096;

/// Terms of this size mean that a model is too complicated for this method.
const MAX_TERM_SIZE: usize = 200_000;

/// More combinations of chosen values than this are not written down.
const MAX_CASES: usize = 32;

/// Remainders that repeat themselves after more numbers are not followed.
const MAX_PERIOD: i128 = 12;

impl ProgramBuilder<'_> {
    pub(super) fn interleaving(&mut self) -> Result<(), Refusal> {
        for transition in self.model.transitions() {
            let lists: Vec<&[CommandId]> = transition
                .participants
                .iter()
                .map(|p| p.alternatives.as_slice())
                .collect();
            for team in combinations(&lists) {
                self.team(&team, vec![transition.action], Term::Bool(true))?;
            }
            if self.transitions.len() > MAX_TEAMS {
                return self.too_many();
            }
        }
        Ok(())
    }

    fn too_many(&self) -> Result<(), Refusal> {
        self.translator(Span::nowhere())
            .refuse(format!("more than {MAX_TEAMS} ways of taking actions"))
    }

    /// Every process that can move does; those that cannot stay.
    pub(super) fn synchronous(&mut self) -> Result<(), Refusal> {
        let mut own: Vec<Vec<CommandId>> = vec![Vec::new(); self.model.instances().len()];
        for (position, command) in self.model.commands().iter().enumerate() {
            own[command.instance.index()].push(CommandId::new(position));
        }
        let mut teams: Vec<(Vec<CommandId>, Term)> = vec![(Vec::new(), Term::Bool(true))];

        for commands in &own {
            let mut disabled = Vec::new();
            for &command in commands {
                disabled.push(Term::not(self.enabledness(command)?.0));
            }
            let stays = Term::and(disabled);
            let mut next = Vec::new();
            for (team, condition) in &teams {
                let with = |command: &CommandId| {
                    ([team.as_slice(), &[*command]].concat(), condition.clone())
                };
                next.extend(commands.iter().map(with));
                next.push((team.clone(), Term::and([condition.clone(), stays.clone()])));
            }
            next.retain(|(_, condition)| *condition != Term::Bool(false));
            teams = next;
            if teams.len() > MAX_TEAMS {
                return self.too_many();
            }
        }

        for (team, condition) in teams {
            if !team.is_empty() {
                let mut actions: Vec<_> = team.iter().map(|c| self.model.action_of(*c)).collect();
                actions.sort_unstable();
                actions.dedup();
                self.team(&team, actions, condition)?;
            }
        }

        Ok(())
    }

    fn team(
        &mut self,
        team: &[CommandId],
        actions: Vec<model::ActionId>,
        condition: Term,
    ) -> Result<(), Refusal> {
        let handshake = match team {
            [sender, _] if self.model.is_handshake(*sender) => Some(self.message(*sender)?),
            _ => None,
        };
        let mut members = Vec::new();
        for (position, &id) in team.iter().enumerate() {
            let handed = handshake.as_ref().filter(|_| position == 1);
            members.push(self.member(id, handed, handshake.is_some())?);
        }
        let transition = self.combine(&members, actions, condition);
        if transition.guard.size() > MAX_TERM_SIZE {
            let span = self.model.step_of(team[0]).span;
            return self.translator(span).refuse("the step is too complicated");
        }
        if transition.guard != Term::Bool(false) {
            self.transitions.push(transition);
        }
        Ok(())
    }

    /// Members that move together: each has read the state before and its own writes only.
    fn combine(
        &mut self,
        members: &[Member],
        actions: Vec<model::ActionId>,
        condition: Term,
    ) -> Transition {
        let mut guard = vec![condition.clone()];
        let mut enabled = vec![condition];
        let mut updates: BTreeMap<usize, Term> = BTreeMap::new();
        let mut locals = Vec::new();
        let mut fails = Vec::new();
        let mut is_total = true;

        for member in members {
            let path = &member.path;
            guard.extend([member.enabled.clone(), path.condition.clone()]);
            enabled.push(member.enabled.clone());
            locals.extend(path.locals.iter().cloned());
            fails.push(path.fails.clone());
            is_total &= path.is_total;
            for &var in &path.written {
                let value = path.scene.values[var].clone();
                if let Some(other) = updates.get(&var) {
                    fails.push(Term::not(Term::eq(other.clone(), value.clone())));
                }
                updates.insert(var, value);
            }
        }

        updates.retain(|var, value| *value != self.vars[*var].term());
        let guard = Term::and(guard);
        let enabled = Term::and(enabled);

        // An error happens although a later choice is impossible, so conditions on choices do not
        // excuse it; those of earlier choices are part of the condition of the failure.
        let failure = Term::and([enabled.clone(), Term::or(fails)]);
        if failure != Term::Bool(false) {
            self.failures.push(Failure {
                condition: failure,
                locals: locals.clone(),
            });
        }

        let mut commands: Vec<CommandId> = members.iter().map(|m| m.command).collect();
        let instance = |id: &CommandId| self.model.commands()[id.index()].instance;
        let mut movers: Vec<InstanceId> = commands.iter().map(instance).collect();
        let source = |id: &CommandId| {
            let var = self
                .translator(Span::nowhere())
                .find(&Content::Location(instance(id)));
            (var, i64::from(self.model.step_of(*id).source.0))
        };

        let mut sources: Vec<(usize, i64)> = commands.iter().map(source).collect();
        sources.sort_unstable();
        commands.sort_unstable();
        movers.sort_unstable();
        movers.dedup();
        Transition {
            actions,
            movers,
            commands,
            sources,
            enabled: if is_total {
                Some(enabled)
            } else {
                case_by_case(&guard, &locals)
            },
            guard,
            updates,
            locals,
        }
    }
}

/// Whether some integer in the place of a name makes a condition true, as a condition without the name;
/// nothing if that is not computed.
#[must_use]
pub fn for_some_integer(name: &str, condition: &Term) -> Option<Term> {
    let local = Local {
        name: Arc::from(name),
        sort: Sort::Int,
        interval: (None, None),
        endless: None,
    };
    case_by_case(condition, std::slice::from_ref(&local))
}

/// When a guard is true for some choice: the guard for each of some values, if they are few and
/// decide it.
fn case_by_case(guard: &Term, locals: &[Local]) -> Option<Term> {
    let mut cases = vec![guard.clone()];
    for local in locals {
        let mut next = Vec::new();
        for case in &cases {
            for value in deciding(case, local)? {
                next.push(case.substitute(&|name| (*local.name == *name).then(|| value.clone())));
            }
            next.retain(|case| *case != Term::Bool(false));
            if next.contains(&Term::Bool(true)) {
                return Some(Term::Bool(true));
            }
            if next.len() > MAX_CASES {
                return None;
            }
        }
        cases = next;
    }
    Some(Term::or(cases))
}

/// Values of which one makes a condition true if any does.
///
/// Where a chosen number is only compared with other expressions, the truth of the condition changes
/// at these only. So it is enough to look at where each stretch between them begins, and at one
/// number below all of them (R. Loos, V. Weispfenning, *Applying linear quantifier elimination*, The
/// Computer Journal 36, 1993, doi:10.1093/comjnl/36.5.450). Where remainders of the number are asked
/// about, too, the truth repeats itself within a stretch, so as many numbers as the common multiple
/// of the divisors are looked at instead of one (D. Cooper, *Theorem proving in arithmetic without
/// multiplication*, Machine Intelligence 7, 1972).
fn deciding(condition: &Term, local: &Local) -> Option<Vec<Term>> {
    if local.sort != Sort::Int {
        return None;
    }
    if is_enumerated(local)
        && let (Some(lo), Some(hi)) = local.interval
    {
        return Some((lo..=hi).map(Term::Int).collect());
    }

    let it = Term::Var(Arc::clone(&local.name), local.sort);
    let mut atoms = BTreeSet::new();
    condition.collect_atoms(&mut atoms);
    let (mut zeros, mut period) = (Vec::new(), 1);
    for atom in atoms.iter().filter(|atom| mentions(atom, local)) {
        let (Term::Le(linear) | Term::Eq(linear)) = atom else {
            return None;
        };
        let rest = linear.without(&it);
        match linear.terms().find(|(term, _)| **term == it) {
            // Where the expression is zero; above and below, it may be positive.
            Some((_, 1 | -1)) if !mentions(&rest.clone().into_term(), local) => {
                let factor = linear.terms().find(|(term, _)| **term == it)?.1;
                zeros.push(rest.times(-factor).into_term());
            }
            Some(_) => return None,
            None => {
                for (term, _) in linear.terms().filter(|(term, _)| mentions(term, local)) {
                    let divisor = remainder_of(term, &it, local)?;
                    period *= divisor / gcd(period, divisor);
                    if period > MAX_PERIOD {
                        return None;
                    }
                }
            }
        }
    }

    if zeros.is_empty() {
        return Some((0..period).map(Term::Int).collect());
    }
    let mut values = BTreeSet::new();
    for zero in zeros {
        for distance in -period..=period {
            values.insert(Term::add([zero.clone(), Term::Int(distance)]));
        }
    }
    Some(values.into_iter().collect())
}

/// The divisor, if the term is a remainder of a sum in which a choice occurs as itself only.
fn remainder_of(term: &Term, it: &Term, local: &Local) -> Option<i128> {
    let Term::Mod(inner, divisor) = term else {
        return None;
    };
    let rest = Linear::of(inner).without(it);
    (!mentions(&rest.into_term(), local)).then_some(*divisor)
}

fn mentions(term: &Term, local: &Local) -> bool {
    let mut vars = BTreeSet::new();
    term.collect_vars(&mut vars);
    vars.contains(&(Arc::clone(&local.name), local.sort))
}

/// One element of each list, in all ways.
fn combinations(lists: &[&[CommandId]]) -> Vec<Vec<CommandId>> {
    let mut teams = vec![Vec::new()];
    for list in lists {
        let extend = |team: &Vec<CommandId>| -> Vec<Vec<CommandId>> {
            let with = |command: &CommandId| [team.as_slice(), &[*command]].concat();
            list.iter().map(with).collect()
        };
        teams = teams.iter().flat_map(extend).collect();
    }
    teams
}
