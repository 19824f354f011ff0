//! Formulas that are not in the text of a model but come with the call.

use report::TraceMeta;
use source::Options;

/// Adds formulas of linear time and formulas with path quantifiers, under names that no property of
/// a text can have: `ltl-1`, `ctl-1` and so on.
pub fn name_formulas(options: &mut Options, ltl: &[String], ctl: &[String]) {
    let named = |prefix: &str, formulas: &[String]| -> Vec<(String, String)> {
        let numbered = (1..).zip(formulas);
        let name = |(number, text): (usize, &String)| (format!("{prefix}{number}"), text.clone());
        numbered.map(name).collect()
    };
    options.ltl.extend(named(LTL, ltl));
    options.ctl.extend(named(CTL, ctl));
}

/// Was the question with this name named by [`name_formulas`]?
#[must_use]
pub fn is_formula_name(name: &str) -> bool {
    has_prefix(name, LTL) || has_prefix(name, CTL)
}

/// Adds the formula that a stored trace is about, if it was named by [`name_formulas`]: such a
/// formula is not in the text of the model, but the trace knows it.
pub fn formulas_of_trace(options: &mut Options, meta: &TraceMeta) {
    let (Some(name), Some(formula)) = (&meta.property, &meta.formula) else {
        return;
    };
    let named = (name.clone(), formula.clone());
    if has_prefix(name, LTL) {
        options.ltl.push(named);
    } else if has_prefix(name, CTL) {
        options.ctl.push(named);
    }
}

const LTL: &str = "ltl-";
const CTL: &str = "ctl-";

fn has_prefix(name: &str, prefix: &str) -> bool {
    name.strip_prefix(prefix)
        .is_some_and(|number| number.parse::<usize>().is_ok())
}
