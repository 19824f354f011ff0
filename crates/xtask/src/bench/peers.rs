//! The checkers beside Spin that are asked the same questions, those that are there.

use std::collections::BTreeMap;

use anyhow::Result;
use serde_json::{Value, json};

use super::ltsmin::LtsMin;
use super::nusmv::NuSmv;
use super::peer::PeerResult;
use super::spin::{Answer, Task};
use super::stateright::Stateright;
use super::suite::{BenchKind, Suite};
use super::tlc::Tlc;
use crate::architecture;

/// Their names, in the order of the columns.
pub(super) const NAMES: [&str; 4] = ["Stateright", "TLC", "LTSmin", "NuSMV"];

/// What they say, by their names; absent where one is not asked or not there.
pub(super) type Answers = BTreeMap<&'static str, Answer<PeerResult>>;

pub(super) struct Peers {
    stateright: Option<Stateright>,
    tlc: Option<Tlc>,
    ltsmin: Option<LtsMin>,
    nusmv: Option<NuSmv>,
}

impl Peers {
    /// Looks for them and says which are missing.
    pub(super) fn find(suite: &Suite) -> Result<Self> {
        let stateright = Stateright::build(&architecture::root(), suite);
        if stateright.is_none() {
            eprintln!("the twins for Stateright could not be built, so it is not run");
        }
        Ok(Self {
            stateright,
            tlc: Tlc::find(suite)?,
            ltsmin: LtsMin::find(suite),
            nusmv: NuSmv::find(suite),
        })
    }

    /// What they say about themselves, for the record.
    pub(super) fn versions(&self) -> Result<Value> {
        Ok(json!({
            "TLC": self.tlc.as_ref().map(Tlc::version).transpose()?,
            "NuSMV": self.nusmv.as_ref().map(|nusmv| &nusmv.version),
            "LTSmin": self.ltsmin.is_some(),
            "Stateright": self.stateright.is_some(),
        }))
    }

    /// Puts a question to all that are asked it. This many states are expected.
    pub(super) fn ask(&self, task: Task<'_>, n_states: u64, n_runs: usize) -> Result<Answers> {
        let Task {
            model,
            question,
            size,
            ..
        } = task;
        let mut answers = Answers::new();

        let is_safety = question.kind == BenchKind::Safety;
        let twin = model.stateright.as_ref().filter(|_| is_safety);
        if let (Some(stateright), Some(twin)) = (&self.stateright, twin) {
            answers.insert("Stateright", stateright.explore(twin, size, n_runs)?);
        }
        if let (Some(tlc), Some(job)) = (&self.tlc, model.job(question, size)) {
            answers.insert("TLC", tlc.check(&job, n_runs)?);
        }
        let promela = model.promela.as_ref();
        let promela = promela.filter(|_| is_safety && question.ltsmin_sizes.contains(&size));
        if let (Some(ltsmin), Some(twin)) = (&self.ltsmin, promela) {
            answers.insert("LTSmin", ltsmin.explore(twin, size, n_states, n_runs)?);
        }
        let smv = model.smv.as_ref();
        let smv = smv.filter(|_| question.nusmv_sizes.contains(&size));
        if let (Some(nusmv), Some(twin)) = (&self.nusmv, smv) {
            answers.insert("NuSMV", nusmv.check(twin, question, size, n_runs)?);
        }

        Ok(answers)
    }
}
