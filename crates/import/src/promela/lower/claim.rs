//! `never` claims.

use base::Diagnostic;
use logic::NamedProperty;

use super::Lowering;

impl Lowering<'_> {
    /// The claims as properties: no run may satisfy them.
    pub(super) fn claims(&mut self) -> Vec<NamedProperty> {
        for claim in &self.program.claims {
            let message = "a `never` claim is not supported yet";
            self.diagnostics.push(Diagnostic::error("not-supported", claim.span, message));
        }
        Vec::new()
    }
}
