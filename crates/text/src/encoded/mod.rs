//! Texts encoded within a text: runs of base64, base32 and hex, numbers that are character codes, and escapes in place.

mod bytes;
mod entities;
mod escapes;
mod morse;
mod numbers;
mod percent;
mod plausible;
mod quoted;
mod radix;
mod runs;
mod substitute;

pub(crate) use morse::morse_run;
pub(crate) use numbers::{in_numbers, number_run};
pub(crate) use plausible::{Text, is_plausible, text_of};
pub(crate) use runs::in_runs;

use crate::explore::Finds;

/// Finds passages with escaped characters and resolves them in place.
pub(crate) fn in_escapes(text: &str, finds: &mut Finds<'_>) {
    percent::find(text, finds);
    entities::find(text, finds);
    escapes::find(text, finds);
    quoted::find(text, finds);
}
