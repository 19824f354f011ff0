//! What names were found to mean while a text was translated.
//!
//! Names are noted where they are looked up, so there is one resolution of names, and what the
//! translation learns to look up is known to editors without further code. A name in the tree is
//! identified by the address of its text, which says where it is written
//! ([`crate::ast::File::written`]); names that are not written in the tree have addresses that are
//! not listed there and are ignored.

use std::cell::RefCell;

use model::{EnumId, RecordId};
use rustc_hash::FxHashMap;

use super::Lowerer;
use super::constants::literal;
use super::names::Global;

/// What names were found to mean.
#[derive(Debug, Default)]
pub(super) struct Resolution {
    /// For the address of a name, the address of the name where it is declared.
    declared: RefCell<FxHashMap<usize, usize>>,
    variants: FxHashMap<(EnumId, u32), usize>,
    fields: FxHashMap<(RecordId, usize), usize>,
}

impl Resolution {
    /// The name was looked up, and its declaration was found.
    pub(super) fn found(&self, name: &str, declared: &str) {
        self.found_at(name, declared.as_ptr().addr());
    }

    pub(super) fn found_at(&self, name: &str, declared: usize) {
        let name = name.as_ptr().addr();
        self.declared.borrow_mut().insert(name, declared);
    }

    /// The name is bound here, whether anything uses it or not.
    pub(super) fn bound(&self, name: &str) {
        let name = name.as_ptr().addr();
        self.declared.borrow_mut().entry(name).or_insert(name);
    }

    pub(super) fn declare_variant(&mut self, name: &str, id: EnumId, number: u32) {
        self.variants.insert((id, number), name.as_ptr().addr());
    }

    /// The address of the name of a value where it is declared.
    pub(super) fn variant_address(&self, id: EnumId, number: u32) -> Option<usize> {
        self.variants.get(&(id, number)).copied()
    }

    pub(super) fn found_variant(&self, name: &str, id: EnumId, number: u32) {
        if let Some(declared) = self.variants.get(&(id, number)) {
            self.found_at(name, *declared);
        }
    }

    pub(super) fn declare_field(&mut self, name: &str, id: RecordId, position: usize) {
        self.fields.insert((id, position), name.as_ptr().addr());
    }

    pub(super) fn found_field(&self, name: &str, id: RecordId, position: usize) {
        if let Some(declared) = self.fields.get(&(id, position)) {
            self.found_at(name, *declared);
        }
    }
}

/// What is known about names after a translation.
pub(crate) struct Resolved {
    /// For the address of a name, the address of the name where it is declared.
    pub(crate) declared: FxHashMap<usize, usize>,
    /// The values of constants, by the addresses of their declarations.
    pub(crate) values: FxHashMap<usize, String>,
}

impl Lowerer<'_> {
    /// What is known about names.
    pub(super) fn resolved(&self) -> Resolved {
        let mut values = FxHashMap::default();
        for (name, (global, _)) in &self.globals {
            if let Global::Const(value, ty) = global {
                let text = self.literal_text(&literal(*value, *ty));
                values.extend(text.map(|text| (name.as_ptr().addr(), text)));
            }
        }
        Resolved {
            declared: self.resolution.declared.borrow().clone(),
            values,
        }
    }
}
