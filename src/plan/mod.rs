//! What is cut, kept, thinned and split. Decisions need lengths only; texts are asked for where one is cut.

pub mod apply;
pub mod chunks;
pub mod cut;
pub mod edit;
pub mod halve;
pub mod reduce;
pub mod shape;
pub mod shorten;
pub mod tail;
pub mod turns;
