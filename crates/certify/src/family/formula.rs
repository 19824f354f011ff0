//! Formulas about the states of all instances: what the objects of a certificate are written in.
//!
//! They have one meaning, which is given twice below: as a term for solvers, and by evaluation in a
//! state of one instance. Nothing of how they were found matters.

use crate::Failure;
use crate::bytes::{Reader, put, put_list, put_signed};
use crate::format::MAX_DEPTH;

/// A number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Base {
    /// 0.
    Zero,
    /// The parameter.
    Parameter,
    /// A variable. The first ones are the distinguished processes of the question.
    Variable(u32),
    /// What a slot without index holds.
    Slot(u32),
}

/// A base plus a constant.
pub type Index = (Base, i64);

/// A formula. *Slots* are numbered: the locations of all processes, then all variables, in order of
/// declaration.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Formula {
    /// All of them.
    All(Vec<Formula>),
    /// One of them.
    Any(Vec<Formula>),
    /// Not.
    Not(Box<Formula>),
    /// The first is less than the second.
    Less(Index, Index),
    /// Both are equal.
    Equal(Index, Index),
    /// The slot has this value, at an index if it has indices. Beyond its indices it has no value.
    Has(u32, Option<Index>, i64),
    /// For some number from 0 up to the parameter.
    Some(u32, Box<Formula>),
}

/// What formulas are about.
pub(super) trait Meaning {
    /// A truth value.
    type Truth;
    /// A number.
    type Number;

    fn not(&mut self, inner: Self::Truth) -> Self::Truth;
    fn join(&mut self, is_all: bool, parts: Vec<Self::Truth>) -> Self::Truth;
    fn index(&mut self, index: Index) -> Result<Self::Number, String>;
    fn compare(&mut self, is_less: bool, left: Self::Number, right: Self::Number) -> Self::Truth;
    fn has(
        &mut self,
        slot: u32,
        at: Option<Self::Number>,
        value: i64,
    ) -> Result<Self::Truth, String>;
    fn some(&mut self, variable: u32, inner: &Formula) -> Result<Self::Truth, String>;
}

impl Formula {
    /// What the formula means.
    pub(super) fn mean<M: Meaning>(&self, meaning: &mut M) -> Result<M::Truth, String> {
        match self {
            Self::All(parts) | Self::Any(parts) => {
                let is_all = matches!(self, Self::All(_));
                let parts: Result<Vec<_>, _> = parts.iter().map(|p| p.mean(meaning)).collect();
                Ok(meaning.join(is_all, parts?))
            }
            Self::Not(inner) => {
                let inner = inner.mean(meaning)?;
                Ok(meaning.not(inner))
            }
            Self::Less(left, right) | Self::Equal(left, right) => {
                let is_less = matches!(self, Self::Less(..));
                let (left, right) = (meaning.index(*left)?, meaning.index(*right)?);
                Ok(meaning.compare(is_less, left, right))
            }
            Self::Has(slot, at, value) => {
                let at = at.map(|at| meaning.index(at)).transpose()?;
                meaning.has(*slot, at, *value)
            }
            Self::Some(variable, inner) => meaning.some(*variable, inner),
        }
    }
}

pub(super) fn put_formula(bytes: &mut Vec<u8>, formula: &Formula) {
    match formula {
        Formula::All(parts) => {
            bytes.push(0);
            put_list(bytes, parts, put_formula);
        }
        Formula::Any(parts) => {
            bytes.push(1);
            put_list(bytes, parts, put_formula);
        }
        Formula::Not(inner) => {
            bytes.push(2);
            put_formula(bytes, inner);
        }
        Formula::Less(left, right) => {
            bytes.push(3);
            put_index(bytes, left);
            put_index(bytes, right);
        }
        Formula::Equal(left, right) => {
            bytes.push(4);
            put_index(bytes, left);
            put_index(bytes, right);
        }
        Formula::Has(slot, at, value) => {
            bytes.push(5);
            put(bytes, u64::from(*slot));
            put_list(bytes, at.as_slice(), put_index);
            put_signed(bytes, *value);
        }
        Formula::Some(variable, inner) => {
            bytes.push(6);
            put(bytes, u64::from(*variable));
            put_formula(bytes, inner);
        }
    }
}

fn put_index(bytes: &mut Vec<u8>, (base, offset): &Index) {
    match base {
        Base::Zero => bytes.push(0),
        Base::Parameter => bytes.push(1),
        Base::Variable(number) => {
            bytes.push(2);
            put(bytes, u64::from(*number));
        }
        Base::Slot(number) => {
            bytes.push(3);
            put(bytes, u64::from(*number));
        }
    }
    put_signed(bytes, *offset);
}

pub(super) fn formula(reader: &mut Reader<'_>) -> Result<Formula, Failure> {
    nested(reader, 0)
}

fn nested(reader: &mut Reader<'_>, depth: usize) -> Result<Formula, Failure> {
    if depth > MAX_DEPTH {
        return Err(Failure::wrong("a formula is nested too deeply"));
    }
    let inner = |reader: &mut Reader<'_>| nested(reader, depth + 1);

    Ok(match reader.number()? {
        0 => Formula::All(reader.list(inner)?),
        1 => Formula::Any(reader.list(inner)?),
        2 => Formula::Not(Box::new(inner(reader)?)),
        3 => Formula::Less(index(reader)?, index(reader)?),
        4 => Formula::Equal(index(reader)?, index(reader)?),
        5 => {
            let slot = reader.small()?;
            let mut at = reader.list(index)?;
            if at.len() > 1 {
                return Err(Failure::wrong("a slot has one index"));
            }
            Formula::Has(slot, at.pop(), reader.signed()?)
        }
        6 => Formula::Some(reader.small()?, Box::new(inner(reader)?)),
        _ => return Err(Failure::wrong("the kind of a formula is not known")),
    })
}

fn index(reader: &mut Reader<'_>) -> Result<Index, Failure> {
    let base = match reader.number()? {
        0 => Base::Zero,
        1 => Base::Parameter,
        2 => Base::Variable(reader.small()?),
        3 => Base::Slot(reader.small()?),
        _ => return Err(Failure::wrong("the kind of a number is not known")),
    };
    Ok((base, reader.signed()?))
}
