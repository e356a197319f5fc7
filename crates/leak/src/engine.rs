//! The literals that are looked for, and what each find means.

use crate::assign;
use crate::literals::Literals;
use crate::rules::RULES;

/// What a literal in the text may begin.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Trigger {
    /// A rule of form, by number.
    Rule(u16),
    /// `name = value`.
    Assign,
    Email,
    Url,
    Key,
    Jwt,
    /// An internal path.
    Path,
    /// An internal term, or a short id of the owner.
    Term(&'static str),
    /// The end of a token that is written backwards.
    Back,
    /// The head of a token whose letters are shifted.
    Shift,
}

/// Literals, and rules that begin at runs of a certain length.
pub(crate) struct Engine {
    pub(crate) literals: Literals,
    pub(crate) triggers: Vec<Trigger>,
    pub(crate) runs: Vec<Vec<u16>>,
    /// Literals with white space in them, in lower case: one may be half said at the end of a text.
    pub(crate) spaced: Vec<String>,
}

/// Heads of tokens, backwards and shifted: the ones that the seeds name, and their kin.
const BACK: &[&str] = &[
    "-ks",
    "_phg",
    "_ohg",
    "_uhg",
    "_shg",
    "_rhg",
    "-iax",
    "aika",
    "azia",
    "_tap_buhtig",
    "-bxox",
    "-pxox",
    "_fh",
    "-taplg",
];
const SHIFT: &[&str] = &[
    "fx-",
    "tuc_",
    "tub_",
    "tuh_",
    "tuf_",
    "tue_",
    "knv-",
    "nxvn",
    "nvmn",
    "tvguho_cng_",
    "kbko-",
    "kbkc-",
    "us_",
    "tycng-",
];

/// The shipped internal paths.
pub(crate) const PATHS: &[&str] = &["/data/.openclaw", "memory/owner/"];
/// The shipped internal terms.
pub(crate) const TERMS: &[&str] = &["SOUL.md", "MEMORY.md", "openclaw.json"];

/// Runs longer than this begin no rule.
pub(crate) const LONGEST_RUN: usize = 96;

impl Engine {
    pub(crate) fn new(paths: &[String], terms: &[String], ids: &[String]) -> Self {
        let mut literals: Vec<&str> = Vec::new();
        let mut triggers = Vec::new();
        let mut runs = vec![Vec::new(); LONGEST_RUN + 1];
        for (number, rule) in RULES.iter().enumerate() {
            let number = number as u16;
            if let Some((least, most)) = rule.runs {
                for slot in runs.iter_mut().take(most + 1).skip(least) {
                    slot.push(number);
                }
                continue;
            }
            for start in &rule.starts {
                literals.push(start);
                triggers.push(Trigger::Rule(number));
            }
        }
        let mut add = |words: &[&'static str], trigger: Trigger| {
            literals.extend(words);
            triggers.extend(words.iter().map(|_| trigger));
        };
        add(assign::WORDS, Trigger::Assign);
        add(&["@"], Trigger::Email);
        add(&["://"], Trigger::Url);
        add(
            &[
                "-----begin",
                "---- begin",
                "putty-user-key-file",
                "begin private key",
                "begin rsa private",
                "begin openssh",
            ],
            Trigger::Key,
        );
        add(&["eyJ"], Trigger::Jwt);
        add(BACK, Trigger::Back);
        add(SHIFT, Trigger::Shift);
        let lists = [
            (paths, Trigger::Path),
            (terms, Trigger::Term("internal-term")),
            (ids, Trigger::Term("owner-id")),
        ];
        for (list, trigger) in lists {
            for word in list.iter().filter(|word| !word.is_empty()) {
                literals.push(word);
                triggers.push(trigger);
            }
        }
        let spaced = literals
            .iter()
            .filter(|word| word.trim_end().contains(' '))
            .map(|word| word.to_ascii_lowercase())
            .collect();
        Self {
            literals: Literals::new(&literals),
            triggers,
            runs,
            spaced,
        }
    }
}
