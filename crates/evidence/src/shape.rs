//! Cells that are read together: sets, bags, maps, sequences and optional values.

use model::{ArrayType, EnumId, Model, RecordForm, RecordId, Scalar, Type};

use crate::{Value, View};

/// How "no value" is shown.
const NONE: &str = "none";

/// How many cells an element may have; larger ones are shown cell by cell.
const MAX_CELLS: usize = 64;

/// What cells that belong together are shown as. Numbers are positions among the cells of a state.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Shape {
    /// A single cell.
    Cell(usize, Scalar),
    /// A set: a Boolean for each value.
    Set(Values),
    /// A bag: the cell of its size, and a number for each value.
    Bag(usize, Values),
    /// A map: a Boolean for each key, and a value for each key.
    Map(Values, Vec<Shape>),
    /// A sequence: the cell of its length, and its elements.
    Sequence(usize, Vec<Shape>),
    /// A value or none: the cell that says which, and the value.
    Option(usize, Box<Shape>),
    /// All elements of an array.
    List(Vec<Shape>),
    /// All components of a record.
    Record(Vec<(String, Shape)>),
}

/// Cells one for each value of a type, in order; the last cell of the value changes first.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Values {
    /// The first of the cells.
    first: usize,
    /// The types of the cells of a value.
    types: Vec<Scalar>,
    /// What these cells are shown as; its numbers are positions among them.
    element: Box<Shape>,
}

impl Values {
    fn len(&self) -> usize {
        self.types.iter().map(|ty| n_values(*ty)).product()
    }

    /// The value with a number.
    fn value(&self, view: &View<'_>, mut number: usize) -> Value {
        let mut cells = vec![0; self.types.len()];
        for (cell, ty) in cells.iter_mut().zip(&self.types).rev() {
            *cell = ty.bounds().0 + (number % n_values(*ty)) as i64;
            number /= n_values(*ty);
        }
        self.element.value(view, &cells)
    }

    /// The number of a value; nothing if it does not fit.
    fn number(&self, view: &View<'_>, value: &Value) -> Option<usize> {
        let mut cells = vec![0; self.types.len()];
        self.element.store(view, value, &mut cells)?;
        let digits = cells.iter().zip(&self.types);
        Some(digits.fold(0, |number, (cell, ty)| {
            number * n_values(*ty) + (cell - ty.bounds().0) as usize
        }))
    }

    /// The cells that belong to values.
    fn cells<'c>(&self, cells: &'c [i64]) -> &'c [i64] {
        &cells[self.first..self.first + self.len()]
    }

    fn cells_mut<'c>(&self, cells: &'c mut [i64]) -> &'c mut [i64] {
        &mut cells[self.first..self.first + self.len()]
    }
}

/// How many values a type has that is known to be small.
fn n_values(ty: Scalar) -> usize {
    let (lo, hi) = ty.bounds();
    usize::try_from(i128::from(hi) - i128::from(lo) + 1).unwrap_or(usize::MAX)
}

/// The components that the cells of a model are shown as, in order: their names, the lengths of the names
/// of their variables, and their shapes.
pub(crate) fn cell_components(model: &Model) -> Vec<(String, usize, Shape)> {
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

        let mut arrays = model.parts().shown.arrays.iter();
        let named = arrays.find(|(var, _)| *var == cell.var);
        let indices = named.map_or(&[][..], |(_, indices)| indices);

        let mut parts = Vec::new();
        let walk = ShapeWalk { model };
        walk.components(&variable.ty, (&name, indices), &mut next, &mut parts);
        components.extend(
            parts
                .into_iter()
                .map(|(part, shape)| (part, name.len(), shape)),
        );
    }

    components
}

/// What something of a type is shown as whose cells begin at 0.
pub(crate) fn shape_of(model: &Model, ty: &Type) -> Shape {
    ShapeWalk { model }.whole(ty, &mut 0)
}

struct ShapeWalk<'a> {
    model: &'a Model,
}

impl ShapeWalk<'_> {
    /// Adds components for something of this type whose cells begin at `next`.
    /// `indices` says what its outermost indices number.
    fn components(
        &self,
        ty: &Type,
        (name, indices): (&str, &[Option<EnumId>]),
        next: &mut usize,
        out: &mut Vec<(String, Shape)>,
    ) {
        match ty {
            Type::Scalar(_) => {
                out.push((name.to_owned(), self.whole(ty, &mut next.clone())));
                *next += 1;
            }
            Type::Array(array) => {
                let (numbered, inner) = match indices.split_first() {
                    Some((numbered, inner)) => (*numbered, inner),
                    None => (None, &[][..]),
                };
                for offset in 0..array.len {
                    let index = array.lo + offset as i64;
                    let index = self.model.parts().index_text(numbered, index);
                    let name = format!("{name}[{index}]");
                    self.components(&array.element, (&name, inner), next, out);
                }
            }
            Type::Record(id) => {
                if let Some(shape) = self.special(*id, *next) {
                    out.push((name.to_owned(), shape));
                    *next += ty.n_cells(&self.model.parts().records);
                    return;
                }
                for (field, ty) in &self.model.parts().records[id.index()].fields {
                    self.components(ty, (&format!("{name}.{field}"), &[]), next, out);
                }
            }
        }
    }

    /// The shape of a record that is not shown component by component.
    fn special(&self, id: RecordId, first: usize) -> Option<Shape> {
        let record = &self.model.parts().records[id.index()];
        let fields: Vec<&Type> = record.fields.iter().map(|(_, ty)| ty).collect();

        match (&record.form, fields.as_slice()) {
            (RecordForm::Set(element), [members]) => {
                let boolean = Type::Scalar(Scalar::Bool);
                Some(Shape::Set(self.values(element, members, &boolean, first)?))
            }
            (RecordForm::Bag(element), [number @ Type::Scalar(_), counts]) => {
                let values = self.values(element, counts, number, first + 1)?;
                Some(Shape::Bag(first, values))
            }
            (RecordForm::Map(key), [present, values]) => {
                let boolean = Type::Scalar(Scalar::Bool);
                let keys = self.values(key, present, &boolean, first)?;
                let mut value = *values;
                for _ in &keys.types {
                    match value {
                        Type::Array(array) => value = &array.element,
                        Type::Scalar(_) | Type::Record(_) => return None,
                    }
                }
                let mut next = first + keys.len();
                self.values(key, values, value, next)?;
                match value {
                    Type::Array(slot) if slot.len == 1 => {
                        let shape = |_| self.whole(&slot.element, &mut next);
                        let shapes = (0..keys.len()).map(shape).collect();
                        Some(Shape::Map(keys, shapes))
                    }
                    Type::Scalar(_) | Type::Array(_) | Type::Record(_) => None,
                }
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

    /// Cells that stand for the values of a type, if they are as many and as they should be.
    fn values(&self, element: &Type, array: &Type, cell: &Type, first: usize) -> Option<Values> {
        let parts = self.model.parts();
        let is_known = |ty: &Scalar| match ty {
            Scalar::Enum(id, _) => id.index() < parts.enums.len(),
            Scalar::Bool | Scalar::Range(..) | Scalar::Int => true,
        };
        let mut types = Vec::new();
        element.for_each_cell(&parts.records, "", &mut |_, ty| types.push(ty));
        let is_small = element.n_cells(&parts.records) <= MAX_CELLS;
        if !is_small || !types.iter().all(|ty| is_known(ty) && !ty.is_unbounded()) {
            return None;
        }

        let wrap = |element: Type, ty: &Scalar| {
            let (lo, len) = (ty.bounds().0, n_values(*ty));
            Type::Array(Box::new(ArrayType { lo, len, element }))
        };
        let expected = types.iter().rev().fold(cell.clone(), wrap);
        (*array == expected).then(|| Values {
            first,
            element: Box::new(self.whole(element, &mut 0)),
            types,
        })
    }

    /// Something of this type as one value.
    fn whole(&self, ty: &Type, next: &mut usize) -> Shape {
        match ty {
            Type::Scalar(scalar) => {
                *next += 1;
                Shape::Cell(*next - 1, *scalar)
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
            Self::Cell(cell, ty) => view.scalar(*ty, cells[*cell]),
            Self::Set(values) => {
                let members = numbered(values.cells(cells));
                Value::Set(
                    members
                        .map(|(number, _)| values.value(view, number))
                        .collect(),
                )
            }
            Self::Bag(_, values) => {
                let counted = |(number, count)| (values.value(view, number), Value::Int(count));
                Value::Map(numbered(values.cells(cells)).map(counted).collect())
            }
            Self::Map(keys, values) => {
                let entry = |(number, _): (usize, i64)| {
                    (keys.value(view, number), values[number].value(view, cells))
                };
                Value::Map(numbered(keys.cells(cells)).map(entry).collect())
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
            (Self::Cell(cell, ty), value) => cells[*cell] = view.parse_scalar(*ty, value)?,
            (Self::Set(values), Value::Set(members)) => {
                self.clear(cells);
                for member in members {
                    let number = values.number(view, member)?;
                    values.cells_mut(cells)[number] = 1;
                }
            }
            (Self::Bag(size, values), Value::Map(counts)) => {
                self.clear(cells);
                for (element, count) in counts {
                    let Value::Int(count @ 1..) = count else {
                        return None;
                    };
                    let number = values.number(view, element)?;
                    values.cells_mut(cells)[number] += count;
                    cells[*size] += count;
                }
            }
            (Self::Map(keys, values), Value::Map(entries)) => {
                self.clear(cells);
                for (key, value) in entries {
                    let number = keys.number(view, key)?;
                    keys.cells_mut(cells)[number] = 1;
                    values[number].store(view, value, cells)?;
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
                        None => item.clear(cells),
                    }
                }
            }
            (Self::Option(present, inner), Value::Name(name)) if name == NONE => {
                cells[*present] = 0;
                inner.clear(cells);
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

    fn clear(&self, cells: &mut [i64]) {
        match self {
            Self::Cell(cell, ty) => cells[*cell] = ty.default_value(),
            Self::Set(values) => values.cells_mut(cells).fill(0),
            Self::Bag(size, values) => {
                cells[*size] = 0;
                values.cells_mut(cells).fill(0);
            }
            Self::Map(keys, values) => {
                keys.cells_mut(cells).fill(0);
                values.iter().for_each(|value| value.clear(cells));
            }
            Self::Sequence(cell, parts) => {
                cells[*cell] = 0;
                parts.iter().for_each(|part| part.clear(cells));
            }
            Self::Option(cell, inner) => {
                cells[*cell] = 0;
                inner.clear(cells);
            }
            Self::List(parts) => parts.iter().for_each(|part| part.clear(cells)),
            Self::Record(fields) => fields.iter().for_each(|(_, part)| part.clear(cells)),
        }
    }
}

/// The cells that are not 0, with their numbers.
fn numbered(cells: &[i64]) -> impl Iterator<Item = (usize, i64)> {
    let cells = cells.iter().copied().enumerate();
    cells.filter(|(_, cell)| *cell != 0)
}
