//! Cells that are read together: sets, sequences and optional values.

use model::{ArrayType, Model, RecordForm, RecordId, Scalar, Type};

use crate::{Value, View};

/// How "no value" is shown.
const NONE: &str = "none";

/// What cells that belong together are shown as. Numbers are positions among the cells of a state.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Shape {
    /// A single cell.
    Cell(usize),
    /// A set: from this cell on a Boolean for each value of the type, beginning with the least.
    Set(usize, Scalar, usize),
    /// A sequence: the cell of its length, and its elements.
    Sequence(usize, Vec<Shape>),
    /// A value or none: the cell that says which, and the value.
    Option(usize, Box<Shape>),
    /// All elements of an array.
    List(Vec<Shape>),
    /// All components of a record.
    Record(Vec<(String, Shape)>),
}

/// The components that the cells of a model are shown as, with their names, in order.
pub(crate) fn cell_components(model: &Model) -> Vec<(String, Shape)> {
    let mut components = Vec::new();
    let mut next = 0;
    while let Some(cell) = model.cells().get(next) {
        let variable = &model.parts().vars[cell.var.index()];
        let name = match cell.instance {
            Some(instance) => {
                let owner = &model.instances()[instance.index()].name;
                format!("{owner}.{}", variable.name)
            }
            None => variable.name.clone(),
        };
        Walk { model }.components(&variable.ty, &name, &mut next, &mut components);
    }
    components
}

struct Walk<'a> {
    model: &'a Model,
}

impl Walk<'_> {
    /// Adds components for something of this type whose cells begin at `next`.
    fn components(&self, ty: &Type, name: &str, next: &mut usize, out: &mut Vec<(String, Shape)>) {
        match ty {
            Type::Scalar(_) => {
                out.push((name.to_owned(), Shape::Cell(*next)));
                *next += 1;
            }
            Type::Array(array) => {
                for offset in 0..array.len {
                    let index = array.lo + offset as i64;
                    self.components(&array.element, &format!("{name}[{index}]"), next, out);
                }
            }
            Type::Record(id) => {
                if let Some(shape) = self.special(*id, *next) {
                    out.push((name.to_owned(), shape));
                    *next += ty.n_cells(&self.model.parts().records);
                    return;
                }
                for (field, ty) in &self.model.parts().records[id.index()].fields {
                    self.components(ty, &format!("{name}.{field}"), next, out);
                }
            }
        }
    }

    /// The shape of a record that is not shown component by component.
    fn special(&self, id: RecordId, first: usize) -> Option<Shape> {
        let record = &self.model.parts().records[id.index()];
        let fields: Vec<&Type> = record.fields.iter().map(|(_, ty)| ty).collect();
        match (record.form, fields.as_slice()) {
            (RecordForm::Set(element), [Type::Array(array)]) if self.fits(element, array) => {
                Some(Shape::Set(first, element, array.len))
            }
            (RecordForm::Sequence, [Type::Scalar(Scalar::Range(0, most)), Type::Array(items)])
                if *most == items.len as i64 =>
            {
                let mut next = first + 1;
                let item = |_| self.whole(&items.element, &mut next);
                Some(Shape::Sequence(first, (0..items.len).map(item).collect()))
            }
            (RecordForm::Option, [Type::Scalar(Scalar::Range(0, 1)), Type::Array(items)])
                if items.len == 1 =>
            {
                let value = self.whole(&items.element, &mut (first + 1));
                Some(Shape::Option(first, Box::new(value)))
            }
            _ => None,
        }
    }

    /// Is there one Boolean for each value of the type?
    fn fits(&self, element: Scalar, array: &ArrayType) -> bool {
        let exists = match element {
            Scalar::Enum(id, _) => id.index() < self.model.parts().enums.len(),
            Scalar::Bool | Scalar::Range(..) | Scalar::Int => true,
        };
        let (lo, hi) = element.bounds();
        let n_values = i128::from(hi) - i128::from(lo) + 1;
        exists
            && array.element == Type::Scalar(Scalar::Bool)
            && array.lo == lo
            && array.len as i128 == n_values
    }

    /// Something of this type as one value.
    fn whole(&self, ty: &Type, next: &mut usize) -> Shape {
        match ty {
            Type::Scalar(_) => {
                *next += 1;
                Shape::Cell(*next - 1)
            }
            Type::Array(array) => {
                let element = |_| self.whole(&array.element, next);
                Shape::List((0..array.len).map(element).collect())
            }
            Type::Record(id) => {
                if let Some(shape) = self.special(*id, *next) {
                    *next += ty.n_cells(&self.model.parts().records);
                    return shape;
                }
                let fields = self.model.parts().records[id.index()].fields.iter();
                let field = |(name, ty): &(String, Type)| (name.clone(), self.whole(ty, next));
                Shape::Record(fields.map(field).collect())
            }
        }
    }
}

impl Shape {
    /// What the cells show.
    pub(crate) fn value(&self, view: &View<'_>, cells: &[i64]) -> Value {
        let all = |shapes: &[Self]| shapes.iter().map(|s| s.value(view, cells)).collect();
        match self {
            Self::Cell(cell) => view.scalar(view.cell_type(*cell), cells[*cell]),
            Self::Set(first, element, len) => {
                let lo = element.bounds().0;
                let members = (0..*len).filter(|offset| cells[first + offset] != 0);
                let member = |offset| view.scalar(*element, lo + offset as i64);
                Value::Set(members.map(member).collect())
            }
            Self::Sequence(length, items) => {
                let length = usize::try_from(cells[*length]).unwrap_or(0);
                Value::List(all(&items[..length.min(items.len())]))
            }
            Self::Option(present, value) => {
                if cells[*present] == 0 {
                    Value::Name(NONE.to_owned())
                } else {
                    value.value(view, cells)
                }
            }
            Self::List(items) => Value::List(all(items)),
            Self::Record(fields) => {
                let field = |(name, shape): &(String, Self)| {
                    let value = shape.value(view, cells);
                    (name.clone(), value)
                };
                Value::Record(fields.iter().map(field).collect())
            }
        }
    }

    /// Writes a value into its cells; nothing if it does not fit. What does not count gets the value
    /// that a cell has of which nothing is said, as everywhere.
    pub(crate) fn store(&self, view: &View<'_>, value: &Value, cells: &mut [i64]) -> Option<()> {
        match (self, value) {
            (Self::Cell(cell), value) => {
                cells[*cell] = view.parse_scalar(view.cell_type(*cell), value)?;
            }
            (Self::Set(first, element, len), Value::Set(members)) => {
                cells[*first..first + len].fill(0);
                for member in members {
                    let member = view.parse_scalar(*element, member)?;
                    let offset = usize::try_from(member - element.bounds().0).ok()?;
                    *cells[*first..first + len].get_mut(offset)? = 1;
                }
            }
            (Self::Sequence(length, items), Value::List(values)) => {
                if values.len() > items.len() {
                    return None;
                }
                cells[*length] = values.len() as i64;
                for (position, item) in items.iter().enumerate() {
                    match values.get(position) {
                        Some(value) => item.store(view, value, cells)?,
                        None => item.clear(view, cells),
                    }
                }
            }
            (Self::Option(present, inner), Value::Name(name)) if name == NONE => {
                cells[*present] = 0;
                inner.clear(view, cells);
            }
            (Self::Option(present, inner), value) => {
                cells[*present] = 1;
                inner.store(view, value, cells)?;
            }
            (Self::List(items), Value::List(values)) if items.len() == values.len() => {
                for (item, value) in items.iter().zip(values) {
                    item.store(view, value, cells)?;
                }
            }
            (Self::Record(fields), Value::Record(values)) if fields.len() == values.len() => {
                for (name, shape) in fields {
                    let (_, value) = values.iter().find(|(other, _)| other == name)?;
                    shape.store(view, value, cells)?;
                }
            }
            _ => return None,
        }
        Some(())
    }

    fn clear(&self, view: &View<'_>, cells: &mut [i64]) {
        match self {
            Self::Cell(cell) => cells[*cell] = view.cell_type(*cell).default_value(),
            Self::Set(first, _, len) => cells[*first..first + len].fill(0),
            Self::Sequence(cell, parts) => {
                cells[*cell] = 0;
                parts.iter().for_each(|part| part.clear(view, cells));
            }
            Self::Option(cell, inner) => {
                cells[*cell] = 0;
                inner.clear(view, cells);
            }
            Self::List(parts) => parts.iter().for_each(|part| part.clear(view, cells)),
            Self::Record(fields) => fields.iter().for_each(|(_, part)| part.clear(view, cells)),
        }
    }
}
