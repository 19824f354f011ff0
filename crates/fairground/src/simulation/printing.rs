//! What steps print.

use model::{Command, Env, Expr, Model, State, Successor};
use source::{Content, Print, PrintedPiece};

use crate::project::Project;

impl Project {
    /// What the steps of the first system print.
    pub(super) fn prints(&self) -> &[Print] {
        match &self.content {
            Content::Systems(systems) => &systems[0].prints,
            Content::Family(_) | Content::Threshold(_) => &[],
        }
    }
}

/// What a step from a state prints. What cannot be evaluated is left out.
pub(super) fn printed(model: &Model, prints: &[Print], state: &State, step: &Successor) -> String {
    let mut text = String::new();
    for command in &step.commands {
        let command = &model.commands()[command.index()];
        let process = model.instances()[command.instance.index()].process;
        let own = prints.iter().filter(|p| p.step == (process, command.step));
        // They are noted from the last to the first.
        for print in own.rev() {
            text += &pieces(model, print, command, state);
        }
    }
    text
}

fn pieces(model: &Model, print: &Print, command: &Command, state: &State) -> String {
    let env = Env::of(command.instance, &command.bindings);
    let Some((state, env)) = model.after(state, env, &print.before) else {
        return String::new();
    };

    let value = |expr: &Expr| {
        let span = base::Span::nowhere();
        model.eval(expr, &state, &mut env.clone(), span).ok()
    };

    let shown = |piece: &PrintedPiece| {
        Some(match piece {
            PrintedPiece::Text(text) => text.clone(),
            PrintedPiece::Number(expr) => value(expr)?.to_string(),
            PrintedPiece::Character(expr) => {
                let code = u8::try_from(value(expr)?).ok()?;
                char::from(code).to_string()
            }
            PrintedPiece::Named(expr, names) => {
                let value = value(expr)?;
                let named = names.iter().find(|(number, _)| *number == value);
                named.map_or_else(|| value.to_string(), |(_, name)| name.clone())
            }
        })
    };

    print.pieces.iter().filter_map(shown).collect()
}
