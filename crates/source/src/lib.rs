//! What all front ends have in common: where texts come from, what callers say about them, and
//! what becomes of them.
//!
//! A language is a [`FrontEnd`]: it turns a text into a [`Loaded`], which holds systems with
//! questions about them, or a family of systems whose parameter has no value, or diagnostics. Texts
//! come through [`Files`], so that a disk, a map in memory and the buffers of an editor look alike.
//!
//! This crate refuses to know any language and how questions are answered.
//!
//! ```
//! use source::{Files as _, Memory};
//!
//! let files = Memory::new([("a.fair", "process P { step }")]);
//! assert_eq!(files.read("a.fair".as_ref()).unwrap(), "process P { step }");
//! assert_eq!(files.read("b.fair".as_ref()).unwrap_err().message, "there is no file `b.fair`");
//! ```

mod analysis;
mod doubts;
mod expected;
mod files;
mod loaded;
mod options;
mod picture;
mod question;

use std::path::Path;

use base::Source;

pub use analysis::{
    Analysis, Names, Piece, PieceKind, Reference, Symbol, SymbolKind, comments, scan,
};
pub use doubts::Doubts;
pub use files::{Files, Memory, Overlay, Unreadable, beside};
pub use loaded::{Content, Family, Loaded, Members, Observed, Print, PrintedPiece, Single, System};
pub use options::{Options, Variation};
pub use picture::{Coordinate, Picture, PictureItem, Shape, ShapeKind, ShapeText};
pub use question::{Question, QuestionKind, Refinement};

/// A language that models are written in.
pub trait FrontEnd: Sync {
    /// What the language is called.
    fn name(&self) -> &'static str;

    /// How the names of its files end, without the dot.
    fn extensions(&self) -> &'static [&'static str];

    /// Does a text look like one of this language? Asked only if the name of a file does not say its
    /// language; a text may look like none.
    fn recognises(&self, text: &str) -> bool;

    /// Values for [`Options::pool`], one after the other, for models for which the front end's own
    /// choice is too little.
    fn larger_pools(&self) -> &'static [usize];

    /// The words that have a meaning of their own, for editors.
    fn keywords(&self) -> &'static [&'static str];

    /// Do the options make sense for this language?
    ///
    /// # Errors
    /// What is wrong with them.
    fn accept(&self, options: &Options) -> Result<(), String>;

    /// In which other ways than the usual one texts can be read.
    fn variations(&self) -> &'static [Variation] {
        &[]
    }

    /// Do all options, variations included, make sense for this language?
    ///
    /// # Errors
    /// What is wrong with them.
    fn accept_all(&self, options: &Options) -> Result<(), String> {
        let mut variations = options.variations.iter();
        match variations.find(|variation| !self.variations().contains(variation)) {
            Some(other) => Err(format!(
                "`--{}` is for Promela models, not for {}",
                other.name(),
                self.name()
            )),
            None => self.accept(options),
        }
    }

    /// Reads a text. Files that it includes come from `files`.
    fn load(&self, source: Source, files: &dyn Files, options: &Options) -> Loaded;

    /// What is known about a text, also if something is wrong with it.
    fn analyse(&self, source: Source, files: &dyn Files, options: &Options) -> Analysis;
}

/// The language of a file: the one that is asked for, the one that its extension says, or the one
/// that its text looks like.
#[must_use]
pub fn language_of<'a>(
    front_ends: &[&'a dyn FrontEnd],
    path: &Path,
    text: &str,
    asked_for: Option<&str>,
) -> Option<&'a dyn FrontEnd> {
    let mut languages = front_ends.iter().copied();
    if let Some(name) = asked_for {
        return languages.find(|language| language.is_called(name));
    }
    let extension = path.extension().and_then(|extension| extension.to_str());
    let says = |language: &&dyn FrontEnd| {
        extension.is_some_and(|extension| language.extensions().contains(&extension))
    };
    let by_name = languages.clone().find(says);
    by_name.or_else(|| languages.find(|language| language.recognises(text)))
}

impl dyn FrontEnd + '_ {
    /// Does a caller mean this language: by its name, or by an extension of its files?
    #[must_use]
    pub fn is_called(&self, name: &str) -> bool {
        self.name().eq_ignore_ascii_case(name) || self.extensions().contains(&name)
    }
}

/// Is this word in a text, not only as a part of another?
#[must_use]
pub fn has_word(text: &str, word: &str) -> bool {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    text.match_indices(word).any(|(at, word)| {
        let before = text[..at].chars().next_back();
        let after = text[at + word.len()..].chars().next();
        !before.is_some_and(is_part) && !after.is_some_and(is_part)
    })
}

/// Texts above this size are refused.
pub const MAX_BYTES: usize = 64 << 20;
