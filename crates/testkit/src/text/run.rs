//! Steps of programs.

use super::interpret::{
    Configuration, Fault, Interpreter, Move, Scope, Value, check_range, list_cells, values_of,
};
use super::{Channel, Communication, Exp, Manner, Pattern, Step, Stmt, Ty};

/// A step of an instance with values for its parameters.
struct Candidate<'p> {
    instance: usize,
    step: &'p Step,
    parameters: Vec<(String, Value)>,
    /// The arguments of its event.
    event: Option<(&'static str, Vec<i64>)>,
}

/// One way to go through an effect.
#[derive(Clone)]
struct Branch {
    configuration: Configuration,
    bound: Vec<(String, Value)>,
    written: Vec<String>,
}

impl<'p> Interpreter<'p> {
    /// All steps that leave a configuration, sorted, each once.
    ///
    /// # Errors
    /// A run-time error in one of them.
    pub fn moves(&self, configuration: &Configuration) -> Result<Vec<Move>, Fault> {
        let candidates = self.candidates(configuration)?;
        let mut moves = if self.program.synchronous {
            self.together(&candidates, configuration)?
        } else {
            self.interleaved(&candidates, configuration)?
        };
        moves.sort();
        moves.dedup();
        Ok(moves)
    }

    /// Every step of every instance with every list of parameters, wherever the instance is.
    fn candidates(&self, configuration: &Configuration) -> Result<Vec<Candidate<'p>>, Fault> {
        let mut found = Vec::new();
        for (instance, (_, process, _)) in self.instances.iter().enumerate() {
            for step in process.blocks.iter().flat_map(|block| &block.steps) {
                let scope = Scope {
                    configuration,
                    instance: Some(instance),
                    bound: Vec::new(),
                };
                self.bindings(&step.parameters, &scope, &mut |scope| {
                    let event = match &step.communication {
                        Communication::Event(name, arguments) => {
                            let mut values = Vec::new();
                            for argument in arguments {
                                values.push(self.eval(argument, scope)?.number());
                            }
                            Some((*name, values))
                        }
                        Communication::Alone
                        | Communication::Send(..)
                        | Communication::Receive(..)
                        | Communication::ForEach(..) => None,
                    };
                    found.push(Candidate {
                        instance,
                        step,
                        parameters: scope.bound.clone(),
                        event,
                    });
                    Ok(())
                })?;
            }
        }

        Ok(found)
    }

    fn interleaved(
        &self,
        candidates: &[Candidate<'p>],
        configuration: &Configuration,
    ) -> Result<Vec<Move>, Fault> {
        let mut moves = Vec::new();
        for candidate in candidates {
            match &candidate.step.communication {
                Communication::Event(..) => {}
                Communication::Send(channel, _) if self.is_meeting(channel) => {
                    for other in candidates {
                        if self.could_meet(candidate, other) {
                            self.meet(candidate, other, configuration, &mut moves)?;
                        }
                    }
                }
                Communication::Receive(channel, ..) if self.is_meeting(channel) => {}
                Communication::Alone
                | Communication::Send(..)
                | Communication::Receive(..)
                | Communication::ForEach(..) => {
                    if self.is_enabled(candidate, configuration)? {
                        let name = self.command_name(candidate);
                        self.execute(&[candidate], vec![name], configuration, &mut moves)?;
                    }
                }
            }
        }

        let mut events: Vec<_> = candidates.iter().filter_map(|c| c.event.clone()).collect();
        events.sort();
        events.dedup();
        for event in events {
            let concerned: Vec<&Candidate<'p>> = candidates
                .iter()
                .filter(|c| c.event.as_ref() == Some(&event))
                .collect();
            let list: Vec<String> = event.1.iter().map(i64::to_string).collect();
            let name = if list.is_empty() {
                event.0.to_owned()
            } else {
                format!("{}({})", event.0, list.join(", "))
            };
            for team in self.teams(&concerned, configuration, true)? {
                self.execute(&team, vec![name.clone()], configuration, &mut moves)?;
            }
        }

        Ok(moves)
    }

    fn together(
        &self,
        candidates: &[Candidate<'p>],
        configuration: &Configuration,
    ) -> Result<Vec<Move>, Fault> {
        let mut moves = Vec::new();
        let all: Vec<&Candidate<'p>> = candidates.iter().collect();
        for team in self.teams(&all, configuration, false)? {
            if !team.is_empty() {
                let names = team
                    .iter()
                    .map(|member| self.command_name(member))
                    .collect();
                self.execute(&team, names, configuration, &mut moves)?;
            }
        }
        Ok(moves)
    }

    /// One enabled candidate of each instance that has any. If all are `needed`, there is no team
    /// unless each of them has one.
    fn teams<'c>(
        &self,
        candidates: &[&'c Candidate<'p>],
        configuration: &Configuration,
        needed: bool,
    ) -> Result<Vec<Vec<&'c Candidate<'p>>>, Fault> {
        let mut teams: Vec<Vec<&Candidate<'p>>> = vec![Vec::new()];
        for instance in 0..self.instances.len() {
            let own: Vec<&Candidate<'p>> = candidates
                .iter()
                .copied()
                .filter(|c| c.instance == instance)
                .collect();
            let mut enabled = Vec::new();
            for candidate in &own {
                if self.is_enabled(candidate, configuration)? {
                    enabled.push(*candidate);
                }
            }
            if own.is_empty() || (enabled.is_empty() && !needed) {
                continue;
            }
            let longer = teams.iter().flat_map(|team| {
                enabled.iter().map(move |candidate| {
                    let mut team = team.clone();
                    team.push(*candidate);
                    team
                })
            });
            teams = longer.collect();
        }

        Ok(teams)
    }

    fn is_meeting(&self, channel: &Channel) -> bool {
        let mut all = self.program.channels.iter();
        all.any(|decl| decl.name == channel.name && decl.capacity == 0)
    }

    fn could_meet(&self, sender: &Candidate<'p>, receiver: &Candidate<'p>) -> bool {
        match (&sender.step.communication, &receiver.step.communication) {
            (Communication::Send(a, _), Communication::Receive(b, ..)) => {
                a.name == b.name && sender.instance != receiver.instance
            }
            _ => false,
        }
    }

    fn meet(
        &self,
        sender: &Candidate<'p>,
        receiver: &Candidate<'p>,
        configuration: &Configuration,
        moves: &mut Vec<Move>,
    ) -> Result<(), Fault> {
        let both = [
            self.is_enabled(sender, configuration)?,
            self.is_enabled(receiver, configuration)?,
        ];
        if both != [true, true] {
            return Ok(());
        }
        let sends = self.scope(sender, configuration);
        let receives = self.scope(receiver, configuration);
        let (Communication::Send(channel, payload), Communication::Receive(other, patterns, _)) =
            (&sender.step.communication, &receiver.step.communication)
        else {
            unreachable!("a sender meets a receiver");
        };
        if self.channel(channel, &sends)? != self.channel(other, &receives)? {
            return Ok(());
        }
        let message = self.message(channel, payload, &sends)?;

        if self.fits(patterns, &message, &receives)? {
            let name = format!(
                "{}/{}",
                self.command_name(sender),
                self.command_name(receiver)
            );
            self.execute(&[sender, receiver], vec![name], configuration, moves)?;
        }

        Ok(())
    }

    fn scope<'s>(&self, candidate: &Candidate<'p>, configuration: &'s Configuration) -> Scope<'s> {
        Scope {
            configuration,
            instance: Some(candidate.instance),
            bound: candidate.parameters.clone(),
        }
    }

    fn is_enabled(
        &self,
        candidate: &Candidate<'p>,
        configuration: &Configuration,
    ) -> Result<bool, Fault> {
        let (name, process, _) = &self.instances[candidate.instance];
        let here = configuration.locations[name];
        let is_source = process.blocks.iter().any(|block| {
            let is_there = block.sources.as_ref().is_none_or(|s| s.contains(&here));
            is_there && block.steps.iter().any(|s| std::ptr::eq(s, candidate.step))
        });
        if !is_source {
            return Ok(false);
        }
        let scope = self.scope(candidate, configuration);
        for guard in &candidate.step.guards {
            if !self.eval(guard, &scope)?.bool() {
                return Ok(false);
            }
        }

        match &candidate.step.communication {
            Communication::Alone | Communication::Event(..) | Communication::ForEach(..) => {
                Ok(true)
            }
            Communication::Send(channel, _) => {
                let (name, capacity) = self.channel(channel, &scope)?;
                Ok(capacity == 0 || configuration.channels[&name].len() < capacity)
            }
            Communication::Receive(channel, patterns, manner) => {
                let (name, capacity) = self.channel(channel, &scope)?;
                let messages = &configuration.channels[&name];
                Ok(capacity == 0
                    || self
                        .wanted_message(messages, patterns, *manner, &scope)?
                        .is_some())
            }
        }
    }

    /// Which message a receive takes.
    fn wanted_message(
        &self,
        messages: &[Vec<i64>],
        patterns: &[Pattern],
        manner: Manner,
        scope: &Scope<'_>,
    ) -> Result<Option<usize>, Fault> {
        let n_looked_at = if manner.is_any { messages.len() } else { 1 };
        for (position, message) in messages.iter().take(n_looked_at).enumerate() {
            if self.fits(patterns, message, scope)? {
                return Ok(Some(position));
            }
        }
        Ok(None)
    }

    /// A communication through channels with room; nothing if it has to wait.
    fn exchange(
        &self,
        communication: &Communication,
        instance: usize,
        mut branch: Branch,
    ) -> Result<Option<Branch>, Fault> {
        let before = branch.configuration.clone();
        let scope = Scope {
            configuration: &before,
            instance: Some(instance),
            bound: branch.bound.clone(),
        };

        match communication {
            Communication::Alone | Communication::Event(..) => {}
            Communication::ForEach(name, lo, hi, inner) => {
                for value in *lo..=*hi {
                    branch.bound.push(((*name).to_owned(), Value::Int(value)));
                    let Some(after) = self.exchange(inner, instance, branch)? else {
                        return Ok(None);
                    };
                    branch = after;
                    branch.bound.pop();
                }
            }
            Communication::Send(channel, payload) => {
                let (name, capacity) = self.channel(channel, &scope)?;
                if before.channels[&name].len() >= capacity {
                    return Ok(None);
                }
                let message = self.message(channel, payload, &scope)?;
                let messages = branch.configuration.channels.get_mut(&name);
                messages.expect("it exists").push(message);
            }
            Communication::Receive(channel, patterns, manner) => {
                let (name, _) = self.channel(channel, &scope)?;
                let messages = &before.channels[&name];
                let position = self.wanted_message(messages, patterns, *manner, &scope)?;
                let Some(position) = position else {
                    return Ok(None);
                };
                if !manner.is_peek {
                    let left = branch.configuration.channels.get_mut(&name);
                    left.expect("it exists").remove(position);
                }
                self.store_message(patterns, &messages[position], &scope, &mut branch)?;
            }
        }

        Ok(Some(branch))
    }

    fn store_message(
        &self,
        patterns: &[Pattern],
        message: &[i64],
        scope: &Scope<'_>,
        branch: &mut Branch,
    ) -> Result<(), Fault> {
        for (pattern, component) in patterns.iter().zip(message) {
            if let Pattern::Store(place) = pattern {
                let (cell, ty) = self.place(place, scope)?;
                let value = super::interpret::typed(&ty, *component);
                store(branch, cell, &ty, value)?;
            }
        }
        Ok(())
    }

    fn fits(
        &self,
        patterns: &[Pattern],
        message: &[i64],
        scope: &Scope<'_>,
    ) -> Result<bool, Fault> {
        for (pattern, component) in patterns.iter().zip(message) {
            if let Pattern::Equal(value) = pattern
                && self.eval(value, scope)?.number() != *component
            {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn message(
        &self,
        channel: &Channel,
        payload: &[Exp],
        scope: &Scope<'_>,
    ) -> Result<Vec<i64>, Fault> {
        let mut all = self.program.channels.iter();
        let decl = all.find(|d| d.name == channel.name).expect("declared");
        let mut message = Vec::new();
        for (component, ty) in payload.iter().zip(&decl.payload) {
            let value = self.eval(component, scope)?;
            check_range(ty, value)?;
            message.push(value.number());
        }
        Ok(message)
    }

    fn command_name(&self, candidate: &Candidate<'p>) -> String {
        let values: Vec<String> = candidate
            .parameters
            .iter()
            .map(|(_, value)| value.number().to_string())
            .collect();
        let list = if values.is_empty() {
            String::new()
        } else {
            format!("({})", values.join(", "))
        };
        let (name, ..) = &self.instances[candidate.instance];
        format!("{name}.{}{list}", candidate.step.name)
    }

    /// All ways in which the team moves: each member sees the configuration and its own writes.
    fn execute(
        &self,
        team: &[&Candidate<'p>],
        mut actions: Vec<String>,
        configuration: &Configuration,
        moves: &mut Vec<Move>,
    ) -> Result<(), Fault> {
        let mut members = Vec::new();
        for candidate in team {
            members.push(self.ways(candidate, team, configuration)?);
        }
        if members.iter().any(Vec::is_empty) {
            return Ok(());
        }
        let mut results = vec![(configuration.clone(), Vec::<String>::new())];

        for (candidate, ways) in team.iter().zip(members) {
            let mut longer = Vec::new();
            for (so_far, written) in &results {
                for way in &ways {
                    longer.push(self.combined(candidate, so_far, written, way)?);
                }
            }
            results = longer;
        }

        let mut movers: Vec<String> = team
            .iter()
            .map(|candidate| self.instances[candidate.instance].0.clone())
            .collect();
        actions.sort();
        movers.sort();
        moves.extend(results.into_iter().map(|(target, _)| Move {
            actions: actions.clone(),
            movers: movers.clone(),
            target,
        }));
        Ok(())
    }

    /// What one member adds to what others have done.
    fn combined(
        &self,
        candidate: &Candidate<'p>,
        so_far: &Configuration,
        written: &[String],
        way: &Branch,
    ) -> Result<(Configuration, Vec<String>), Fault> {
        let mut result = so_far.clone();
        let mut all = written.to_vec();

        // Members write at the same time: they may agree, but not contradict each other.
        for cell in &way.written {
            let value = way.configuration.cells[cell];
            if written.contains(cell) && result.cells[cell] != value {
                return Err(Fault);
            }
            result.cells.insert(cell.clone(), value);
            all.push(cell.clone());
        }

        for (name, messages) in &way.configuration.channels {
            if *messages != so_far.channels[name] {
                result.channels.insert(name.clone(), messages.clone());
            }
        }

        if let Some(target) = candidate.step.target {
            let (name, ..) = &self.instances[candidate.instance];
            result.locations.insert(name.clone(), target);
        }

        Ok((result, all))
    }

    /// The message goes first, then the effect.
    fn ways(
        &self,
        candidate: &Candidate<'p>,
        team: &[&Candidate<'p>],
        configuration: &Configuration,
    ) -> Result<Vec<Branch>, Fault> {
        let mut branch = Branch {
            configuration: configuration.clone(),
            bound: candidate.parameters.clone(),
            written: Vec::new(),
        };
        let scope = self.scope(candidate, configuration);

        match &candidate.step.communication {
            Communication::Send(channel, payload) if self.is_meeting(channel) => {
                self.message(channel, payload, &scope)?;
            }
            Communication::Receive(channel, patterns, _) if self.is_meeting(channel) => {
                let sends = self.scope(team[0], configuration);
                let Communication::Send(channel, payload) = &team[0].step.communication else {
                    unreachable!("the sender comes first");
                };
                let message = self.message(channel, payload, &sends)?;
                self.store_message(patterns, &message, &scope, &mut branch)?;
            }
            first => {
                for communication in [first].into_iter().chain(&candidate.step.more) {
                    let after = self.exchange(communication, candidate.instance, branch)?;
                    let Some(after) = after else {
                        return Ok(Vec::new());
                    };
                    branch = after;
                }
            }
        }

        self.run(&candidate.step.effect, candidate.instance, branch)
    }

    fn run(&self, stmts: &[Stmt], instance: usize, start: Branch) -> Result<Vec<Branch>, Fault> {
        let mut branches = vec![start];
        for stmt in stmts {
            let mut next = Vec::new();
            for branch in branches {
                next.extend(self.run_one(stmt, instance, branch)?);
            }
            branches = next;
        }
        Ok(branches)
    }

    /// A block: names bound inside are not known behind it.
    fn run_block(
        &self,
        stmts: &[Stmt],
        instance: usize,
        start: Branch,
    ) -> Result<Vec<Branch>, Fault> {
        let outer = start.bound.len();
        let mut branches = self.run(stmts, instance, start)?;
        for branch in &mut branches {
            branch.bound.truncate(outer);
        }
        Ok(branches)
    }

    fn run_one(
        &self,
        stmt: &Stmt,
        instance: usize,
        mut branch: Branch,
    ) -> Result<Vec<Branch>, Fault> {
        let before = branch.clone();
        let scope = Scope {
            configuration: &before.configuration,
            instance: Some(instance),
            bound: before.bound.clone(),
        };

        match stmt {
            Stmt::Skip => {}
            Stmt::Assert(condition) => {
                if !self.eval(condition, &scope)?.bool() {
                    return Err(Fault);
                }
            }
            Stmt::Assign(places, values) => {
                // All values and places belong to the state before.
                let mut writes = Vec::new();
                for (place, value) in places.iter().zip(values) {
                    let (name, ty) = self.place(place, &scope)?;
                    let (mut cells, mut found) = (Vec::new(), Vec::new());
                    list_cells(&name, &ty, &mut cells);
                    self.spread(value, &ty, &scope, &mut found)?;
                    writes.extend(cells.into_iter().zip(found));
                }
                for ((cell, ty), value) in writes {
                    store(&mut branch, cell, &ty, value)?;
                }
            }
            Stmt::Let(name, value) => {
                let value = self.eval(value, &scope)?;
                branch.bound.push((name.clone(), value));
            }
            Stmt::LetChoose(name, ty) => {
                return Ok(self.split(&branch, name, ty));
            }
            Stmt::Choose(place, name, ty, condition) => {
                let (cell, cell_ty) = self.place(place, &scope)?;
                let name = match (name, place) {
                    (Some(name), _) => name.clone(),
                    (None, Exp::Name(variable)) => variable.clone(),
                    (None, _) => String::new(),
                };
                let mut found = Vec::new();
                for value in values_of(ty) {
                    let mut inner = scope.clone();
                    inner.bound.push((name.clone(), value));
                    let fits = match condition {
                        None => true,
                        Some(condition) => self.eval(condition, &inner)?.bool(),
                    };
                    if fits {
                        let mut branch = branch.clone();
                        store(&mut branch, cell.clone(), &cell_ty, value)?;
                        found.push(branch);
                    }
                }
                return Ok(found);
            }
            Stmt::If(condition, then, otherwise) => {
                let is_true = self.eval(condition, &scope)?.bool();
                let chosen = if is_true { then } else { otherwise };
                return self.run_block(chosen, instance, branch);
            }
            Stmt::For(name, lo, hi, body) => {
                let (lo, hi) = (self.eval(lo, &scope)?.int(), self.eval(hi, &scope)?.int());
                let mut branches = vec![branch];
                for value in lo..=hi {
                    let mut next = Vec::new();
                    for mut branch in branches {
                        let outer = branch.bound.len();
                        branch.bound.push((name.clone(), Value::Int(value)));
                        for mut done in self.run_block(body, instance, branch)? {
                            done.bound.truncate(outer);
                            next.push(done);
                        }
                    }
                    branches = next;
                }
                return Ok(branches);
            }
        }

        Ok(vec![branch])
    }

    fn split(&self, branch: &Branch, name: &str, ty: &Ty) -> Vec<Branch> {
        let with = |value| {
            let mut branch = branch.clone();
            branch.bound.push((name.to_owned(), value));
            branch
        };
        values_of(ty).into_iter().map(with).collect()
    }
}

fn store(branch: &mut Branch, cell: String, ty: &Ty, value: Value) -> Result<(), Fault> {
    check_range(ty, value)?;
    branch
        .configuration
        .cells
        .insert(cell.clone(), value.number());
    branch.written.push(cell);
    Ok(())
}
