//! How large things may be.

pub mod exact;
pub mod guard;
pub mod refine_budgets;
pub mod window;
