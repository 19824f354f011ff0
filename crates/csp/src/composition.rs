//! Processes side by side within one component.
//!
//! Components of the system are composed by the model (`assemble.rs`); what is composed here comes
//! into being while a component runs.

use std::collections::BTreeSet;
use std::rc::Rc;

use super::lexer::Name;
use super::moves::{Label, Move, handover};
use super::term::{Machine, SetId, Term, TermId};

/// A joint move so far, and where it leads its members.
type Joined = (Option<Move>, Vec<(usize, TermId)>);

impl Machine<'_> {
    /// Interleaving (without alphabets) and parallel composition (with alphabets).
    pub(crate) fn compose(&mut self, parts: &[(TermId, Option<SetId>)]) -> Option<Vec<Move>> {
        let mut each = Vec::new();
        for (part, _) in parts {
            each.push(self.moves(*part)?);
        }
        let mut moves = Vec::new();
        let mut shared: BTreeSet<Name> = BTreeSet::new();

        for (position, own) in each.iter().enumerate() {
            for step in own.iter() {
                match &step.label {
                    Label::Tick => {}
                    Label::Event(name) if self.in_alphabet(parts, position, name) => {
                        shared.insert(name.clone());
                    }
                    _ => {
                        let target = self.replaced(parts, &[(position, step.target)]);
                        moves.push(Move {
                            target,
                            ..step.clone()
                        });
                    }
                }
            }
        }

        for name in shared {
            let members: Vec<usize> = (0..parts.len())
                .filter(|&position| self.in_alphabet(parts, position, &name))
                .collect();
            let fits = |step: &Move| matches!(&step.label, Label::Event(other) if *other == name);
            self.together(parts, &each, &members, &fits, &mut moves);
        }

        let all: Vec<usize> = (0..parts.len()).collect();
        let is_tick = |step: &Move| matches!(step.label, Label::Tick);
        let n_moves = moves.len();
        self.together(parts, &each, &all, &is_tick, &mut moves);

        let stop = self.term(Term::Stop);
        for step in &mut moves[n_moves..] {
            step.target = stop;
        }
        self.handshakes(parts, &each, &mut moves)?;
        Some(moves)
    }

    fn in_alphabet(&self, parts: &[(TermId, Option<SetId>)], position: usize, name: &Name) -> bool {
        let set = parts[position].1;
        set.is_some_and(|set| self.sets[set.index()].contains(name))
    }

    fn replaced(&mut self, parts: &[(TermId, Option<SetId>)], new: &[(usize, TermId)]) -> TermId {
        let mut parts = parts.to_vec();
        for (position, term) in new {
            parts[*position].0 = *term;
        }
        let term = match parts.first() {
            Some((_, Some(_))) => {
                let with_set = |(term, set): &(TermId, Option<SetId>)| set.map(|set| (*term, set));
                Term::Parallel(parts.iter().filter_map(with_set).collect())
            }
            _ => Term::Interleave(parts.iter().map(|(term, _)| *term).collect()),
        };
        self.term(term)
    }

    /// Every combination of one fitting move of each member.
    fn together(
        &mut self,
        parts: &[(TermId, Option<SetId>)],
        each: &[Rc<Vec<Move>>],
        members: &[usize],
        fits: &dyn Fn(&Move) -> bool,
        out: &mut Vec<Move>,
    ) {
        let mut teams: Vec<Joined> = vec![(None, Vec::new())];

        for &member in members {
            let mut next = Vec::new();
            for (so_far, targets) in &teams {
                for step in each[member].iter().filter(|step| fits(step)) {
                    let joined = match so_far {
                        None => step.clone(),
                        Some(so_far) => so_far.joined(step),
                    };
                    let mut targets = targets.clone();
                    targets.push((member, step.target));
                    next.push((Some(joined), targets));
                }
            }
            teams = next;
        }

        for (joined, targets) in teams {
            let target = self.replaced(parts, &targets);
            out.extend(joined.map(|joined| Move { target, ..joined }));
        }
    }

    fn handshakes(
        &mut self,
        parts: &[(TermId, Option<SetId>)],
        each: &[Rc<Vec<Move>>],
        out: &mut Vec<Move>,
    ) -> Option<()> {
        for (from, senders) in each.iter().enumerate() {
            for send in senders.iter() {
                let Label::Send(output) = &send.label else {
                    continue;
                };
                for (to, receivers) in each.iter().enumerate() {
                    for receive in receivers.iter().filter(|_| from != to) {
                        let Label::Receive(input) = &receive.label else {
                            continue;
                        };
                        let Some((guard, bound)) = handover(output, input) else {
                            continue;
                        };
                        let mut step = send.joined(receive);
                        step.lets.splice(0..0, bound);
                        let name = self.handshake_name(output);
                        step.label = Label::Alone(name);
                        let new = [(from, send.target), (to, receive.target)];
                        step.target = self.replaced(parts, &new);
                        out.extend(step.guarded(&guard));
                    }
                }
            }
        }

        Some(())
    }
}
