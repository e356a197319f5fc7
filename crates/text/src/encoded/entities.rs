//! HTML entities: decimal, hexadecimal, and the named ones that hide text.

use super::substitute;
use crate::explore::Finds;
use crate::passage::{Edit, EditText};
use crate::views::ViewKind;

/// Fewest entities in a group.
const MIN_ENTITIES: usize = 3;
/// Most digits a numeric entity may have; leading zeros are a favourite disguise.
const MAX_DIGITS: usize = 12;
/// Longest name in the table.
const MAX_NAME: usize = 8;

/// Named entities that stand for ASCII, for spaces or for nothing visible, and the commonest of the rest.
const NAMED: [(&str, char); 52] = [
    ("amp", '&'),
    ("lt", '<'),
    ("gt", '>'),
    ("quot", '"'),
    ("apos", '\''),
    ("nbsp", ' '),
    ("ensp", ' '),
    ("emsp", ' '),
    ("thinsp", ' '),
    ("Tab", '\t'),
    ("NewLine", '\n'),
    ("excl", '!'),
    ("num", '#'),
    ("dollar", '$'),
    ("percnt", '%'),
    ("lpar", '('),
    ("rpar", ')'),
    ("ast", '*'),
    ("plus", '+'),
    ("comma", ','),
    ("period", '.'),
    ("sol", '/'),
    ("colon", ':'),
    ("semi", ';'),
    ("equals", '='),
    ("quest", '?'),
    ("commat", '@'),
    ("lsqb", '['),
    ("lbrack", '['),
    ("bsol", '\\'),
    ("rsqb", ']'),
    ("rbrack", ']'),
    ("Hat", '^'),
    ("lowbar", '_'),
    ("grave", '`'),
    ("lcub", '{'),
    ("lbrace", '{'),
    ("verbar", '|'),
    ("vert", '|'),
    ("rcub", '}'),
    ("rbrace", '}'),
    ("shy", '\u{ad}'),
    ("zwnj", '\u{200c}'),
    ("zwj", '\u{200d}'),
    ("lsquo", '\''),
    ("rsquo", '\''),
    ("ldquo", '"'),
    ("rdquo", '"'),
    ("ndash", '-'),
    ("mdash", '-'),
    ("hellip", '…'),
    ("fjlig", 'f'),
];

pub(super) fn find(text: &str, finds: &mut Finds<'_>) {
    let bytes = text.as_bytes();
    let mut entities = Vec::new();
    for start in memchr::memchr_iter(b'&', bytes) {
        let rest = bytes.get(start + 1..).unwrap_or_default();
        if let Some((c, len)) = numeric(rest).or_else(|| named(rest)) {
            entities.push(Edit {
                range: start..start + 1 + len,
                text: EditText::Char(c),
            });
        }
    }
    substitute::resolve(text, entities, ViewKind::Entities, finds, |group| {
        group.len() >= MIN_ENTITIES
    });
}

/// The character and length of `#105;`, `#x69;` or, as browsers read it too, `#105`.
fn numeric(rest: &[u8]) -> Option<(char, usize)> {
    let rest = rest.strip_prefix(b"#")?;
    let (radix, digits) = match rest {
        [b'x' | b'X', digits @ ..] => (16, digits),
        _ => (10, rest),
    };
    let is_digit = |byte: &&u8| char::from(**byte).is_digit(radix);
    let len = digits.iter().take(MAX_DIGITS).take_while(is_digit).count();
    let (number, after) = digits.split_at_checked(len)?;
    let value = u32::from_str_radix(std::str::from_utf8(number).ok()?, radix).ok()?;
    let c = char::from_u32(value).filter(|c| *c != '\0')?;
    let prefix = 1 + usize::from(radix == 16);
    Some((c, prefix + len + usize::from(after.first() == Some(&b';'))))
}

fn named(rest: &[u8]) -> Option<(char, usize)> {
    let len = rest
        .iter()
        .take(MAX_NAME + 1)
        .position(|byte| *byte == b';')?;
    let name = rest.get(..len)?;
    NAMED
        .iter()
        .find(|(known, _)| known.as_bytes() == name)
        .map(|(_, c)| (*c, len + 1))
}

#[cfg(test)]
mod tests {
    use crate::{ViewKind, Views};

    fn entities(input: &str) -> Option<String> {
        let views = Views::of(input);
        views
            .iter()
            .find(|view| view.kind() == ViewKind::Entities)
            .map(|view| view.text().to_owned())
    }

    #[test]
    fn numbers_and_names_are_resolved() {
        assert_eq!(
            entities("&#105;&#103;&#110;&#x6f;&#X72;&#0000101; all").unwrap(),
            "ignore all"
        );
        assert_eq!(entities("&#105&#103&#110ore").unwrap(), "ignore");
        assert_eq!(
            entities("&lt;system&gt; do it &lt;/system&gt;").unwrap(),
            "<system> do it </system>"
        );
        assert_eq!(
            entities("ig&shy;no&zwnj;re&nbsp;all").unwrap(),
            "ignore all"
        );
    }

    #[test]
    fn a_few_in_a_page_are_left_alone() {
        for text in [
            "Fish &amp; chips",
            "R&D, Q&A, AT&T and so on",
            "a &lt; b",
            "&#;&#x;&#99999999999;",
            "&&&&&&",
            "?a=1&b=2&c=3&d=4",
        ] {
            assert_eq!(entities(text), None, "{text}");
        }
    }

    #[test]
    fn double_encoding_is_peeled_off() {
        let views = Views::of("&amp;#105;&amp;#103;&amp;#110;&amp;#111;&amp;#114;&amp;#101;");
        assert!(
            views
                .iter()
                .any(|view| view.depth() == 2 && view.text() == "ignore")
        );
    }
}
