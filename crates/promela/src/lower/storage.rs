//! Variables in the state, and how they start.

use base::Span;
use model::{
    Access, ArrayType, BinaryOp, EnumType, Expr, IndexRange, Initial, ProcessId, RecordId,
    RecordType, Scalar, Type, VarId, Variable,
};

use crate::ast::{self, Binary, ExprKind, Init, Unary};
use crate::symbols::{Context, Ty};

use super::{Lowering, Storage};

/// How a cell starts.
#[derive(Clone, Debug)]
pub(super) enum CellInit {
    Zero,
    Value(ast::Expr),
    Channel(Init),
}

/// A cell of a variable: the way down to it, its type, its start.
#[derive(Clone, Debug)]
pub(super) struct CellInfo {
    pub(super) path: Vec<Access>,
    pub(super) ty: Ty,
    pub(super) init: CellInit,
}

impl Lowering<'_> {
    /// The cells of a variable, in the order of the model.
    pub(super) fn init_cells(&self, ty: Ty, length: Option<usize>, init: &Init) -> Vec<CellInfo> {
        let Some(length) = length else {
            return self.single_cells(ty, init);
        };
        let mut cells = Vec::new();
        for position in 0..length {
            let single = match init {
                Init::List(values) => match values.get(position).or(values.last()) {
                    Some(value) => Init::Value(value.clone()),
                    None => Init::Zero,
                },
                other => other.clone(),
            };
            for mut cell in self.single_cells(ty, &single) {
                cell.path
                    .insert(0, Access::Index(Expr::Int(position as i64)));
                cells.push(cell);
            }
        }
        cells
    }

    fn single_cells(&self, ty: Ty, init: &Init) -> Vec<CellInfo> {
        if let Ty::Struct(index) = ty {
            let mut cells = Vec::new();
            for (position, field) in self.symbols.structs[index].1.iter().enumerate() {
                for mut cell in self.init_cells(field.ty, field.length, &field.init) {
                    cell.path.insert(0, Access::Field(position));
                    cells.push(cell);
                }
            }
            return cells;
        }

        let init = match init {
            Init::Zero => CellInit::Zero,
            Init::Value(value) => CellInit::Value(value.clone()),
            Init::List(values) => match values.first() {
                Some(value) => CellInit::Value(value.clone()),
                None => CellInit::Zero,
            },
            Init::Channel { .. } => CellInit::Channel(init.clone()),
        };

        vec![CellInfo {
            path: Vec::new(),
            ty,
            init,
        }]
    }

    /// The type of a cell of the model.
    pub(super) fn scalar(&self, ty: Ty) -> Scalar {
        match ty {
            Ty::Bool => Scalar::Bool,
            // Any byte, as in Spin: messages of channels may carry constants, too.
            Ty::Chan => Scalar::Range(0, self.last_channel().max(255)),
            Ty::Mtype if self.named_mtypes => {
                let n_values = self.symbols.mtype_names.len() + 1;
                let n_values = u32::try_from(n_values).unwrap_or(256);
                Scalar::Enum(model::EnumId(0), n_values)
            }
            other => {
                let (lo, hi) = other.bounds();
                Scalar::Range(lo, hi)
            }
        }
    }

    fn model_type(&self, ty: Ty, length: Option<usize>) -> Type {
        let element = match ty {
            Ty::Struct(index) => Type::Record(self.struct_record(index)),
            other => Type::Scalar(self.scalar(other)),
        };
        match length {
            None => element,
            Some(len) => Type::Array(Box::new(ArrayType {
                lo: 0,
                len,
                element,
            })),
        }
    }

    /// Structures are the last records, in order of declaration.
    fn struct_record(&self, index: usize) -> RecordId {
        let first = self.parts.records.len() - self.n_structs_made();
        RecordId::new(first + index)
    }

    fn n_structs_made(&self) -> usize {
        let is_struct = |record: &&RecordType| record.name.starts_with("typedef ");
        self.parts.records.iter().filter(is_struct).count()
    }

    /// Gives every variable its place.
    pub(super) fn make_storage(&mut self) {
        if self.named_mtypes {
            let mut variants = vec!["0".to_owned()];
            variants.extend(self.symbols.mtype_names.iter().map(|name| name.to_string()));
            let name = "mtype".to_owned();
            self.parts.enums.push(EnumType { name, variants });
        }

        for index in 0..self.symbols.structs.len() {
            let (name, fields) = self.symbols.structs[index].clone();
            let fields = fields
                .iter()
                .map(|field| {
                    let ty = self.model_type(field.ty, field.length);
                    (field.name.to_string(), ty)
                })
                .collect();
            let name = format!("typedef {name}");
            self.parts.records.push(RecordType {
                name,
                fields,
                form: model::RecordForm::Components,
            });
        }

        for index in 0..self.symbols.vars.len() {
            let storage = self.place_variable(index);
            self.storage.push(storage);
        }

        self.make_special();
    }

    fn process_id(&self, proctype: usize) -> Option<ProcessId> {
        let position = self
            .units
            .iter()
            .position(|unit| unit.proctype == proctype)?;
        Some(ProcessId::new(position))
    }

    fn place_variable(&mut self, index: usize) -> Storage {
        let var = self.symbols.vars[index].clone();
        let is_channel = var.ty == Ty::Chan && matches!(var.init, Init::Channel { .. });
        if is_channel && !var.written {
            return Storage::Constant;
        }
        let owner = match var.owner {
            None => None,
            Some(owner) => match self.process_id(owner) {
                Some(process) => Some(process),
                None => return Storage::Constant,
            },
        };

        let same = |other: &Variable| other.owner == owner && *other.name == *var.name;
        let n_same = self.parts.vars.iter().filter(|other| same(other)).count();
        let name = match n_same {
            0 => var.name.to_string(),
            n => format!("{}'{}", var.name, n + 1),
        };
        let ty = self.model_type(var.ty, var.length);
        let initial = Initial::Values(self.initial_values(index));
        self.parts.vars.push(Variable {
            name,
            ty,
            owner,
            initial,
            span: var.span,
        });

        let id = VarId::new(self.parts.vars.len() - 1);
        if var.ty == Ty::Timer {
            self.declare_timer(index, id);
        }
        Storage::State(id)
    }

    /// What the cells of a variable start with. Processes that do not exist yet have zeros.
    fn initial_values(&mut self, index: usize) -> Vec<Expr> {
        let var = self.symbols.vars[index].clone();
        let init = if var.at_creation && !var.is_parameter {
            var.init.clone()
        } else {
            Init::Zero
        };
        let cells = self.init_cells(var.ty, var.length, &init);
        let context = Context {
            scope: var.scope,
            order: var.order,
            owner: var.owner,
        };
        let mut values = Vec::new();

        for (position, cell) in cells.iter().enumerate() {
            let value = match &cell.init {
                CellInit::Zero if cell.ty == Ty::Timer => Expr::Int(-1),
                CellInit::Zero => Expr::Int(0),
                CellInit::Value(expr) => self.initial_value(expr, cell.ty, context, var.span),
                CellInit::Channel(_) => self.initial_channel(index, position, &var.owner),
            };
            values.push(value);
        }

        values
    }

    fn initial_channel(&self, var: usize, cell: usize, owner: &Option<usize>) -> Expr {
        let in_struct = self.symbols.vars[var].ty != Ty::Chan;
        let fits =
            |group: &super::Group| group.var == var && (!in_struct || group.cell == Some(cell));
        let Some(group) = self.groups.iter().position(fits) else {
            return Expr::Int(0);
        };
        let index = if in_struct { 0 } else { cell as i64 };
        match owner {
            None => self.channel_number(group, Expr::Int(index), None),
            Some(owner) => self.for_active(*owner, |pid| {
                let number = self.channel_number(group, Expr::Int(index), Some(&Expr::Int(pid)));
                Some(fold(&number))
            }),
        }
    }

    /// The expression that has these values for the processes that exist at the start, and zero for
    /// the others.
    pub(super) fn for_active(&self, owner: usize, value_of: impl Fn(i64) -> Option<i64>) -> Expr {
        let Some(range) = self.population.ranges[owner] else {
            return Expr::Int(0);
        };
        let active = range.first_active..range.first_active + range.n_active;
        let values: Vec<(i64, i64)> = active
            .map(|pid| (pid, value_of(pid).unwrap_or(0)))
            .collect();
        let Some(index) = self.index_of(owner) else {
            return Expr::Int(values.first().map_or(0, |(_, value)| *value));
        };
        let all_same = values.windows(2).all(|pair| pair[0].1 == pair[1].1);
        if all_same && !values.is_empty() && values.len() == range.len() {
            return Expr::Int(values[0].1);
        }
        values
            .into_iter()
            .rev()
            .fold(Expr::Int(0), |otherwise, (pid, value)| {
                let is_it = super::equals(Expr::Bound(index), pid);
                Expr::Ite(
                    Box::new(is_it),
                    Box::new(Expr::Int(value)),
                    Box::new(otherwise),
                )
            })
    }

    fn initial_value(&mut self, expr: &ast::Expr, ty: Ty, context: Context, span: Span) -> Expr {
        let computed = |pid: Option<i64>| -> Option<i64> {
            let value = self.static_value(expr, context, pid, 0)?;
            Some(kept(value, ty))
        };
        let value = match context.owner {
            None => computed(None).map(Expr::Int),
            Some(owner) => {
                let range = self.population.ranges[owner].unwrap_or_default();
                let mut active = range.first_active..range.first_active + range.n_active;
                if active.all(|pid| computed(Some(pid)).is_some()) {
                    Some(self.for_active(owner, |pid| computed(Some(pid))))
                } else {
                    None
                }
            }
        };

        // shape: for a warning about numbers only.
        if let (Some(Expr::Int(_)), Some(written)) =
            (&value, self.static_value(expr, context, None, 0))
        {
            self.warn_of_truncation(written, ty, expr.span);
        }
        value.unwrap_or_else(|| {
            let message = "this initial value cannot be worked out before the model runs";
            self.error("initial-value", span, message);
            Expr::Int(0)
        })
    }

    /// The value of an expression before the first step.
    fn static_value(
        &self,
        expr: &ast::Expr,
        context: Context,
        pid: Option<i64>,
        depth: usize,
    ) -> Option<i64> {
        // Initial values can refer to each other in a circle.
        if depth > 100 {
            return None;
        }
        let of = |inner: &ast::Expr| self.static_value(inner, context, pid, depth + 1);
        let value = match &expr.kind {
            ExprKind::Int(value) => *value,
            ExprKind::Var(var) => {
                let name = &*var.parts[0].name;
                if name == "_pid" {
                    return pid;
                }
                if name == "_nr_pr" {
                    return Some(self.population.n_at_start);
                }
                if let Some(value) = self.symbols.mtypes.get(name) {
                    return Some(*value);
                }
                let root = self.symbols.lookup(name, context)?;
                let found = &self.symbols.vars[root];
                let inner = Context {
                    scope: found.scope,
                    order: found.order,
                    owner: found.owner,
                };
                if var.parts.len() > 1 {
                    return None;
                }
                let index = match &var.parts[0].index {
                    None => 0,
                    Some(index) => usize::try_from(of(index)?).ok()?,
                };

                // Parameters have a value only when a process is started.
                if found.is_parameter {
                    return Some(0);
                }
                match &found.init {
                    Init::Zero => 0,
                    Init::Value(value) => {
                        let value = self.static_value(value, inner, pid, depth + 1)?;
                        kept(value, found.ty)
                    }
                    Init::List(values) => {
                        let value = values.get(index).or(values.last())?;
                        let value = self.static_value(value, inner, pid, depth + 1)?;
                        kept(value, found.ty)
                    }
                    Init::Channel { .. } if found.ty == Ty::Chan => {
                        return self.static_channel(root, index, pid);
                    }
                    Init::Channel { .. } => return None,
                }
            }
            ExprKind::Unary(op, inner) => match op {
                Unary::Not => i64::from(of(inner)? == 0),
                Unary::Minus => of(inner)?.checked_neg()?,
                Unary::Complement => !of(inner)?,
                _ => return None,
            },
            ExprKind::Binary(op, left, right) => constant_binary(*op, of(left)?, of(right)?)?,
            ExprKind::Cond(condition, then, otherwise) => match of(condition)? {
                0 => of(otherwise)?,
                _ => of(then)?,
            },
            _ => return None,
        };

        Some(value)
    }

    /// The number of a channel that a declaration creates.
    fn static_channel(&self, var: usize, index: usize, pid: Option<i64>) -> Option<i64> {
        let group = self.groups.iter().position(|group| group.var == var)?;
        let is_element = index < self.groups[group].per_process;
        let pid = pid.map(Expr::Int);
        let number = self.channel_number(group, Expr::Int(index as i64), pid.as_ref());
        is_element.then(|| fold(&number))
    }

    /// `_nr_pr`, and what else the program needs besides its variables.
    fn make_special(&mut self) {
        if self.population.changes {
            let start = self.population.n_at_start;
            let var = self.special_variable("_nr_pr", Scalar::Range(0, 255), start);
            self.special.n_processes = Some(var);
        }
        if self.mentions("_last") {
            let var = self.special_variable("_last", Scalar::Range(0, 255), 0);
            self.special.last = Some(var);
        }
    }

    pub(super) fn special_variable(&mut self, name: &str, ty: Scalar, start: i64) -> VarId {
        self.parts.vars.push(Variable {
            name: name.to_owned(),
            ty: Type::Scalar(ty),
            owner: None,
            initial: Initial::Values(vec![Expr::Int(start)]),
            span: Span::nowhere(),
        });
        VarId::new(self.parts.vars.len() - 1)
    }

    /// Is this special name used?
    pub(super) fn mentions(&self, name: &str) -> bool {
        self.program.special_names.contains(name)
    }

    /// The name of the process number inside a family.
    pub(super) fn index_of(&self, proctype: usize) -> Option<model::BoundId> {
        let index: Option<IndexRange> = self.index_range(proctype);
        index.map(|range| range.bound)
    }

    /// The index of a family; `init` is a single process. The names of all indices come first.
    pub(super) fn index_range(&self, proctype: usize) -> Option<IndexRange> {
        if self.program.processes[proctype].is_init {
            return None;
        }
        let range = self.population.ranges[proctype]?;
        Some(IndexRange {
            bound: model::BoundId::new(proctype),
            lo: range.lo,
            hi: range.hi,
        })
    }
}

/// What a variable starts with; there may be more channels than a byte has values.
fn kept(value: i64, ty: Ty) -> i64 {
    match ty {
        Ty::Chan => value,
        _ => wrapped(value, ty),
    }
}

/// What a variable of a type keeps of a value.
pub(super) fn wrapped(value: i64, ty: Ty) -> i64 {
    let (bits, signed) = ty.bits();
    let modulus = 1_i64 << bits;
    let low = value.rem_euclid(modulus);
    if signed && low >= modulus / 2 {
        low - modulus
    } else {
        low
    }
}

/// The value of an operator on numbers, as in C.
pub(super) fn constant_binary(op: Binary, a: i64, b: i64) -> Option<i64> {
    let value = match op {
        Binary::Add => a.checked_add(b)?,
        Binary::Sub => a.checked_sub(b)?,
        Binary::Mul => a.checked_mul(b)?,
        Binary::Div => a.checked_div(b)?,
        Binary::Mod => a.checked_rem(b)?,
        Binary::BitAnd => a & b,
        Binary::BitOr => a | b,
        Binary::BitXor => a ^ b,
        Binary::Shl => (0..32).contains(&b).then(|| a << b)?,
        Binary::Shr => (0..32).contains(&b).then(|| a >> b)?,
        Binary::Lt => i64::from(a < b),
        Binary::Le => i64::from(a <= b),
        Binary::Gt => i64::from(a > b),
        Binary::Ge => i64::from(a >= b),
        Binary::Eq => i64::from(a == b),
        Binary::Ne => i64::from(a != b),
        Binary::And => i64::from(a != 0 && b != 0),
        Binary::Or => i64::from(a != 0 || b != 0),
        Binary::Implies | Binary::Iff | Binary::Until | Binary::WeakUntil | Binary::Release => {
            return None;
        }
    };

    Some(wrapped(value, Ty::Int))
}

/// The value of an expression over numbers.
fn fold(expr: &Expr) -> i64 {
    match expr {
        Expr::Int(value) => *value,
        Expr::Binary(BinaryOp::Add, left, right) => fold(left) + fold(right),
        Expr::Binary(BinaryOp::Mul, left, right) => fold(left) * fold(right),
        Expr::Bool(_)
        | Expr::Enum(..)
        | Expr::Read(_)
        | Expr::Bound(_)
        | Expr::Not(_)
        | Expr::Neg(_)
        | Expr::Binary(..)
        | Expr::Ite(..)
        | Expr::Quantified { .. }
        | Expr::At { .. }
        | Expr::Length(_)
        | Expr::Wrap { .. } => 0,
    }
}
