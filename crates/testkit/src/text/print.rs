//! Programs as text: words or symbols, parentheses only where precedence demands them (or for no
//! reason), random layout.

use super::{
    Binder, Channel, Communication, Def, Exp, Initial, Op, Pattern, Process, Program,
    QuantifierWord, Step, Stmt, Ty, Variable,
};
use crate::Random;

/// How tightly things bind, from loose to tight.
const OPEN: u8 = 0;
const IFF: u8 = 1;
const IMPLIES: u8 = 2;
const OR: u8 = 3;
const AND: u8 = 4;
const PREFIX: u8 = 6;
const COMPARISON: u8 = 7;
const SUM: u8 = 8;
const PRODUCT: u8 = 9;
const MINUS: u8 = 10;
const POSTFIX: u8 = 11;

impl Program {
    /// The text of the program in a syntax that `random` chooses.
    #[must_use]
    pub fn text(&self, random: &mut Random) -> String {
        let mut printer = Printer {
            random,
            n: self.n,
            in_step: false,
            bound: Vec::new(),
            procedures: Vec::new(),
        };

        let mut parts = vec![
            format!("const N = {}", self.n),
            "enum Color { red, green, blue }".to_owned(),
            "record Message { low : 0..2, on : bool }".to_owned(),
        ];

        if self.synchronous {
            parts.push("synchronous".to_owned());
        }

        parts.extend(self.vars.iter().map(|v| printer.variable(v)));
        parts.extend(self.init.iter().map(|e| format!("init {}", printer.top(e))));
        parts.extend(self.defs.iter().map(|d| printer.def(d)));

        for channel in &self.channels {
            let types: Vec<String> = channel.payload.iter().map(|t| printer.ty(t)).collect();

            let range = channel.indices.map_or(String::new(), |(lo, hi)| {
                let name = if printer.random.chance(50) {
                    "k in "
                } else {
                    ""
                };
                format!(" for {name}{lo}..{hi}")
            });

            let room = match channel.capacity {
                0 if printer.random.chance(50) => String::new(),
                n => format!("[{n}]"),
            };
            let payload = match types.as_slice() {
                [one] => one.clone(),
                several => format!("({})", several.join(", ")),
            };

            parts.push(format!("chan {}{room}{range} of {payload}", channel.name));
        }

        for (name, has_argument) in &self.events {
            let argument = if *has_argument { "(0..1)" } else { "" };
            parts.push(format!("event {name}{argument}"));
        }

        parts.extend(self.processes.iter().map(|p| printer.process(p)));
        for (number, question) in self.questions.iter().enumerate() {
            let condition = printer.top(question);
            parts.push(format!("invariant i{number}: {condition}"));
            parts.push(format!("reachable r{number}: {}", printer.top(question)));
        }

        // Every separator means the same, so that any may stand anywhere.
        let mut text = String::new();
        for part in parts {
            text.push_str(&part);
            text.push_str(printer.pick(&["\n", ";\n", "\n\n", "; ", " // end\n", " /* end */ "]));
        }
        text
    }
}

struct Printer<'r> {
    random: &'r mut Random,
    n: i64,
    /// Guards, messages and effects: there `->` is not an implication.
    in_step: bool,
    /// Names that are bound where an effect is being printed.
    bound: Vec<String>,
    /// Declarations of procedures that the process needs.
    procedures: Vec<String>,
}

impl Printer<'_> {
    fn pick(&mut self, words: &[&'static str]) -> &'static str {
        words[self.random.below(words.len())]
    }

    /// A constant, sometimes by means of the constant `N`.
    fn number(&mut self, value: i64) -> String {
        match self.random.below(4) {
            0 if value == self.n => "N".to_owned(),
            1 if value == self.n - 1 => "N - 1".to_owned(),
            _ => value.to_string(),
        }
    }

    fn ty(&mut self, ty: &Ty) -> String {
        match ty {
            Ty::Bool => "bool".to_owned(),
            Ty::Range(lo, hi) => format!("{}..{}", self.number(*lo), self.number(*hi)),
            Ty::Color => "Color".to_owned(),
            Ty::Message => "Message".to_owned(),
            Ty::Array(lo, hi, element) => {
                let is_range = matches!(**element, Ty::Range(..));
                let is_long = matches!(&**element, Ty::Array(lo, ..) if *lo != 0);
                if *lo == 0
                    && !is_range
                    && !is_long
                    && self.random.chance(50)
                    && let Some(text) = self.counted(ty)
                {
                    return text;
                }
                let range = self.ty(&Ty::Range(*lo, *hi));
                format!("array[{range}] of {}", self.ty(element))
            }
        }
    }

    /// `bool[2][3]`, if the type can be written so.
    fn counted(&mut self, ty: &Ty) -> Option<String> {
        let (mut sizes, mut inner) = (String::new(), ty);
        while let Ty::Array(lo, hi, element) = inner {
            if *lo != 0 {
                return None;
            }
            sizes.push_str(&format!("[{}]", self.number(hi + 1)));
            inner = element;
        }
        match inner {
            Ty::Range(..) => None,
            Ty::Bool | Ty::Color | Ty::Message => Some(format!("{}{sizes}", self.ty(inner))),
            Ty::Array(..) => unreachable!("the loop ends behind arrays"),
        }
    }

    fn variable(&mut self, variable: &Variable) -> String {
        let ty = self.ty(&variable.ty);
        let value = match &variable.initial {
            Initial::Default => String::new(),
            Initial::Any => " = any".to_owned(),
            Initial::Value(value) => format!(" = {}", self.top(value)),
        };
        format!("var {} : {ty}{value}", variable.name)
    }

    fn def(&mut self, def: &Def) -> String {
        let parameters = if def.parameters.is_empty() {
            String::new()
        } else {
            format!("({})", def.parameters.join(", "))
        };
        format!("def {}{parameters} = {}", def.name, self.top(&def.body))
    }

    fn process(&mut self, process: &Process) -> String {
        let index = process.index.map_or(String::new(), |(name, lo, hi)| {
            format!("({name} in {}..{})", self.number(lo), self.number(hi))
        });
        let mut text = format!("process {}{index} {{\n", process.name);
        for variable in &process.vars {
            text.push_str(&format!("    {}\n", self.variable(variable)));
        }
        for def in &process.defs {
            text.push_str(&format!("    {}\n", self.def(def)));
        }
        let has_locations = process.locations != ["main"];
        if has_locations {
            text.push_str(&format!("    init {}\n", process.initial.join(", ")));
            for location in &process.locations {
                text.push_str(&format!("    from {location} {{ }}\n"));
            }
        }

        for block in &process.blocks {
            let steps: String = block.steps.iter().map(|s| self.step(s)).collect();
            let sources = block
                .sources
                .as_ref()
                .map_or("*".to_owned(), |s| s.join(", "));
            if has_locations {
                text.push_str(&format!("    from {sources} {{\n{steps}    }}\n"))
            } else {
                text.push_str(&steps)
            }
        }

        for procedure in std::mem::take(&mut self.procedures) {
            text.push_str(&format!("    {procedure}\n"));
        }
        text.push_str("}\n");
        text
    }

    /// A communication; nothing if there is none.
    fn communication(&mut self, communication: &Communication) -> Option<String> {
        Some(match communication {
            Communication::Alone => return None,
            Communication::Event(name, arguments) => {
                let arguments: Vec<String> = arguments.iter().map(|a| self.top(a)).collect();
                let list = if arguments.is_empty() {
                    String::new()
                } else {
                    format!("({})", arguments.join(", "))
                };
                format!("sync {name}{list}")
            }
            Communication::Send(channel, payload) => {
                let payload: Vec<String> = payload.iter().map(|e| self.top(e)).collect();
                let message = match payload.as_slice() {
                    // What begins with a parenthesis is taken for a list.
                    [one] if !one.starts_with('(') && self.random.chance(50) => one.clone(),
                    several => format!("({})", several.join(", ")),
                };
                format!("{} ! {message}", self.channel(channel))
            }
            Communication::Receive(channel, patterns, manner) => {
                let patterns: Vec<String> = patterns.iter().map(|p| self.pattern(p)).collect();
                let message = match patterns.as_slice() {
                    several if manner.is_peek => format!("<{}>", several.join(", ")),
                    [one] => one.clone(),
                    several => format!("({})", several.join(", ")),
                };
                let sign = if manner.is_any { "??" } else { "?" };
                format!("{} {sign} {message}", self.channel(channel))
            }
            Communication::ForEach(name, lo, hi, inner) => {
                format!("for {name} in {lo}..{hi}: {}", self.communication(inner)?)
            }
        })
    }

    fn step(&mut self, step: &Step) -> String {
        self.in_step = true;
        let mut clauses = Vec::new();
        for guard in &step.guards {
            clauses.push(format!("when {}", self.top(guard)));
        }
        let communications = [&step.communication].into_iter().chain(&step.more);
        let written = communications.filter_map(|c| self.communication(c));
        let written: Vec<String> = written.collect();
        if !written.is_empty() {
            let between = if self.random.chance(70) { "; " } else { " " };
            clauses.push(written.join(between));
        }
        let is_alone = matches!(step.communication, Communication::Alone);
        if step.guards.is_empty() && is_alone && step.effect.is_empty() && step.target.is_none() {
            // A step of which nothing is said must be said to do nothing.
            clauses.push("{ skip }".to_owned());
        } else if !step.effect.is_empty() || self.random.chance(10) {
            let names = step.parameters.iter().flat_map(|binder| &binder.names);
            self.bound = names.cloned().collect();
            clauses.push(format!("{{ {} }}", self.stmts(&step.effect)));
            self.bound.clear();
        }
        // The parts may come in any order; conditions are looked at in the order of the text.
        if self.random.chance(30) {
            clauses.rotate_left(step.guards.len());
        }
        let parameters = if step.parameters.is_empty() {
            String::new()
        } else {
            format!("({})", self.binders(&step.parameters))
        };
        let target = step.target.map_or(String::new(), |t| format!(" -> {t}"));
        self.in_step = false;
        let end = self.pick(&["\n", ";\n", " // step\n"]);
        let clauses = clauses.join(self.pick(&[" ", "\n            "]));
        format!("        {}{parameters} {clauses}{target}{end}", step.name)
    }

    fn pattern(&mut self, pattern: &Pattern) -> String {
        match pattern {
            Pattern::Ignore => "_".to_owned(),
            Pattern::Equal(value) => format!("({})", self.top(value)),
            Pattern::Store(place) => self.bare(place),
        }
    }

    /// Statements, now and then as a procedure of the process.
    fn stmts(&mut self, stmts: &[Stmt]) -> String {
        let n_bound = self.bound.len();
        let mut text = String::new();
        for stmt in stmts {
            text.push_str(&self.stmt(stmt));
            text.push_str(self.pick(&["; ", "\n                ", ";\n                "]));
        }
        self.bound.truncate(n_bound);
        if stmts.is_empty() || !self.random.chance(15) {
            return text;
        }
        let used = self.bound.iter().filter(|name| mentions(&text, name));
        let used: Vec<String> = used.cloned().collect();
        self.procedure(&used, &text, &used)
    }

    /// Declares a procedure and calls it.
    fn procedure(&mut self, parameters: &[String], body: &str, arguments: &[String]) -> String {
        let name = format!("procedure{}", self.random.below(1_000_000_000));
        let list = match parameters {
            [] if self.random.chance(50) => String::new(),
            several => format!("({})", several.join(", ")),
        };
        // An empty list of parameters is not written.
        let list = if list == "()" { String::new() } else { list };
        self.procedures
            .push(format!("def {name}{list} {{ {body} }}"));
        format!("{name}({})", arguments.join(", "))
    }

    fn stmt(&mut self, stmt: &Stmt) -> String {
        match stmt {
            Stmt::Assign(places, values) if is_number(places) && self.random.chance(20) => {
                let argument = self.top(&values[0]);
                self.procedure(&["given".to_owned()], "x := given", &[argument])
            }
            Stmt::Assign(places, values) => {
                let places: Vec<String> = places.iter().map(|p| self.bare(p)).collect();
                let values: Vec<String> = values.iter().map(|v| self.top(v)).collect();
                format!("{} := {}", places.join(", "), values.join(", "))
            }
            Stmt::Choose(place, name, ty, condition) => {
                let name = name.as_ref().map_or(String::new(), |n| format!("{n} in "));
                let place = self.bare(place);
                let ty = self.ty(ty);
                let condition = condition.as_ref().map_or(String::new(), |condition| {
                    format!(" where {}", self.top(condition))
                });
                format!("{place} := choose {name}{ty}{condition}")
            }
            Stmt::Let(name, value) => {
                let value = self.top(value);
                self.bound.push(name.clone());
                format!("let {name} = {value}")
            }
            Stmt::LetChoose(name, ty) => {
                self.bound.push(name.clone());
                format!("let {name} = choose {}", self.ty(ty))
            }
            Stmt::If(condition, then, otherwise) => {
                let condition = self.top(condition);
                let then = self.stmts(then);
                let rest = match otherwise.as_slice() {
                    [] if self.random.chance(50) => String::new(),
                    [only @ Stmt::If(..)] if self.random.chance(50) => {
                        format!(" else {}", self.stmt(only))
                    }
                    several => format!(" else {{ {} }}", self.stmts(several)),
                };
                format!("if {condition} {{ {then} }}{rest}")
            }
            Stmt::For(name, lo, hi, body) => {
                let (lo, hi) = (self.exp(lo, SUM), self.exp(hi, SUM));
                self.bound.push(name.clone());
                let body = self.stmts(body);
                self.bound.pop();
                format!("for {name} in {lo}..{hi} {{ {body} }}")
            }
            Stmt::Assert(condition) => format!("assert {}", self.top(condition)),
            Stmt::Skip => "skip".to_owned(),
        }
    }

    fn channel(&mut self, channel: &Channel) -> String {
        let index = channel.index.as_ref();
        let index = index.map_or(String::new(), |index| format!("[{}]", self.top(index)));
        format!("{}{index}", channel.name)
    }

    fn binders(&mut self, binders: &[Binder]) -> String {
        let list: Vec<String> = binders
            .iter()
            .map(|binder| {
                let (lo, hi) = (self.exp(&binder.lo, SUM), self.exp(&binder.hi, SUM));
                let condition = binder.condition.as_ref().map_or(String::new(), |c| {
                    // A comma or colon follows.
                    format!(" where {}", self.exp(c, IFF))
                });
                format!("{} in {lo}..{hi}{condition}", binder.names.join(", "))
            })
            .collect();
        list.join(", ")
    }

    fn top(&mut self, exp: &Exp) -> String {
        self.exp(exp, OPEN)
    }

    /// The expression as an operand of something that binds as tightly as `least`.
    fn exp(&mut self, exp: &Exp, least: u8) -> String {
        let is_wrapped = level(exp) < least || self.random.chance(4);
        if !is_wrapped {
            return self.bare(exp);
        }
        // In parentheses an arrow is an implication everywhere.
        let in_step = std::mem::replace(&mut self.in_step, false);
        let inner = self.bare(exp);
        self.in_step = in_step;
        format!("({inner})")
    }

    fn bare(&mut self, exp: &Exp) -> String {
        match exp {
            Exp::Int(value) => {
                if *value >= 0 {
                    self.literal(*value)
                } else {
                    format!("-{}", value.unsigned_abs())
                }
            }
            Exp::Bool(value) => value.to_string(),
            Exp::Name(name) => {
                let is_color = super::COLORS.contains(&name.as_str());
                if is_color && self.random.chance(30) {
                    format!("Color.{name}")
                } else {
                    name.clone()
                }
            }
            Exp::Index(array, index) => {
                format!("{}[{}]", self.bare(array), self.inside(index))
            }
            Exp::Field(record, field) => format!("{}.{field}", self.bare(record)),
            Exp::Call(name, arguments) => {
                let arguments: Vec<String> = arguments.iter().map(|a| self.inside(a)).collect();
                format!("{name}({})", arguments.join(", "))
            }
            Exp::Channel(word, channel) => format!("{word}({})", self.channel(channel)),
            Exp::At(process, locations) => {
                let process = process.map_or(String::new(), |(name, index)| {
                    let index = index.map_or(String::new(), |index| format!("[{index}]"));
                    format!("{name}{index} ")
                });
                match locations.as_slice() {
                    [one] if self.random.chance(70) => format!("{process}@ {one}"),
                    several => format!("{process}@ {{{}}}", several.join(", ")),
                }
            }
            Exp::Not(inner) => {
                let word = self.pick(&["!", "not "]);
                format!("{word}{}", self.exp(inner, PREFIX))
            }
            Exp::Minus(inner) => format!("-{}", self.exp(inner, POSTFIX)),
            Exp::Binary(op, left, right) => self.binary(*op, left, right),
            Exp::If(condition, then, otherwise) => {
                let (condition, then) = (self.exp(condition, IFF), self.exp(then, IFF));
                format!("if {condition} then {then} else {}", self.top(otherwise))
            }
            Exp::Quantified(kind, binders, body) => {
                let word = match kind {
                    QuantifierWord::Forall => "forall",
                    QuantifierWord::Exists => "exists",
                    QuantifierWord::Count => "count",
                    QuantifierWord::Sum => "sum",
                };
                format!("{word} {}: {}", self.binders(binders), self.top(body))
            }
            Exp::List(items) => {
                let items: Vec<String> = items.iter().map(|item| self.inside(item)).collect();
                format!("[{}]", items.join(", "))
            }
            Exp::Comprehension(name, lo, hi, body) => {
                format!("[{name} in {lo}..{hi}: {}]", self.inside(body))
            }
        }
    }

    fn literal(&mut self, value: i64) -> String {
        match self.random.chance(20) {
            true if value == self.n => "N".to_owned(),
            _ => value.to_string(),
        }
    }

    /// Inside of brackets.
    fn inside(&mut self, exp: &Exp) -> String {
        self.exp(exp, IFF)
    }

    fn binary(&mut self, op: Op, left: &Exp, right: &Exp) -> String {
        let words: &[&'static str] = match op {
            Op::Iff => &["<->", "iff"],
            Op::Implies if self.in_step => &["implies"],
            Op::Implies => &["->", "implies"],
            Op::Or => &["||", "or"],
            Op::And => &["&&", "and"],
            Op::Eq => &["=="],
            Op::Ne => &["!="],
            Op::Lt => &["<"],
            Op::Le => &["<="],
            Op::Gt => &[">"],
            Op::Ge => &[">="],
            Op::Add => &["+"],
            Op::Sub => &["-"],
            Op::Mul => &["*"],
            Op::Div => &["/"],
            Op::Mod => &["%", "mod"],
        };

        let level = binding(op);
        let (left_least, right_least) = match op {
            Op::Implies => (level + 1, level),
            Op::Or | Op::And => (level, level + 1),
            Op::Add | Op::Sub | Op::Mul | Op::Div | Op::Mod => (level, level + 1),
            Op::Iff | Op::Eq | Op::Ne | Op::Lt | Op::Le | Op::Gt | Op::Ge => (level + 1, level + 1),
        };

        let left = self.exp(left, left_least);
        let word = self.pick(words);
        let right = self.exp(right, right_least);
        format!("{left} {word} {right}")
    }
}

fn level(exp: &Exp) -> u8 {
    match exp {
        Exp::If(..) | Exp::Quantified(..) => OPEN,
        Exp::Not(_) => PREFIX,
        Exp::Minus(_) => MINUS,
        Exp::Int(value) if *value < 0 => MINUS,
        Exp::Binary(op, ..) => binding(*op),
        Exp::Int(_)
        | Exp::Bool(_)
        | Exp::Name(_)
        | Exp::Index(..)
        | Exp::Field(..)
        | Exp::Call(..)
        | Exp::Channel(..)
        | Exp::At(..)
        | Exp::List(_)
        | Exp::Comprehension(..) => POSTFIX,
    }
}

fn binding(op: Op) -> u8 {
    match op {
        Op::Iff => IFF,
        Op::Implies => IMPLIES,
        Op::Or => OR,
        Op::And => AND,
        Op::Eq | Op::Ne | Op::Lt | Op::Le | Op::Gt | Op::Ge => COMPARISON,
        Op::Add | Op::Sub => SUM,
        Op::Mul | Op::Div | Op::Mod => PRODUCT,
    }
}

/// Is the variable `x`, a number, assigned to, and nothing else?
fn is_number(places: &[Exp]) -> bool {
    matches!(places, [Exp::Name(name)] if name == "x")
}

/// Does a name occur in a text?
fn mentions(text: &str, name: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    text.split(|c: char| !is_part(c)).any(|word| word == name)
}
