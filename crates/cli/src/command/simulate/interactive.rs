//! The dialogue: one line in, what became of it out.

use std::io::BufRead;

use anyhow::Context as _;
use fairground::model::State;
use fairground::{Fairness, Here, Project, Random, Simulation};

use crate::failure::Failure;
use crate::output;

/// More initial states than this are counted, not listed.
const MAX_LISTED: usize = 20;

const HELP: &str = concat!(
    "  NUMBER  take this step      r  take a random step\n",
    "  b       one step back       s  show the whole state\n",
    "  f       pending fairness    ?  this help\n",
    "  q       quit\n",
);

/// A dialogue with the user.
pub struct Session<'a, R> {
    /// The model.
    pub project: &'a Project,
    /// Whose obligations are shown.
    pub fairness: Fairness,
    /// For random steps.
    pub random: Random,
    /// Where the user writes.
    pub input: R,
    /// Must lines be repeated, because they do not come from the terminal?
    pub echo: bool,
}

impl<'a, R: BufRead> Session<'a, R> {
    /// Talks until the user has enough; the run is what was walked, if it ever began.
    ///
    /// # Errors
    /// Input or output fail.
    pub fn run(&mut self, initial: Vec<State>) -> Result<Option<Simulation<'a>>, Failure> {
        let Some(first) = self.choose_start(initial)? else {
            return Ok(None);
        };
        let mut walk = self.project.simulate(first)?;
        output::print(&format!("start: {}\n", walk.state_text()))?;
        self.show_steps(&walk)?;
        while let Some(line) = self.ask()? {
            if line == "q" {
                break;
            }
            self.obey(&mut walk, &line)?;
        }
        Ok(Some(walk))
    }

    fn obey(&mut self, walk: &mut Simulation<'_>, line: &str) -> anyhow::Result<()> {
        let n_steps = walk.n_possible();
        match line {
            "" => Ok(()),
            "?" | "h" | "help" => output::print(HELP),
            "s" => output::print(&format!("{}\n", walk.state_text())),
            "f" => self.show_obligations(walk),
            "b" => {
                if walk.back() {
                    output::print(&format!("back to: {}\n", walk.state_text()))?;
                    self.show_steps(walk)
                } else {
                    output::print("this is the start\n")
                }
            }
            "r" if n_steps == 0 => output::print("no step is possible\n"),
            "r" => {
                let choice = self.random.below(n_steps);
                self.take(walk, choice)
            }
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

    fn take(&self, walk: &mut Simulation<'_>, choice: usize) -> anyhow::Result<()> {
        walk.take(choice);
        let number = walk.n_steps();
        output::print(&format!("step {number}: {}\n", walk.last_step_text()))?;
        self.show_steps(walk)
    }

    fn show_steps(&self, walk: &Simulation<'_>) -> anyhow::Result<()> {
        let mut text = String::new();
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

        while let Some(line) = self.ask()? {
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

    /// The next line, trimmed; nothing at the end of the input.
    fn ask(&mut self) -> anyhow::Result<Option<String>> {
        output::print("> ")?;
        let mut line = String::new();
        let n_bytes = self
            .input
            .read_line(&mut line)
            .context("standard input cannot be read")?;
        if n_bytes == 0 {
            output::print("\n")?;
            return Ok(None);
        }
        if self.echo {
            output::print(&format!("{}\n", line.trim()))?;
        }
        Ok(Some(line.trim().to_owned()))
    }
}
