//! Abstract models as text: in the native language, for SMV and for Spin.
//!
//! All three print the same *listing*: for every command its guard, the values found by
//! substitution, and, where the solver was asked, the rows of new values with the states in which
//! each is possible. Rows are those of reachable abstract states; in others the printed model may
//! do what it likes, because it does not reach them either.

mod listing;
mod native;
mod notation;
mod promela;
mod smv;

pub use listing::Listing;
pub use native::native;
pub use promela::promela;
pub use smv::smv;
