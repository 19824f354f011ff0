//! Reports: what was asked, what came out, and the evidence, in every format that users read.
//!
//! A [`ReportedQuestion`] turns a verdict and the explanation of its evidence, which is plain data, into a
//! [`PropertyResult`]. This crate sees neither models nor formulas. [`text`], [`json`], [`json_lines`], [`junit`]
//! and [`sarif`] print a whole [`Report`]. A counterexample is a [`StoredTrace`]: it is written to
//! and read from ITF files, printed by [`trace_text`], and drawn by [`chart`]. A file alone is
//! enough for the last two.
//!
//! This crate owns the JSON schema. It opens no files and knows no terminals.
//!
//! ```
//! let itf = r##"{ "vars": ["x"], "states": [{ "x": 1 }, { "x": { "#bigint": "2" } }], "loop": 0 }"##;
//! let trace = report::read_itf(itf).unwrap();
//! let text = report::trace_text(&trace, report::Style::Plain, report::Detail::default());
//! assert!(text.contains("x = 2"));
//! assert_eq!(report::read_itf("{}").unwrap_err().to_string(), "the ITF file has no `vars`");
//! ```

mod advice;
mod chart;
mod finding;
mod itf;
mod itf_value;
mod json;
mod junit;
mod notions;
mod printable;
mod question;
mod result;
mod sarif;
mod state_text;
mod stored;
mod style;
mod text;
mod trace_text;

pub use advice::{
    Advice, AdviceMember, AdviceSet, AuditNote, AuditReport, advice_json, advice_text, audit_json,
    audit_text,
};
pub use chart::chart;
pub use finding::{Finding, Place};
pub use itf::{ItfError, read_itf, write_itf};
pub use itf_value::value_to_json;
pub use json::{json, json_lines, json_of_several};
pub use junit::junit;
pub use notions::notions_table;
pub use printable::{Escape, is_obeyed, printable, printable_styled};
pub use question::{Cost, ReportedQuestion, position, warning};
pub use result::{BranchNote, Outcome, Position, PropertyResult, Report, Success, Warning};
pub use sarif::sarif;
pub use state_text::state_assignments;
pub use stored::{
    ComponentNote, ConditionNote, EndlessNote, ErrorNote, ExclusionNote, StoredTrace, TraceMeta,
};
pub use style::Style;
pub use text::{text, write_text};
pub use trace_text::{Detail, trace_text, write_trace};

/// The name of the tool in machine-readable reports.
pub const TOOL: &str = "fair";

/// The version of the tool in machine-readable reports.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");
