//! The dialogue: one line in, what became of it out.

use fairground::model::State;
use fairground::{Breach, Evaluation, Fairness, Here, Project, Random, Simulation, Truth, Watched};

use super::lines::Lines;
use crate::failure::Failure;
use crate::output;

/// More initial states than this are counted, not listed.
const MAX_LISTED: usize = 20;

const HELP: &str = concat!(
    "  NUMBER  take this step      r  take a random step\n",
    "  b       one step back       s  show the whole state\n",
    "  g N     go to step N        f  pending fairness\n",
    "  e TEXT  value of an expression here, or of a formula along the run\n",
    "  q       quit                ?  this help\n",
);

/// A dialogue with the user.
pub struct Session<'a> {
    /// The model.
    pub project: &'a Project,
    /// What is said about states that break something.
    pub watched: Watched<'a>,
    /// Whose obligations are shown.
    pub fairness: Fairness,
    /// For random steps.
    pub random: Random,
    /// What the user writes.
    pub lines: Lines,
}

impl<'a> Session<'a> {
    /// Talks until the user has enough; the run is what was walked, if it ever began.
    ///
    /// # Errors
    /// Input or output fail.
    pub fn run(&mut self, initial: Vec<State>) -> Result<Option<Simulation<'a>>, Failure> {
        let Some(first) = self.choose_start(initial)? else {
            return Ok(None);
        };
        let walk = self.project.simulate(first)?;
        output::print(&format!("start: {}\n", walk.state_text()))?;
        self.talk(walk).map(Some)
    }

    /// Goes on from the end of a walk.
    ///
    /// # Errors
    /// Input or output fail.
    pub fn go_on(&mut self, walk: Simulation<'a>) -> Result<Option<Simulation<'a>>, Failure> {
        let (n_steps, state) = (walk.n_steps(), walk.state_text());
        output::print(&format!("after {n_steps} steps: {state}\n"))?;
        self.talk(walk).map(Some)
    }

    fn talk(&mut self, mut walk: Simulation<'a>) -> Result<Simulation<'a>, Failure> {
        self.show_steps(&walk)?;
        while let Some(line) = self.lines.next()? {
            let line = shortened(&line);
            if line == "q" {
                break;
            }
            self.obey(&mut walk, &line)?;
        }
        Ok(walk)
    }

    fn obey(&mut self, walk: &mut Simulation<'_>, line: &str) -> anyhow::Result<()> {
        let n_steps = walk.n_possible();
        match line {
            "" => Ok(()),
            "?" | "h" | "help" => output::print(HELP),
            "s" => output::print(&format!("{}\n", walk.state_text())),
            "f" => self.show_obligations(walk),
            "b" => match walk.n_steps() {
                0 => output::print("this is the start\n"),
                n => self.go_to(walk, n - 1),
            },
            "r" if n_steps == 0 => output::print("no step is possible\n"),
            "r" => {
                let choice = self.random.below(n_steps);
                self.take(walk, choice)
            }
            other if other.starts_with("g ") => match other[2..].trim().parse::<usize>() {
                Ok(number) if number <= walk.n_steps() + walk.n_ahead() => self.go_to(walk, number),
                _ => output::print(&format!(
                    "`g` goes to a step from 0 to {}\n",
                    walk.n_steps() + walk.n_ahead()
                )),
            },
            "e" => output::print("write an expression or a formula after `e`\n"),
            other if other.starts_with("e ") => self.evaluate(walk, other[2..].trim()),
            other => match other.parse::<usize>() {
                Ok(choice) if (1..=n_steps).contains(&choice) => self.take(walk, choice - 1),
                Ok(_) if n_steps == 0 => output::print("no step is possible\n"),
                Ok(_) => output::print(&format!("choose a number from 1 to {n_steps}\n")),
                Err(_) => output::print(&format!(
                    "`{other}` is not a command; `?` lists the commands\n"
                )),
            },
        }
    }

    /// Goes to where this many steps were taken.
    fn go_to(&self, walk: &mut Simulation<'_>, n_steps: usize) -> anyhow::Result<()> {
        let is_back = n_steps <= walk.n_steps();
        walk.go_to(n_steps);
        let state = walk.state_text();
        output::print(&if is_back {
            format!("back to: {state}\n")
        } else {
            format!("on to step {n_steps}: {state}\n")
        })?;
        self.show_steps(walk)
    }

    fn evaluate(&self, walk: &Simulation<'_>, text: &str) -> anyhow::Result<()> {
        let found = match self.project.evaluate(walk, text) {
            Ok(Evaluation::Value(value)) => value.to_string(),
            Ok(Evaluation::Formula(truths)) => truth_text(&truths),
            Err(error) => error.to_string(),
        };
        output::print(&format!("{found}\n"))
    }

    fn take(&self, walk: &mut Simulation<'_>, choice: usize) -> anyhow::Result<()> {
        walk.take(choice);
        let number = walk.n_steps();
        let printed = super::printed(walk);
        output::print(&format!(
            "step {number}: {}\n{printed}",
            walk.last_step_text()
        ))?;
        self.show_steps(walk)
    }

    fn show_steps(&self, walk: &Simulation<'_>) -> anyhow::Result<()> {
        let mut text = String::new();
        // shape: a run-time error is shown in place of the steps.
        if let Some(Breach::Property(name)) = self.watched.breach_at_end(walk) {
            text += &format!("this state breaks `{name}`\n");
        }
        match walk.here() {
            Here::Error(error) => text += &format!("run-time error: {error}\n"),
            Here::Deadlock => text += "deadlock: no step is possible\n",
            Here::Steps(n_possible) => {
                for choice in 0..n_possible {
                    let step = walk.step_text(choice);
                    text += &format!("  {}  {step}\n", choice + 1);
                }
            }
        }
        let n_pending = walk.pending(self.fairness).len();
        if n_pending > 0 {
            text += &format!("  (pending fairness: {n_pending}; f shows them)\n");
        }
        output::print(&text)
    }

    fn show_obligations(&self, walk: &Simulation<'_>) -> anyhow::Result<()> {
        let mut text = format!("fairness {}\n", self.fairness.name());
        let pending = walk.pending(self.fairness);
        for line in &pending {
            text += &format!("  {line}\n");
        }
        if pending.is_empty() {
            text += "  nothing is pending\n";
        }
        for assumption in walk.assumed() {
            text += &format!("  assumed of every run: {assumption}\n");
        }
        output::print(&text)
    }

    fn choose_start(&mut self, mut initial: Vec<State>) -> Result<Option<State>, Failure> {
        if initial.len() == 1 {
            return Ok(initial.pop());
        }
        let mut text = format!("{} initial states\n", initial.len());
        for (position, state) in initial.iter().take(MAX_LISTED).enumerate() {
            let values = self.project.state_text(state)?;
            text += &format!("  {}  {values}\n", position + 1);
        }
        if initial.len() > MAX_LISTED {
            text += "  ...\n";
        }
        text += "which one? (a number, r for any, q to quit)\n";
        output::print(&text)?;

        while let Some(line) = self.lines.next()? {
            match (line.as_str(), line.parse::<usize>()) {
                ("q", _) => return Ok(None),
                ("r", _) => {
                    let choice = self.random.below(initial.len());
                    return Ok(Some(initial.swap_remove(choice)));
                }
                (_, Ok(choice)) if (1..=initial.len()).contains(&choice) => {
                    return Ok(Some(initial.swap_remove(choice - 1)));
                }
                _ => output::print(&format!("a number from 1 to {}\n", initial.len()))?,
            }
        }

        Ok(None)
    }
}

/// What a formula is along the run so far.
fn truth_text(truths: &[Truth]) -> String {
    let Some(whole) = truths.first() else {
        return "the formula is constant: it holds everywhere or nowhere".to_owned();
    };
    let say = |at: Option<&Option<bool>>| match at {
        Some(Some(true)) => "true",
        Some(Some(false)) => "false",
        _ => "not decided by the run so far",
    };
    let here = say(whole.at.last());
    if whole.is_temporal {
        format!(
            "from the start: {}\nfrom here: {here}",
            say(whole.at.first())
        )
    } else {
        here.to_owned()
    }
}

/// A command whose first word is written out, by its letter.
fn shortened(line: &str) -> String {
    const WORDS: [(&str, &str); 8] = [
        ("goto", "g"),
        ("eval", "e"),
        ("back", "b"),
        ("state", "s"),
        ("fairness", "f"),
        ("random", "r"),
        ("quit", "q"),
        ("exit", "q"),
    ];
    let (first, rest) = line.split_once(' ').unwrap_or((line, ""));
    match WORDS.iter().find(|(word, _)| *word == first) {
        Some((_, letter)) => format!("{letter} {rest}").trim_end().to_owned(),
        None => line.to_owned(),
    }
}
