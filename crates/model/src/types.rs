//! Types of data.

base::define_index! {
    /// An enumeration.
    pub struct EnumId;
}

base::define_index! {
    /// A record type.
    pub struct RecordId;
}

/// A named list of values.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct EnumType {
    /// Its name.
    pub name: String,
    /// The names of its values; a value is stored as its position.
    pub variants: Vec<String>,
}

/// Named components.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RecordType {
    /// Its name.
    pub name: String,
    /// The components in order.
    pub fields: Vec<(String, Type)>,
    /// What its values are shown as. It has no influence on steps.
    pub form: RecordForm,
}

/// What the values of a record type are shown as. Where the components are not as a form says,
/// values are shown component by component.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum RecordForm {
    /// Components with names.
    #[default]
    Components,
    /// A set of values of this type: an array of Booleans, one for each value. Each cell of the type is
    /// an index, the first one the outermost.
    Set(Type),
    /// A bag of values of this type: how many elements it has, and how many there are of each value,
    /// with indices as in a set.
    Bag(Type),
    /// A map from keys of this type: an array of Booleans that says which keys it has, and an array of
    /// arrays with one value each, with indices as in a set. Values without key do not count.
    Map(Type),
    /// A sequence: its length, and an array of elements, of which those behind its length do not
    /// count.
    Sequence,
    /// A value or none: a sequence of at most one element.
    Option,
}

/// The type of a single cell of a state. Every scalar value is an `i64`: Booleans are 0 and 1,
/// enumeration values their position.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Scalar {
    /// `false` and `true`.
    Bool,
    /// The integers from the first to the second, both included.
    Range(i64, i64),
    /// Every integer. The reference semantics uses 64 bits and reports an overflow as an error.
    Int,
    /// An enumeration with this many values.
    Enum(EnumId, u32),
}

impl Scalar {
    /// The least and the greatest value.
    #[must_use]
    pub fn bounds(self) -> (i64, i64) {
        match self {
            Self::Bool => (0, 1),
            Self::Range(lo, hi) => (lo, hi),
            Self::Int => (i64::MIN, i64::MAX),
            Self::Enum(_, n_variants) => (0, i64::from(n_variants) - 1),
        }
    }

    /// Does the type stand for numbers without a bound, at one end or both? Such types reach to an
    /// end of the 64-bit range and have most of its values; a short range at the end is bounded.
    #[must_use]
    pub fn is_unbounded(self) -> bool {
        match self {
            Self::Int => true,
            Self::Range(lo, hi) => {
                let n_values = i128::from(hi) - i128::from(lo) + 1;
                (lo == i64::MIN || hi == i64::MAX) && n_values > 1 << 62
            }
            Self::Bool | Self::Enum(..) => false,
        }
    }

    /// What a cell holds that nothing is said about: false, 0 or else the least value, the first value
    /// of an enumeration.
    #[must_use]
    pub fn default_value(self) -> i64 {
        let lo = self.bounds().0;
        if self.contains(0) { 0 } else { lo }
    }

    /// Is `value` a value of the type?
    #[must_use]
    pub fn contains(self, value: i64) -> bool {
        let (lo, hi) = self.bounds();
        (lo..=hi).contains(&value)
    }
}

/// An array. Its indices are the integers from `lo` on.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ArrayType {
    /// The first index.
    pub lo: i64,
    /// How many elements.
    pub len: usize,
    /// The type of the elements.
    pub element: Type,
}

/// The type of a variable.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Type {
    /// A single value.
    Scalar(Scalar),
    /// Elements of one type.
    Array(Box<ArrayType>),
    /// Components of several types.
    Record(RecordId),
}

impl Type {
    /// How many cells a value of the type takes.
    #[must_use]
    pub fn n_cells(&self, records: &[RecordType]) -> usize {
        match self {
            Self::Scalar(_) => 1,
            Self::Array(array) => array.len * array.element.n_cells(records),
            Self::Record(id) => {
                let fields = &records[id.index()].fields;
                fields.iter().map(|(_, ty)| ty.n_cells(records)).sum()
            }
        }
    }

    /// Calls `visit` with the path (such as `[2].busy`) and the type of every cell, in order.
    pub fn for_each_cell(
        &self,
        records: &[RecordType],
        path: &str,
        visit: &mut impl FnMut(String, Scalar),
    ) {
        match self {
            Self::Scalar(scalar) => visit(path.to_owned(), *scalar),
            Self::Array(array) => {
                for offset in 0..array.len {
                    let index = array.lo + offset as i64;
                    let path = format!("{path}[{index}]");
                    array.element.for_each_cell(records, &path, visit);
                }
            }
            Self::Record(id) => {
                for (name, ty) in &records[id.index()].fields {
                    ty.for_each_cell(records, &format!("{path}.{name}"), visit);
                }
            }
        }
    }
}
