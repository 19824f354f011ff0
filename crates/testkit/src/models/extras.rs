//! Variables that some random models have: records, tables, arrays of indices, values near the ends
//! of 64 bits, enumerations, and a variable of the second process.
//!
//! Each model has some of them only. What every model has would hide what happens without it, and
//! all of them together would be too many states (A. Groce, C. Zhang, E. Eide, Y. Chen, J. Regehr,
//! "Swarm testing", ISSTA 2012).

use base::Span;
use model::{
    Access, ArrayType, BinaryOp, ChannelId, ChannelRef, EnumId, EnumType, Expr, Initial,
    LocationId, Owner, Place, ProcessId, RecordId, RecordType, Scalar, StmtKind, Type, VarId,
    Variable,
};

use super::{ARRAY, Generator, LOCAL, ModelShape, place};

/// Which of them a model has.
#[derive(Clone, Copy, Default)]
pub(super) struct Extras {
    record: Option<VarId>,
    grid: Option<VarId>,
    link: Option<VarId>,
    big: Option<(VarId, Scalar)>,
    color: Option<VarId>,
    other: Option<VarId>,
}

/// Values at which 64 bits, 63 bits and 32 bits end.
const HUGE: [i64; 9] = [
    i64::MAX,
    i64::MAX - 1,
    i64::MIN,
    i64::MIN + 1,
    1 << 62,
    -(1 << 62),
    1 << 32,
    -1,
    1,
];

const N_COLORS: u32 = 3;

impl Generator<'_> {
    pub(super) fn add_extras(&mut self) {
        let percent = if self.is_rich() { 30 } else { 15 };
        if self.random.chance(percent) {
            self.extras.record = Some(self.add_record());
        }
        if self.random.chance(percent) {
            let row = array(1, Type::Scalar(Scalar::Bool));
            let initial = self.zero_or_any(4);
            self.extras.grid = Some(self.add_variable("grid", array(0, row), None, initial));
        }

        if self.random.chance(percent) {
            let initial = if self.random.chance(20) {
                Initial::Any
            } else {
                Initial::Values(vec![Expr::Int(2), Expr::Int(1)])
            };
            let ty = array(1, Type::Scalar(Scalar::Range(1, 2)));
            self.extras.link = Some(self.add_variable("link", ty, None, initial));
        }

        if self.random.chance(percent) {
            self.extras.big = Some(self.add_big());
        }
        if self.random.chance(percent) {
            let variants = ["red", "green", "blue"].map(str::to_owned).to_vec();
            let name = "Color".into();
            self.parts.enums.push(EnumType { name, variants });
            let ty = Type::Scalar(Scalar::Enum(EnumId(0), N_COLORS));
            let initial = Initial::Values(vec![Expr::Enum(EnumId(0), 1)]);
            self.extras.color = Some(self.add_variable("color", ty, None, initial));
        }

        if self.random.chance(percent) {
            let ty = Type::Scalar(Scalar::Range(0, 2));
            // Members of a family may start with values of their own.
            let value = match self.plans[1].index {
                Some(range) if self.random.chance(60) => Expr::Bound(range.bound),
                _ => Expr::Int(1),
            };
            let initial = Initial::Values(vec![value]);
            self.extras.other = Some(self.add_variable("m", ty, Some(ProcessId(1)), initial));
        }
    }

    fn add_record(&mut self) -> VarId {
        self.parts.records.push(RecordType {
            name: "Pair".into(),
            fields: vec![
                ("low".into(), Type::Scalar(Scalar::Range(0, 1))),
                ("on".into(), Type::Scalar(Scalar::Bool)),
            ],
            form: model::RecordForm::Components,
        });
        let record = Type::Record(RecordId(0));
        let (ty, n_cells) = if self.is_rich() {
            (array(0, record), 4)
        } else {
            (record, 2)
        };
        let initial = self.zero_or_any(n_cells);
        self.add_variable("pair", ty, None, initial)
    }

    fn add_big(&mut self) -> (VarId, Scalar) {
        let is_wide = self.shape == ModelShape::Wide;
        let ty = match self.random.below(5) {
            0 if is_wide => Scalar::Range(i64::MIN, i64::MAX),
            1 | 2 if is_wide => Scalar::Int,
            3 => Scalar::Range(i64::MIN, i64::MIN + 1),
            _ => Scalar::Range(i64::MAX - 1, i64::MAX),
        };
        let narrow = matches!(ty, Scalar::Range(lo, hi) if hi.checked_sub(lo).is_some());
        let initial = if narrow && self.random.chance(30) {
            Initial::Any
        } else {
            Initial::Values(vec![Expr::Int(self.huge_within(ty))])
        };
        let var = self.add_variable("big", Type::Scalar(ty), None, initial);
        (var, ty)
    }

    fn zero_or_any(&mut self, n_cells: usize) -> Initial {
        if self.random.chance(10) {
            Initial::Any
        } else {
            Initial::Values(vec![Expr::Int(0); n_cells])
        }
    }

    fn add_variable(
        &mut self,
        name: &str,
        ty: Type,
        owner: Option<ProcessId>,
        initial: Initial,
    ) -> VarId {
        self.parts.vars.push(Variable {
            name: name.into(),
            ty,
            owner,
            initial,
            span: Span::nowhere(),
        });
        VarId::new(self.parts.vars.len() - 1)
    }

    /// An assignment to one of the extra variables, if there are any.
    pub(super) fn extra_assignment(&mut self) -> Option<StmtKind> {
        let extras = self.extras;
        let mut choices: Vec<StmtKind> = Vec::new();
        if let Some(var) = extras.record {
            let (low, on) = (self.component(var, 0), self.component(var, 1));
            let value = self.expr(1, true);
            let low_value = Expr::binary(BinaryOp::Mod, value, Expr::Int(2));
            choices.push(StmtKind::Assign(low, low_value));
            choices.push(StmtKind::Assign(on, self.condition(1, true)));
        }

        if let Some(var) = extras.grid {
            let cell = self.grid_cell(var);
            choices.push(StmtKind::Assign(cell, self.condition(1, true)));
        }

        if let Some(var) = extras.link {
            let index = self.small_index();
            let element = place(var, None, vec![Access::Index(index)]);
            let value = Expr::binary(BinaryOp::Mod, self.expr(1, true), Expr::Int(2));
            let value = Expr::binary(BinaryOp::Add, Expr::Int(1), value);
            choices.push(StmtKind::Assign(element, value));
        }

        if let Some((var, ty)) = extras.big {
            let is_narrow = matches!(ty, Scalar::Range(lo, hi) if hi.checked_sub(lo).is_some());
            let value = if !is_narrow || self.is_rich() {
                self.huge_expr(2)
            } else {
                Expr::Int(self.huge_within(ty))
            };
            choices.push(StmtKind::Assign(place(var, None, vec![]), value));
        }

        if let Some(var) = extras.color {
            let value = Expr::Enum(EnumId(0), self.random.below(N_COLORS as usize) as u32);
            choices.push(StmtKind::Assign(place(var, None, vec![]), value));
        }
        if let Some(var) = extras.other.filter(|_| self.process == ProcessId(1)) {
            let own = place(var, Some(Owner::Own), vec![]);
            let value = Expr::binary(BinaryOp::Mod, self.expr(1, true), Expr::Int(3));
            choices.push(StmtKind::Assign(own, value));
        }

        let n_choices = choices.len();
        (n_choices > 0).then(|| choices.swap_remove(self.random.below(n_choices)))
    }

    /// A condition that has a value in every state.
    pub(super) fn fact(&mut self) -> Expr {
        let extras = self.extras;
        let mut facts = vec![Expr::Read(place(
            ARRAY,
            None,
            vec![Access::Index(self.small_index())],
        ))];
        if let Some(var) = extras.record {
            facts.push(Expr::Read(self.component(var, 1)));
            let low = Expr::Read(self.component(var, 0));
            facts.push(Expr::binary(BinaryOp::Gt, low, Expr::Int(0)));
        }
        if let Some(var) = extras.grid {
            facts.push(Expr::Read(self.grid_cell(var)));
        }

        if let Some(var) = extras.link {
            // An index that is an element that is found by an element.
            let inner = place(var, None, vec![Access::Index(self.small_index())]);
            let outer = place(var, None, vec![Access::Index(Expr::Read(inner))]);
            let element = place(ARRAY, None, vec![Access::Index(Expr::Read(outer))]);
            facts.push(Expr::Read(element));
        }

        if let Some((var, _)) = extras.big {
            let ops = [BinaryOp::Lt, BinaryOp::Eq, BinaryOp::Ge, BinaryOp::Ne];
            let (op, value) = (*self.random.pick(&ops), *self.random.pick(&HUGE));
            let read = Expr::Read(place(var, None, vec![]));
            facts.push(Expr::binary(op, read, Expr::Int(value)));
        }

        if let Some(var) = extras.color {
            let value = Expr::Enum(EnumId(0), self.random.below(N_COLORS as usize) as u32);
            let read = Expr::Read(place(var, None, vec![]));
            facts.push(Expr::binary(BinaryOp::Eq, read, value));
        }
        if let Some(var) = extras.other {
            let place = place(var, Some(self.owner_of(1)), vec![]);
            let value = Expr::Int(self.random.below(3) as i64);
            facts.push(Expr::binary(BinaryOp::Le, Expr::Read(place), value));
        }

        if self.random.chance(30) {
            let place = place(LOCAL, Some(self.owner_of(0)), vec![]);
            facts.push(Expr::binary(
                BinaryOp::Eq,
                Expr::Read(place),
                Expr::Int(self.random.below(2) as i64),
            ));
        }

        if self.random.chance(30) {
            facts.push(self.whereabouts());
        }
        if !self.parts.channels.is_empty() {
            facts.push(self.fullness());
        }
        let chosen = self.random.below(facts.len());
        facts.swap_remove(chosen)
    }

    /// `len`, `empty` or `full` of a channel.
    pub(super) fn fullness(&mut self) -> Expr {
        let number = usize::from(self.random.chance(15));
        let channel = &self.parts.channels[number];
        let capacity = Expr::Int(channel.capacity as i64);
        let index = channel
            .indices
            .map(|_| Box::new(Expr::Int(self.random.below(2) as i64)));
        let channel = ChannelId::new(number);
        let length = Expr::Length(ChannelRef { channel, index });
        match self.random.below(3) {
            0 => Expr::binary(BinaryOp::Eq, length, Expr::Int(0)),
            1 => Expr::binary(BinaryOp::Ge, length, capacity),
            _ => Expr::binary(BinaryOp::Lt, length, capacity),
        }
    }

    /// Where some process is.
    pub(super) fn whereabouts(&mut self) -> Expr {
        let process = self.random.below(self.plans.len());
        let n_locations = self.plans[process].n_locations;
        let mut locations = vec![LocationId::new(self.random.below(n_locations))];
        if n_locations > 2 && self.random.chance(30) {
            let next = (locations[0].index() + 1) % n_locations;
            locations.push(LocationId::new(next));
        }
        Expr::At {
            process: ProcessId::new(process),
            owner: self.owner_of(process),
            locations,
        }
    }

    /// An instance of a process that exists.
    pub(super) fn owner_of(&mut self, process: usize) -> Owner {
        let Some(range) = self.plans[process].index else {
            return Owner::Single;
        };
        let n_members = (range.hi - range.lo + 1) as usize;
        let index = range.lo + self.random.below(n_members) as i64;
        Owner::Indexed(Box::new(Expr::Int(index)))
    }

    /// A number near the end of 64 bits, or in rich models what becomes of two of them.
    pub(super) fn huge_expr(&mut self, depth: usize) -> Expr {
        let leaf = match self.extras.big {
            Some((var, _)) if self.random.chance(60) => Expr::Read(place(var, None, vec![])),
            _ => Expr::Int(*self.random.pick(&HUGE)),
        };
        if depth == 0 || self.random.chance(40) {
            return leaf;
        }
        let right = self.huge_expr(depth - 1);
        let bitwise = [BinaryOp::BitAnd, BinaryOp::BitOr, BinaryOp::BitXor];
        if !self.is_rich() {
            return Expr::binary(*self.random.pick(&bitwise), leaf, right);
        }

        match self.random.below(10) {
            0 => Expr::Neg(Box::new(leaf)),
            1 => Expr::Wrap {
                bits: *self.random.pick(&[8, 16, 32, 63, 64]),
                signed: true,
                inner: Box::new(leaf),
            },
            2 => Expr::binary(*self.random.pick(&bitwise), leaf, right),
            3 | 4 => {
                let amounts = [-1, 0, 1, 31, 32, 62, 63, 64];
                let amount = Expr::Int(*self.random.pick(&amounts));
                let ops = [BinaryOp::Shl, BinaryOp::Shr];
                Expr::binary(*self.random.pick(&ops), leaf, amount)
            }
            _ => {
                let ops = [
                    BinaryOp::Add,
                    BinaryOp::Sub,
                    BinaryOp::Mul,
                    BinaryOp::Div,
                    BinaryOp::Mod,
                    BinaryOp::Quot,
                    BinaryOp::Rem,
                ];
                let small = self.expr(1, false);
                let right = if self.random.chance(50) { right } else { small };
                Expr::binary(*self.random.pick(&ops), leaf, right)
            }
        }
    }

    fn huge_within(&mut self, ty: Scalar) -> i64 {
        let fitting: Vec<i64> = HUGE.into_iter().filter(|v| ty.contains(*v)).collect();
        *self.random.pick(&fitting)
    }

    /// A component of the record, or of one of them.
    fn component(&mut self, var: VarId, field: usize) -> Place {
        let index = Expr::Int(self.random.below(2) as i64);
        let path = if self.is_rich() {
            vec![Access::Index(index), Access::Field(field)]
        } else {
            vec![Access::Field(field)]
        };
        place(var, None, path)
    }

    fn grid_cell(&mut self, var: VarId) -> Place {
        let row = Access::Index(Expr::Int(self.random.below(2) as i64));
        let column = Access::Index(self.small_index());
        place(var, None, vec![row, column])
    }

    /// 1 or 2; where there is an array of indices, sometimes one of its elements.
    fn small_index(&mut self) -> Expr {
        let known = Expr::Int(1 + self.random.below(2) as i64);
        match self.extras.link {
            Some(link) if self.random.chance(40) => {
                Expr::Read(place(link, None, vec![Access::Index(known)]))
            }
            _ => known,
        }
    }
}

fn array(lo: i64, element: Type) -> Type {
    let len = 2;
    Type::Array(Box::new(ArrayType { lo, len, element }))
}
