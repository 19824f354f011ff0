//! Solvers that run as processes and talk SMT-LIB 2.
//!
//! The process is started when it is first asked and again after it has failed; everything
//! asserted is then said again. Whatever it answers except `sat` with a model that checks out and
//! `unsat` is [`Answer::Unknown`].

use std::collections::BTreeSet;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use base::Budget;

use crate::launch::{Connection, Launch};
use crate::print::{sort_name, symbol, to_smtlib};
use crate::sexpr::{self, Sexpr};
use crate::solver::{Answer, Levels, STOPPED, Solver, checked};
use crate::term::{Sort, Term};
use crate::value::Model;

/// After this many failures of the process it is not started again.
const MAX_FAILURES: usize = 3;

/// What a process is given beyond its own time limit before it is ended.
const GRACE: Duration = Duration::from_secs(2);

/// The budget is polled after waiting for so long.
const SLICE: Duration = Duration::from_millis(100);

/// A solver that can be started.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Program {
    /// The name that reports use.
    pub name: String,
    /// What to start.
    pub executable: String,
    /// With which arguments.
    pub arguments: Vec<String>,
    /// What to say first, with the time limit in milliseconds for `{}`.
    pub time_limit: Option<String>,
}

impl Program {
    /// The solver z3.
    #[must_use]
    pub fn z3() -> Self {
        Self {
            name: "z3".to_owned(),
            executable: "z3".to_owned(),
            arguments: vec!["-in".to_owned(), "-smt2".to_owned()],
            time_limit: Some("(set-option :timeout {})".to_owned()),
        }
    }

    /// The solver cvc5.
    #[must_use]
    pub fn cvc5() -> Self {
        let arguments = ["--lang=smt2", "--incremental", "--produce-models"];
        Self {
            name: "cvc5".to_owned(),
            executable: "cvc5".to_owned(),
            arguments: arguments.map(str::to_owned).to_vec(),
            time_limit: Some("(set-option :tlimit-per {})".to_owned()),
        }
    }
}

/// A process that answers.
pub struct External {
    program: Program,
    launch: Arc<dyn Launch>,
    patience: Duration,
    levels: Levels,
    connection: Option<Box<dyn Connection>>,
    declared: BTreeSet<(Arc<str>, Sort)>,
    n_failures: usize,
    core: Option<Vec<usize>>,
    budget: Budget,
    /// How long the answers to the question that is being asked may still take.
    left: Duration,
}

impl External {
    /// A solver whose process `launch` will start, and which may think for `patience`.
    #[must_use]
    pub fn new(program: Program, launch: Arc<dyn Launch>, patience: Duration) -> Self {
        Self {
            program,
            launch,
            patience,
            levels: Levels::new(),
            connection: None,
            declared: BTreeSet::new(),
            n_failures: 0,
            core: None,
            budget: Budget::unlimited(),
            left: Duration::ZERO,
        }
    }

    /// The connection; started, and told everything, if need be.
    fn connect(&mut self) -> io::Result<()> {
        if self.connection.is_some() {
            return Ok(());
        }
        if self.n_failures >= MAX_FAILURES {
            return Err(io::Error::other("it has failed too often"));
        }
        let Program {
            executable,
            arguments,
            time_limit,
            ..
        } = &self.program;

        let mut connection = self.launch.launch(executable, arguments)?;
        connection.send("(set-option :print-success false)")?;
        connection.send("(set-option :produce-models true)")?;
        connection.send("(set-option :produce-unsat-assumptions true)")?;
        if let Some(option) = time_limit {
            let millis = self.patience.as_millis().to_string();
            connection.send(&option.replace("{}", &millis))?;
        }

        connection.send("(set-option :global-declarations true)")?;
        connection.send("(set-logic ALL)")?;
        self.connection = Some(connection);
        self.declared.clear();
        self.probe()?;

        for (depth, level) in self.levels.levels().to_vec().iter().enumerate() {
            if depth > 0 {
                self.say("(push 1)")?;
            }
            for term in level {
                self.say_assert(term)?;
            }
        }

        Ok(())
    }

    /// Asks two questions with known answers: what says the same whatever it is asked is not a solver.
    fn probe(&mut self) -> io::Result<()> {
        self.say("(push 1)")?;
        self.say("(declare-const |the probe| Int)")?;
        for (assertion, expected) in [("(< 0 |the probe|)", "sat"), ("(< |the probe| 0)", "unsat")]
        {
            self.say(&format!("(assert {assertion})"))?;
            self.say("(check-sat)")?;
            let answer = self.hear()?;
            if answer.trim() != expected {
                let shown: String = answer.trim().chars().take(80).collect();
                let why = format!("it printed `{shown}` where only `{expected}` is right");
                return Err(io::Error::other(why));
            }
        }
        self.say("(pop 1)")
    }

    fn say(&mut self, line: &str) -> io::Result<()> {
        match &mut self.connection {
            Some(connection) => connection.send(line),
            None => Err(io::ErrorKind::NotConnected.into()),
        }
    }

    fn say_assert(&mut self, term: &Term) -> io::Result<()> {
        self.declare(term)?;
        self.say(&format!("(assert {})", to_smtlib(term)))
    }

    fn declare(&mut self, term: &Term) -> io::Result<()> {
        let mut vars = BTreeSet::new();
        term.collect_vars(&mut vars);
        for (name, sort) in vars {
            if self.declared.insert((Arc::clone(&name), sort)) {
                let line = format!("(declare-const {} {})", symbol(&name), sort_name(sort));
                self.say(&line)?;
            }
        }
        Ok(())
    }

    fn hear(&mut self) -> io::Result<String> {
        let Some(connection) = &mut self.connection else {
            return Err(io::ErrorKind::NotConnected.into());
        };
        loop {
            if self.budget.check(0, 0).is_err() {
                return Err(io::ErrorKind::Interrupted.into());
            }
            let slice = self.left.min(SLICE);
            match connection.receive(slice) {
                // What comes in time costs nothing, so that many short answers are not refused.
                Err(error) if error.kind() == io::ErrorKind::TimedOut => {
                    self.left -= slice;
                    if self.left.is_zero() {
                        return Err(error);
                    }
                }
                heard => return heard,
            }
        }
    }

    /// One expression, which may take several lines.
    fn hear_expression(&mut self) -> io::Result<Option<Sexpr>> {
        const MAX_BYTES: usize = 16 << 20;
        let mut text = String::new();
        let mut brackets = Brackets::default();
        while text.len() < MAX_BYTES {
            let line = self.hear()?;
            brackets.read(&line);
            text.push_str(&line);
            text.push('\n');
            if brackets.are_closed() && !text.trim().is_empty() {
                return Ok(sexpr::parse(&text));
            }
        }
        Err(io::Error::other("its answer does not end"))
    }

    fn ask(&mut self, assumptions: &[Term]) -> io::Result<Answer> {
        self.core = None;
        self.connect()?;
        let mut names = Vec::new();
        for (position, term) in assumptions.iter().enumerate() {
            // A literal for each assumption, so that the solver can name those it used.
            let name: Arc<str> = Arc::from(format!("assumption!{position}"));
            let literal = Term::Var(Arc::clone(&name), Sort::Bool);
            self.declare(&literal)?;
            names.push((literal, term));
        }

        self.say("(push 1)")?;
        for (literal, term) in &names {
            let implication = Term::implies(literal.clone(), (*term).clone());
            self.say_assert(&implication)?;
        }

        let literals: Vec<String> = names.iter().map(|(l, _)| to_smtlib(l)).collect();
        if literals.is_empty() {
            self.say("(check-sat)")?
        } else {
            self.say(&format!("(check-sat-assuming ({}))", literals.join(" ")))?
        }

        let answer = match self.hear()?.trim() {
            "unsat" => {
                self.core = self.hear_core(assumptions.len())?;
                Answer::Unsat
            }
            "sat" => self.hear_model(assumptions)?,
            "unknown" => Answer::Unknown("it does not know".to_owned()),
            "timeout" => Answer::Unknown("the time is over".to_owned()),
            other => {
                let shown: String = other.chars().take(80).collect();
                return Err(io::Error::other(format!("it printed `{shown}`")));
            }
        };

        self.say("(pop 1)")?;
        Ok(answer)
    }

    fn hear_core(&mut self, n_assumptions: usize) -> io::Result<Option<Vec<usize>>> {
        if n_assumptions == 0 {
            return Ok(None);
        }
        self.say("(get-unsat-assumptions)")?;
        let Some(Sexpr::List(names)) = self.hear_expression()? else {
            return Ok(None);
        };
        let position = |name: &Sexpr| match name {
            Sexpr::Atom(name) => name.strip_prefix("assumption!")?.parse().ok(),
            Sexpr::List(_) => None,
        };
        Ok(names.iter().map(position).collect())
    }

    fn hear_model(&mut self, assumptions: &[Term]) -> io::Result<Answer> {
        let mut vars = BTreeSet::new();
        for term in self.levels.all().chain(assumptions) {
            term.collect_vars(&mut vars);
        }
        let mut model = Model::default();

        for (name, _) in &vars {
            self.say(&format!("(get-value ({}))", symbol(name)))?;
            let value = match self.hear_expression()? {
                Some(Sexpr::List(pairs)) => match pairs.as_slice() {
                    [Sexpr::List(pair)] if pair.len() == 2 => sexpr::value(&pair[1]),
                    _ => None,
                },
                _ => None,
            };
            match value {
                Some(value) => model.set(name, value),
                None => {
                    let why = format!("it printed no value of `{name}` that can be read");
                    return Ok(Answer::Unknown(why));
                }
            }
        }

        Ok(checked(model, &self.levels, assumptions))
    }

    /// Forgets a connection that failed.
    fn fail(&mut self, error: &io::Error) -> Answer {
        self.connection = None;
        self.n_failures += 1;
        let why = match error.kind() {
            io::ErrorKind::TimedOut => "the time is over".to_owned(),
            io::ErrorKind::UnexpectedEof | io::ErrorKind::BrokenPipe => "it crashed".to_owned(),
            io::ErrorKind::NotFound => "it is not installed".to_owned(),
            io::ErrorKind::Interrupted => STOPPED.to_owned(),
            _ => error.to_string(),
        };
        Answer::Unknown(format!("{}: {why}", self.program.name))
    }

    /// Says something that needs no answer; a failure is noticed by the next question.
    fn tell(&mut self, line: &str) {
        if self.connection.is_some() && self.say(line).is_err() {
            self.connection = None;
            self.n_failures += 1;
        }
    }
}

/// Which lists of a text are not closed yet.
#[derive(Default)]
struct Brackets {
    depth: i64,
    is_quoted: bool,
}

impl Brackets {
    fn read(&mut self, text: &str) {
        for c in text.chars() {
            match c {
                '|' => self.is_quoted = !self.is_quoted,
                '(' if !self.is_quoted => self.depth += 1,
                ')' if !self.is_quoted => self.depth -= 1,
                _ => {}
            }
        }
    }

    fn are_closed(&self) -> bool {
        self.depth <= 0 && !self.is_quoted
    }
}

impl Solver for External {
    fn name(&self) -> String {
        self.program.name.clone()
    }

    fn assert(&mut self, term: &Term) {
        self.levels.assert(term);
        if self.connection.is_some() && self.say_assert(term).is_err() {
            self.connection = None;
            self.n_failures += 1;
        }
    }

    fn push(&mut self) {
        self.levels.push();
        self.tell("(push 1)");
    }

    fn pop(&mut self) {
        self.levels.pop();
        self.tell("(pop 1)");
    }

    fn obey(&mut self, budget: &Budget) {
        self.budget = budget.clone();
    }

    fn check(&mut self, assumptions: &[Term]) -> Answer {
        if self.budget.check(0, 0).is_err() {
            return Answer::Unknown(STOPPED.to_owned());
        }
        self.left = self.patience + GRACE;
        match self.ask(assumptions) {
            Ok(answer) => answer,
            Err(error) => self.fail(&error),
        }
    }

    fn core(&mut self) -> Option<Vec<usize>> {
        self.core.clone()
    }
}
