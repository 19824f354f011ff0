//! The tree of a program, run as the reference of the language describes it.

use std::collections::BTreeMap;

use super::{COLORS, Exp, Initial, Op, Process, Program, QuantifierWord, Ty, Variable};

/// The scalar components of a configuration by name, as numbers: Booleans are 0 and 1, values of an
/// enumeration their position.
pub type Cells = BTreeMap<String, i64>;

/// A state of a program.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Configuration {
    /// The variables.
    pub cells: Cells,
    /// The location of every process, by its name.
    pub locations: BTreeMap<String, &'static str>,
    /// The messages in every single channel, oldest first.
    pub channels: BTreeMap<String, Vec<Vec<i64>>>,
}

/// A step of a program.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Move {
    /// The names of the actions, sorted.
    pub actions: Vec<String>,
    /// The names of the processes that move, sorted.
    pub movers: Vec<String>,
    /// Where it leads.
    pub target: Configuration,
}

/// A run-time error.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Fault;

/// A scalar value with its type.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Value {
    Int(i64),
    Bool(bool),
    Color(usize),
    /// The argument of a definition that has no value. That counts only where it is used.
    Wrong,
}

impl Value {
    pub(super) fn number(self) -> i64 {
        match self {
            Self::Int(value) => value,
            Self::Bool(value) => i64::from(value),
            Self::Color(value) => value as i64,
            Self::Wrong => panic!("it has no value"),
        }
    }

    pub(super) fn int(self) -> i64 {
        match self {
            Self::Int(value) => value,
            Self::Bool(_) | Self::Color(_) | Self::Wrong => panic!("a number is needed"),
        }
    }

    pub(super) fn bool(self) -> bool {
        match self {
            Self::Bool(value) => value,
            Self::Int(_) | Self::Color(_) | Self::Wrong => panic!("a truth value is needed"),
        }
    }
}

/// Runs a program.
pub struct Interpreter<'p> {
    pub(super) program: &'p Program,
    /// Name, process, index.
    pub(super) instances: Vec<(String, &'p Process, Option<i64>)>,
}

/// Where an expression is evaluated.
#[derive(Clone)]
pub(super) struct Scope<'s> {
    pub(super) configuration: &'s Configuration,
    pub(super) instance: Option<usize>,
    pub(super) bound: Vec<(String, Value)>,
}

impl<'p> Interpreter<'p> {
    /// Prepares a program.
    #[must_use]
    pub fn new(program: &'p Program) -> Self {
        let mut instances = Vec::new();
        for process in &program.processes {
            match process.index {
                None => instances.push((process.name.to_owned(), process, None)),
                Some((_, lo, hi)) => {
                    for index in lo..=hi {
                        let name = format!("{}[{index}]", process.name);
                        instances.push((name, process, Some(index)));
                    }
                }
            }
        }
        Self { program, instances }
    }

    /// All states in which the program may start.
    ///
    /// # Errors
    /// A run-time error in a condition on initial states.
    pub fn initial(&self) -> Result<Vec<Configuration>, Fault> {
        let mut found = vec![Configuration {
            cells: Cells::new(),
            locations: BTreeMap::new(),
            channels: self.empty_channels(),
        }];
        for variable in &self.program.vars {
            found = self.started(found, variable, "", None)?;
        }

        for (number, (name, process, _)) in self.instances.iter().enumerate() {
            for variable in &process.vars {
                found = self.started(found, variable, &format!("{name}."), Some(number))?;
            }
            let starts = found.into_iter().flat_map(|configuration| {
                process.initial.iter().map(move |location| {
                    let mut configuration = configuration.clone();
                    configuration.locations.insert(name.clone(), location);
                    configuration
                })
            });
            found = starts.collect();
        }

        let mut kept = Vec::new();
        for configuration in found {
            let scope = Scope {
                configuration: &configuration,
                instance: None,
                bound: Vec::new(),
            };
            let mut holds = true;
            for condition in &self.program.init {
                holds = holds && self.eval(condition, &scope)?.bool();
            }
            if holds {
                kept.push(configuration);
            }
        }

        Ok(kept)
    }

    /// Is each of the questions of the program true in a state?
    ///
    /// # Errors
    /// A run-time error in one of them.
    pub fn answers(&self, configuration: &Configuration) -> Result<Vec<bool>, Fault> {
        let scope = Scope {
            configuration,
            instance: None,
            bound: Vec::new(),
        };
        let questions = self.program.questions.iter();
        questions
            .map(|question| Ok(self.eval(question, &scope)?.bool()))
            .collect()
    }

    fn empty_channels(&self) -> BTreeMap<String, Vec<Vec<i64>>> {
        let mut channels = BTreeMap::new();
        for channel in &self.program.channels {
            match channel.indices {
                None => drop(channels.insert(channel.name.to_owned(), Vec::new())),
                Some((lo, hi)) => {
                    for index in lo..=hi {
                        channels.insert(format!("{}[{index}]", channel.name), Vec::new());
                    }
                }
            }
        }
        channels
    }

    fn started(
        &self,
        configurations: Vec<Configuration>,
        variable: &Variable,
        prefix: &str,
        instance: Option<usize>,
    ) -> Result<Vec<Configuration>, Fault> {
        let name = format!("{prefix}{}", variable.name);
        let mut cells = Vec::new();
        list_cells(&name, &variable.ty, &mut cells);

        let mut found = Vec::new();
        for configuration in configurations {
            match &variable.initial {
                Initial::Any => {
                    let mut all = vec![configuration];
                    for (cell, ty) in &cells {
                        let branch = |c: &Configuration| {
                            let c = c.clone();
                            values_of(ty).into_iter().map(move |value| {
                                let mut c = c.clone();
                                c.cells.insert(cell.clone(), value.number());
                                c
                            })
                        };
                        all = all.iter().flat_map(branch).collect();
                    }
                    found.extend(all);
                }
                Initial::Default => {
                    let mut configuration = configuration;
                    for (cell, ty) in &cells {
                        // The default is zero or, where the range does not contain it, the least
                        // value.
                        let value = match ty {
                            Ty::Range(lo, hi) => {
                                if (*lo..=*hi).contains(&0) {
                                    0
                                } else {
                                    *lo
                                }
                            }
                            _ => 0,
                        };
                        configuration.cells.insert(cell.clone(), value);
                    }
                    found.push(configuration);
                }
                Initial::Value(value) => {
                    let scope = Scope {
                        configuration: &configuration,
                        instance,
                        bound: Vec::new(),
                    };
                    let mut values = Vec::new();
                    self.spread(value, &variable.ty, &scope, &mut values)?;
                    let mut configuration = configuration.clone();
                    for ((cell, ty), value) in cells.iter().zip(values) {
                        check_range(ty, value)?;
                        configuration.cells.insert(cell.clone(), value.number());
                    }
                    found.push(configuration);
                }
            }
        }

        Ok(found)
    }

    /// The values of all cells of a composite value.
    pub(super) fn spread(
        &self,
        exp: &Exp,
        ty: &Ty,
        scope: &Scope<'_>,
        values: &mut Vec<Value>,
    ) -> Result<(), Fault> {
        match (ty, exp) {
            (Ty::Array(_, _, element), Exp::List(items)) => {
                for item in items {
                    self.spread(item, element, scope, values)?;
                }
            }
            (Ty::Array(_, _, element), Exp::Comprehension(name, lo, hi, body)) => {
                for value in *lo..=*hi {
                    let mut scope = scope.clone();
                    scope.bound.push((name.clone(), Value::Int(value)));
                    self.spread(body, element, &scope, values)?;
                }
            }
            (Ty::Message, Exp::Call("Message", arguments)) => {
                values.push(self.eval(&arguments[0], scope)?);
                values.push(self.eval(&arguments[1], scope)?);
            }
            (Ty::Array(..) | Ty::Message, Exp::Name(name))
                if self
                    .program
                    .vars
                    .iter()
                    .any(|v| v.name == name && v.ty == *ty) =>
            {
                // A whole variable.
                let mut cells = Vec::new();
                list_cells(name, ty, &mut cells);
                for (cell, ty) in cells {
                    values.push(typed(&ty, scope.configuration.cells[&cell]));
                }
            }
            // One value for all cells.
            (Ty::Array(lo, hi, element), _) => {
                for _ in *lo..=*hi {
                    self.spread(exp, element, scope, values)?;
                }
            }
            _ => values.push(self.eval(exp, scope)?),
        }

        Ok(())
    }

    pub(super) fn eval(&self, exp: &Exp, scope: &Scope<'_>) -> Result<Value, Fault> {
        Ok(match exp {
            Exp::Int(value) => Value::Int(*value),
            Exp::Bool(value) => Value::Bool(*value),
            Exp::Name(_) | Exp::Index(..) | Exp::Field(..) => self.read(exp, scope)?,
            Exp::Call(name, arguments) => self.call(name, arguments, scope)?,
            Exp::Channel(word, channel) => {
                let (name, capacity) = self.channel(channel, scope)?;
                let n_messages = scope.configuration.channels[&name].len();
                match *word {
                    "len" => Value::Int(n_messages as i64),
                    "empty" => Value::Bool(n_messages == 0),
                    _ => Value::Bool(n_messages >= capacity),
                }
            }
            Exp::At(process, locations) => {
                let name = match process {
                    None => self.instances[scope.instance.expect("in a process")]
                        .0
                        .clone(),
                    Some((name, None)) => (*name).to_owned(),
                    Some((name, Some(index))) => format!("{name}[{index}]"),
                };
                Value::Bool(locations.contains(&scope.configuration.locations[&name]))
            }
            Exp::Not(inner) => Value::Bool(!self.eval(inner, scope)?.bool()),
            Exp::Minus(inner) => {
                let value = self.eval(inner, scope)?.int();
                Value::Int(value.checked_neg().ok_or(Fault)?)
            }
            Exp::Binary(op, left, right) => self.binary(*op, left, right, scope)?,
            Exp::If(condition, then, otherwise) => {
                let is_true = self.eval(condition, scope)?.bool();
                self.eval(if is_true { then } else { otherwise }, scope)?
            }
            Exp::Quantified(kind, binders, body) => {
                let (mut n_true, mut n_all, mut sum) = (0, 0, 0_i64);
                let decided = |n_true: i64, n_all: i64| match kind {
                    QuantifierWord::Forall => n_true < n_all,
                    QuantifierWord::Exists => n_true > 0,
                    QuantifierWord::Count | QuantifierWord::Sum => false,
                };
                // What comes behind the first instance that decides is not looked at.
                self.bindings(binders, scope, &mut |inner| {
                    if decided(n_true, n_all) {
                        return Ok(());
                    }
                    let value = self.eval(body, inner)?;
                    n_all += 1;
                    match kind {
                        QuantifierWord::Sum => sum = sum.checked_add(value.int()).ok_or(Fault)?,
                        QuantifierWord::Forall | QuantifierWord::Exists | QuantifierWord::Count => {
                            n_true += i64::from(value.bool());
                        }
                    }
                    Ok(())
                })?;
                match kind {
                    QuantifierWord::Forall => Value::Bool(n_true == n_all),
                    QuantifierWord::Exists => Value::Bool(n_true > 0),
                    QuantifierWord::Count => Value::Int(n_true),
                    QuantifierWord::Sum => Value::Int(sum),
                }
            }
            Exp::List(_) | Exp::Comprehension(..) => panic!("a single value is needed"),
        })
    }

    /// Calls `visit` for all values of the names that satisfy the conditions, in order.
    pub(super) fn bindings(
        &self,
        binders: &[super::Binder],
        scope: &Scope<'_>,
        visit: &mut dyn FnMut(&Scope<'_>) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        let Some((first, rest)) = binders.split_first() else {
            return visit(scope);
        };
        let (lo, hi) = (
            self.eval(&first.lo, scope)?.int(),
            self.eval(&first.hi, scope)?.int(),
        );
        let mut scopes = vec![scope.clone()];

        for name in &first.names {
            let mut longer = Vec::new();
            for outer in &scopes {
                for value in lo..=hi {
                    let mut inner = outer.clone();
                    inner.bound.push((name.clone(), Value::Int(value)));
                    longer.push(inner);
                }
            }
            scopes = longer;
        }

        for inner in scopes {
            let fits = match &first.condition {
                None => true,
                Some(condition) => self.eval(condition, &inner)?.bool(),
            };
            if fits {
                self.bindings(rest, &inner, visit)?;
            }
        }

        Ok(())
    }

    fn binary(&self, op: Op, left: &Exp, right: &Exp, scope: &Scope<'_>) -> Result<Value, Fault> {
        let a = self.eval(left, scope)?;
        match op {
            Op::And if !a.bool() => return Ok(Value::Bool(false)),
            Op::Or if a.bool() => return Ok(Value::Bool(true)),
            Op::Implies if !a.bool() => return Ok(Value::Bool(true)),
            _ => {}
        }

        let b = self.eval(right, scope)?;
        let number = |value: Option<i64>| value.map(Value::Int).ok_or(Fault);
        match op {
            Op::And | Op::Or | Op::Implies => Ok(Value::Bool(b.bool())),
            Op::Iff => Ok(Value::Bool(a.bool() == b.bool())),
            Op::Eq | Op::Ne => {
                assert_eq!(
                    std::mem::discriminant(&a),
                    std::mem::discriminant(&b),
                    "values of one type are compared"
                );
                Ok(Value::Bool((a == b) == (op == Op::Eq)))
            }
            Op::Lt => Ok(Value::Bool(a.int() < b.int())),
            Op::Le => Ok(Value::Bool(a.int() <= b.int())),
            Op::Gt => Ok(Value::Bool(a.int() > b.int())),
            Op::Ge => Ok(Value::Bool(a.int() >= b.int())),
            Op::Add => number(a.int().checked_add(b.int())),
            Op::Sub => number(a.int().checked_sub(b.int())),
            Op::Mul => number(a.int().checked_mul(b.int())),
            Op::Div => number(a.int().checked_div_euclid(b.int())),
            Op::Mod => number(a.int().checked_rem_euclid(b.int())),
        }
    }

    fn call(&self, name: &str, arguments: &[Exp], scope: &Scope<'_>) -> Result<Value, Fault> {
        let number = |n: usize| Ok(self.eval(&arguments[n], scope)?.int());
        match name {
            "min" => return Ok(Value::Int(number(0)?.min(number(1)?))),
            "max" => return Ok(Value::Int(number(0)?.max(number(1)?))),
            "abs" => return Ok(Value::Int(number(0)?.checked_abs().ok_or(Fault)?)),
            _ => {}
        }
        let def = self.definition(name, scope).expect("it is declared");
        let values = arguments
            .iter()
            .map(|a| self.eval(a, scope).unwrap_or(Value::Wrong));
        let mut inner = scope.clone();
        inner.bound = def.parameters.iter().cloned().zip(values).collect();
        self.eval(&def.body, &inner)
    }

    fn definition(&self, name: &str, scope: &Scope<'_>) -> Option<&super::Def> {
        let own = scope
            .instance
            .map(|instance| &self.instances[instance].1.defs);
        let mut all = own.into_iter().flatten().chain(&self.program.defs);
        all.find(|def| def.name == name)
    }

    fn read(&self, exp: &Exp, scope: &Scope<'_>) -> Result<Value, Fault> {
        if let Exp::Name(name) = exp {
            if let Some((_, value)) = scope.bound.iter().rev().find(|(n, _)| n == name) {
                return match value {
                    Value::Wrong => Err(Fault),
                    value => Ok(*value),
                };
            }
            if let Some((_, process, Some(index))) = scope.instance.map(|i| &self.instances[i])
                && process.index.is_some_and(|(bound, ..)| bound == name)
            {
                return Ok(Value::Int(*index));
            }
            if name == "N" {
                return Ok(Value::Int(self.program.n));
            }
            if let Some(color) = COLORS.iter().position(|color| color == name) {
                return Ok(Value::Color(color));
            }
            if let Some(def) = self.definition(name, scope) {
                let mut inner = scope.clone();
                inner.bound.clear();
                return self.eval(&def.body, &inner);
            }
        }

        let (cell, ty) = self.place(exp, scope)?;
        Ok(typed(&ty, scope.configuration.cells[&cell]))
    }

    /// The name of the cell or composite variable, and its type.
    pub(super) fn place(&self, exp: &Exp, scope: &Scope<'_>) -> Result<(String, Ty), Fault> {
        match exp {
            Exp::Name(name) => {
                let (variable, prefix) = self.variable(name, scope);
                Ok((format!("{prefix}{name}"), variable.ty.clone()))
            }
            Exp::Index(array, index) => {
                let (name, ty) = self.place(array, scope)?;
                let Ty::Array(lo, hi, element) = ty else {
                    panic!("only arrays have elements");
                };
                let index = self.eval(index, scope)?.int();
                if !(lo..=hi).contains(&index) {
                    return Err(Fault);
                }
                Ok((format!("{name}[{index}]"), *element))
            }
            Exp::Field(record, field) => {
                let (name, _) = self.place(record, scope)?;
                let ty = match *field {
                    "low" => Ty::Range(0, 2),
                    _ => Ty::Bool,
                };
                Ok((format!("{name}.{field}"), ty))
            }
            _ => panic!("a place is needed"),
        }
    }

    fn variable(&self, name: &str, scope: &Scope<'_>) -> (&Variable, String) {
        if let Some(instance) = scope.instance {
            let (own, process, _) = &self.instances[instance];
            if let Some(variable) = process.vars.iter().find(|v| v.name == name) {
                return (variable, format!("{own}."));
            }
        }
        let variable = self.program.vars.iter().find(|v| v.name == name);
        (variable.expect("it is declared"), String::new())
    }

    /// The name of a single channel and its capacity.
    pub(super) fn channel(
        &self,
        channel: &super::Channel,
        scope: &Scope<'_>,
    ) -> Result<(String, usize), Fault> {
        let mut all = self.program.channels.iter();
        let decl = all.find(|d| d.name == channel.name).expect("declared");
        let name = match (&channel.index, decl.indices) {
            (Some(index), Some((lo, hi))) => {
                let index = self.eval(index, scope)?.int();
                if !(lo..=hi).contains(&index) {
                    return Err(Fault);
                }
                format!("{}[{index}]", decl.name)
            }
            _ => decl.name.to_owned(),
        };
        Ok((name, decl.capacity))
    }
}

/// The cells of a variable in order, with their types.
pub(super) fn list_cells(name: &str, ty: &Ty, cells: &mut Vec<(String, Ty)>) {
    match ty {
        Ty::Bool | Ty::Range(..) | Ty::Color => cells.push((name.to_owned(), ty.clone())),
        Ty::Message => {
            cells.push((format!("{name}.low"), Ty::Range(0, 2)));
            cells.push((format!("{name}.on"), Ty::Bool));
        }
        Ty::Array(lo, hi, element) => {
            for index in *lo..=*hi {
                list_cells(&format!("{name}[{index}]"), element, cells);
            }
        }
    }
}

/// All values of a scalar type.
pub(super) fn values_of(ty: &Ty) -> Vec<Value> {
    match ty {
        Ty::Bool => vec![Value::Bool(false), Value::Bool(true)],
        Ty::Range(lo, hi) => (*lo..=*hi).map(Value::Int).collect(),
        Ty::Color => (0..COLORS.len()).map(Value::Color).collect(),
        Ty::Message | Ty::Array(..) => panic!("a scalar is needed"),
    }
}

pub(super) fn typed(ty: &Ty, number: i64) -> Value {
    match ty {
        Ty::Bool => Value::Bool(number != 0),
        Ty::Range(..) => Value::Int(number),
        Ty::Color => Value::Color(number as usize),
        Ty::Message | Ty::Array(..) => panic!("a scalar is needed"),
    }
}

pub(super) fn check_range(ty: &Ty, value: Value) -> Result<(), Fault> {
    match ty {
        Ty::Range(lo, hi) if !(*lo..=*hi).contains(&value.int()) => Err(Fault),
        _ => Ok(()),
    }
}
