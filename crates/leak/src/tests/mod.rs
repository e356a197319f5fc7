//! Behaviour of the whole: every rule, every disguise, every boundary.

mod disguise;
mod form;
mod hostile;
mod known;
mod sample;
mod stream;
