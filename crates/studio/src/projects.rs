//! Models that were opened a moment ago, so that a question about the same text does not read it
//! again.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use fairground::model::State;
use fairground::{Error, Memory, Options, Overlay, Project, WrongText};
use serde::Deserialize;

use crate::folder::{Folder, fingerprint};

/// How many models are kept.
const N_KEPT: usize = 8;

/// Which model a request is about: the text in the editor, whatever the disk says.
#[derive(Clone, PartialEq, Eq, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct ModelRequest {
    /// The path below the folder; its end says the language.
    pub(crate) path: String,
    pub(crate) text: String,
    /// Values for constants and parameters.
    pub(crate) defines: Vec<(String, String)>,
    /// Further formulas of linear time: names and texts.
    pub(crate) formulas: Vec<(String, String)>,
    /// Must parameters have values?
    pub(crate) closed: bool,
}

impl ModelRequest {
    /// Tells models apart whose verdicts may differ. Further formulas change no other verdict.
    pub(crate) fn key(&self) -> String {
        let defines: Vec<String> = { self.defines.iter() }
            .map(|(name, value)| format!("{name}={value}"))
            .collect();
        let text = fingerprint(&self.text);
        format!("{}\n{text}\n{}", self.path, defines.join("\n"))
    }

    fn options(&self) -> Options {
        Options {
            defines: self.defines.clone(),
            ltl: self.formulas.clone(),
            closed: self.closed,
            ..Options::default()
        }
    }
}

/// A model with what is expensive to find out about it.
pub(crate) struct Opened {
    pub(crate) project: Project,
    initial: Mutex<Option<Arc<Vec<State>>>>,
}

impl Opened {
    /// All initial states.
    pub(crate) fn initial_states(&self) -> Result<Arc<Vec<State>>, Error> {
        let mut known = self.initial.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(states) = known.as_ref() {
            return Ok(Arc::clone(states));
        }
        let states = Arc::new(self.project.initial_states()?);
        *known = Some(Arc::clone(&states));
        Ok(states)
    }
}

/// Models that were opened, the latest last.
#[derive(Default)]
pub(crate) struct Projects {
    kept: Mutex<Vec<(ModelRequest, Arc<Opened>)>>,
}

impl Projects {
    /// The model of a request.
    pub(crate) fn open(
        &self,
        folder: &Folder,
        request: &ModelRequest,
    ) -> Result<Arc<Opened>, Error> {
        if let Some(opened) = self.find(request) {
            return Ok(opened);
        }
        let files = Overlay {
            top: Memory::new([(request.path.as_str(), request.text.as_str())]),
            below: folder,
        };
        let project = Project::open(&files, Path::new(&request.path), &request.options())?;
        let opened = Arc::new(Opened {
            project,
            initial: Mutex::default(),
        });

        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() == N_KEPT {
            kept.remove(0);
        }
        kept.push((request.clone(), Arc::clone(&opened)));
        Ok(opened)
    }

    fn find(&self, request: &ModelRequest) -> Option<Arc<Opened>> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let place = kept.iter().position(|(other, _)| other == request)?;
        let found = kept.remove(place);
        let opened = Arc::clone(&found.1);
        kept.push(found);
        Some(opened)
    }
}

/// What is wrong with a text, if it is that.
pub(crate) fn wrong_text(error: &Error) -> Option<&WrongText> {
    match error {
        Error::Text(text) => Some(text),
        Error::Call(_) | Error::Stopped(_) | Error::Limit(_) | Error::Bug(_) => None,
    }
}
