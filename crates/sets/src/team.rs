//! Processes that search together.
//!
//! Every process runs the whole search, each with parts of the set of its own, and takes every
//! decision from what all of them have said (*gathered*), so all take the same. Between two
//! decisions they send each other messages for states. Connections keep the order of what is sent, so a
//! process has all messages of a phase when each other process has said what it has to say at its end:
//! no clocks, no counters of messages. Phases are numbered, and a process that hears another number, or
//! cannot hear another process, leaves: then none of the others can complete a phase, and all stop.

use base::{Links, StopReason};

use crate::carrier::Mail;

/// The other processes, if there are any.
#[derive(Clone, Copy)]
pub(crate) struct Team<'a> {
    links: Option<&'a dyn Links>,
    /// How many parts each process has.
    n_parts: usize,
    /// The number of the last phase.
    phase: u64,
    has_left: bool,
}

/// What processes say at the end of a phase: some words, or why they have to stop.
pub(crate) type Said = Result<Vec<u64>, StopReason>;

/// What a message begins with: mail for states, or words.
const MAIL: u8 = 1;
const WORDS: u8 = 2;

/// Longer messages are sent by a thread of their own: the others may be sending, too.
const SHORT: usize = 1 << 12;

impl<'a> Team<'a> {
    pub fn new(links: Option<&'a dyn Links>, n_parts: usize) -> Self {
        Self {
            links: links.filter(|links| links.n_processes() > 1),
            n_parts,
            phase: 0,
            has_left: false,
        }
    }

    pub fn n_processes(&self) -> usize {
        self.links.map_or(1, Links::n_processes)
    }

    /// How many parts all processes have.
    pub fn n_parts(&self) -> usize {
        self.n_processes() * self.n_parts
    }

    /// The number of this process.
    pub fn own(&self) -> usize {
        self.links.map_or(0, Links::own)
    }

    /// The numbers of the other processes.
    pub fn others(&self) -> impl Iterator<Item = usize> + use<> {
        let own = self.own();
        (0..self.n_processes()).filter(move |process| *process != own)
    }

    /// Has another process this part? Else the number of the part in this process.
    pub fn place_of(&self, part: usize) -> Result<usize, usize> {
        let process = part / self.n_parts;
        if process == self.own() {
            Ok(part % self.n_parts)
        } else {
            Err(process)
        }
    }

    pub fn n_sent(&self) -> u64 {
        self.links.map_or(0, Links::n_sent)
    }

    /// Begins the next phase.
    pub fn begin(&mut self) -> Result<(), StopReason> {
        if self.has_left {
            return Err(StopReason::ProcessLost);
        }
        self.phase += 1;
        Ok(())
    }

    /// Sends messages for states of a part of another process.
    pub fn send(&self, to: usize, part: usize, mail: &Mail) -> Result<(), StopReason> {
        let Some(links) = self.links else {
            unreachable!("all parts are here");
        };
        let mut frame = vec![MAIL];
        frame.extend((part as u32 % self.n_parts as u32).to_le_bytes());
        mail.write(&mut frame);
        links.send(to, &frame).inspect_err(|_| links.leave())
    }

    /// Says something to all others at the end of the phase.
    pub fn tell(&self, said: &Said) -> Result<(), StopReason> {
        let Some(links) = self.links else {
            return Ok(());
        };
        let frame = self.frame(said);
        // Also those behind one that is lost must hear it: they wait for it.
        let sent = self.others().map(|to| links.send(to, &frame));
        sent.fold(Ok(()), Result::and)
    }

    fn frame(&self, said: &Said) -> Vec<u8> {
        let position = |reason: &StopReason| StopReason::ALL.iter().position(|r| r == reason);
        let code = said.as_ref().err().and_then(position);
        let code = code.map_or(0, |code| code as u64 + 1);
        let words = said.as_ref().map_or(&[][..], Vec::as_slice);
        let words = [self.phase, code].into_iter().chain(words.iter().copied());
        let mut frame = vec![WORDS];
        frame.extend(words.flat_map(u64::to_le_bytes));
        frame
    }

    /// Hands over mail of another process until it says something. A failure ends all connections, so
    /// that no process waits for another that does not listen any more.
    pub fn listen(
        &self,
        from: usize,
        mail: &mut Mail,
        post: &mut dyn FnMut(usize, &Mail),
    ) -> Result<Said, StopReason> {
        let Some(links) = self.links else {
            unreachable!("there are no others");
        };
        let heard = self.hear(links, from, mail, post);
        heard.inspect_err(|_| links.leave())
    }

    fn hear(
        &self,
        links: &dyn Links,
        from: usize,
        mail: &mut Mail,
        post: &mut dyn FnMut(usize, &Mail),
    ) -> Result<Said, StopReason> {
        let mut frame = Vec::new();
        loop {
            links.receive(from, &mut frame)?;
            let differs = StopReason::ProcessesDiffer;
            match frame.split_first() {
                Some((&WORDS, words)) => return self.parse(words).ok_or(differs),
                Some((&MAIL, rest)) => {
                    let (part, rest) = rest.split_first_chunk().ok_or(differs)?;
                    let part = u32::from_le_bytes(*part) as usize;
                    if part >= self.n_parts || !mail.read(rest) {
                        return Err(differs);
                    }
                    post(part, mail);
                }
                _ => return Err(differs),
            }
        }
    }

    fn parse(&self, words: &[u8]) -> Option<Said> {
        let (words, []) = words.as_chunks() else {
            return None;
        };
        let mut words = words.iter().map(|word| u64::from_le_bytes(*word));
        if words.next()? != self.phase {
            return None;
        }
        match words.next()?.checked_sub(1) {
            None => Some(Ok(words.collect())),
            Some(code) => {
                let reason = StopReason::ALL.get(usize::try_from(code).ok()?)?;
                Some(Err(*reason))
            }
        }
    }

    /// What all have said, by the numbers of processes. A reason to stop is one for all; a failure to
    /// hear the others is one to leave them.
    pub fn conclude(
        &mut self,
        own: Said,
        told: Result<(), StopReason>,
        heard: Vec<Result<Said, StopReason>>,
    ) -> Result<Vec<Vec<u64>>, StopReason> {
        let heard: Result<Vec<Said>, StopReason> = heard.into_iter().collect();
        let mut all = match told.and(heard) {
            Ok(all) => all,
            Err(reason) => {
                self.has_left = true;
                self.links.inspect(|links| links.leave());
                return Err(reason);
            }
        };
        all.insert(self.own(), own);
        all.into_iter().collect()
    }

    /// Something that leaves the others if this thread panics: they must not wait for it.
    pub fn guard(&self) -> impl Drop + use<'a> {
        Guard(self.links)
    }

    /// Says something, and hears what the others say in a phase without mail.
    pub fn gather(&mut self, own: Said) -> Result<Vec<Vec<u64>>, StopReason> {
        self.begin()?;

        let team = *self;
        let no_mail = &mut |_: usize, _: &Mail| {};

        let (told, heard) = std::thread::scope(|scope| {
            // What is too long for the buffers of a connection would block both sides, so a thread sends it.
            let is_long = own.as_ref().is_ok_and(|words| words.len() * 8 > SHORT);
            let sender = is_long.then(|| scope.spawn(|| team.tell(&own)));
            let told = match sender {
                None => team.tell(&own),
                Some(_) => Ok(()),
            };

            let mut none = Mail::new(1, 0);
            let mut hear = |from| team.listen(from, &mut none, no_mail);
            let heard: Vec<_> = team.others().map(&mut hear).collect();

            let sent = sender.map_or(Ok(()), |sender| {
                let joined = sender.join();
                joined.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            });

            (told.and(sent), heard)
        });

        self.conclude(own, told, heard)
    }
}

struct Guard<'a>(Option<&'a dyn Links>);

impl Drop for Guard<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.inspect(|links| links.leave());
        }
    }
}
