//! JSON in which single entries may be broken: a wrong type costs the entry, not the answer.
//!
//! Nothing here builds a tree of what it skips, so memory follows the bytes that were read.

use serde::de::value::MapAccessDeserializer;
use serde::de::{
    Deserialize, DeserializeOwned, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor,
};
use std::fmt;
use std::marker::PhantomData;

/// Entries after these are not looked at; no provider gives so many.
const ENTRIES: usize = 200;

/// A string, or nothing where something else stands.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Text(pub(crate) Option<String>);

/// A list of objects; an element that is not an object is nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entries<T>(pub(crate) Vec<Option<T>>);

/// Parses an answer, after giving lone surrogate escapes, which one hostile title can smuggle in, a valid form.
pub(crate) fn parse<T: DeserializeOwned>(mut body: Vec<u8>) -> Option<T> {
    mend_surrogates(&mut body);
    serde_json::from_slice(&body).ok()
}

fn mend_surrogates(body: &mut [u8]) {
    let mut at = 0;
    while let Some(offset) = body
        .get(at..)
        .and_then(|rest| rest.iter().position(|byte| *byte == b'\\'))
    {
        at += offset;
        match escape_at(body, at) {
            Some(0xD800..=0xDBFF) if matches!(escape_at(body, at + 6), Some(0xDC00..=0xDFFF)) => {
                at += 12;
            }
            Some(0xD800..=0xDFFF) => {
                if let Some(digits) = body.get_mut(at + 2..at + 6) {
                    digits.copy_from_slice(b"fffd");
                }
                at += 6;
            }
            _ => at += 2,
        }
    }
}

/// The value of the `\uXXXX` escape at this place.
fn escape_at(body: &[u8], at: usize) -> Option<u16> {
    let digits = body.get(at..at + 6)?.strip_prefix(b"\\u")?;
    if !digits.iter().all(u8::is_ascii_hexdigit) {
        return None;
    }
    u16::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}

fn drain_seq<'de, A: SeqAccess<'de>>(mut seq: A) -> Result<(), A::Error> {
    while seq.next_element::<IgnoredAny>()?.is_some() {}
    Ok(())
}

fn drain_map<'de, A: MapAccess<'de>>(mut map: A) -> Result<(), A::Error> {
    while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
    Ok(())
}

/// The scalar visits that mean "something else stands here".
macro_rules! nothing_for_scalars {
    ($nothing:expr) => {
        fn visit_unit<E>(self) -> Result<Self::Value, E> {
            Ok($nothing)
        }
        fn visit_bool<E>(self, _: bool) -> Result<Self::Value, E> {
            Ok($nothing)
        }
        fn visit_i64<E>(self, _: i64) -> Result<Self::Value, E> {
            Ok($nothing)
        }
        fn visit_u64<E>(self, _: u64) -> Result<Self::Value, E> {
            Ok($nothing)
        }
        fn visit_f64<E>(self, _: f64) -> Result<Self::Value, E> {
            Ok($nothing)
        }
    };
}

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct TextVisitor;
        impl<'de> Visitor<'de> for TextVisitor {
            type Value = Text;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("any value")
            }
            nothing_for_scalars!(Text(None));
            fn visit_str<E>(self, text: &str) -> Result<Text, E> {
                Ok(Text(Some(text.to_owned())))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<Text, A::Error> {
                drain_seq(seq).map(|()| Text(None))
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Text, A::Error> {
                drain_map(map).map(|()| Text(None))
            }
        }
        deserializer.deserialize_any(TextVisitor)
    }
}

/// An object as `T`, or nothing where something else stands.
struct Entry<T>(Option<T>);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Entry<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct EntryVisitor<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for EntryVisitor<T> {
            type Value = Entry<T>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("any value")
            }
            nothing_for_scalars!(Entry(None));
            fn visit_str<E>(self, _: &str) -> Result<Entry<T>, E> {
                Ok(Entry(None))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<Entry<T>, A::Error> {
                drain_seq(seq).map(|()| Entry(None))
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Entry<T>, A::Error> {
                T::deserialize(MapAccessDeserializer::new(map)).map(|entry| Entry(Some(entry)))
            }
        }
        deserializer.deserialize_any(EntryVisitor(PhantomData))
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Entries<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct EntriesVisitor<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for EntriesVisitor<T> {
            type Value = Entries<T>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list")
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Entries<T>, A::Error> {
                let mut entries = Vec::new();
                while entries.len() < ENTRIES {
                    match seq.next_element::<Entry<T>>()? {
                        Some(Entry(entry)) => entries.push(entry),
                        None => return Ok(Entries(entries)),
                    }
                }
                drain_seq(seq).map(|()| Entries(entries))
            }
        }
        deserializer.deserialize_seq(EntriesVisitor(PhantomData))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, PartialEq, serde::Deserialize)]
    struct Named {
        #[serde(default)]
        name: Text,
    }

    fn names(json: &str) -> Option<Vec<Option<String>>> {
        let Entries(entries) = parse::<Entries<Named>>(json.as_bytes().to_vec())?;
        Some(entries.into_iter().map(|entry| entry?.name.0).collect())
    }

    #[test]
    fn wrong_types_cost_only_their_entry() {
        let json = r#"[1, null, true, -2, 1e9, "x", [], [[{}]], {"name": "good"}, {"name": {"a": [1]}}, {}]"#;
        let found = names(json).unwrap();
        assert_eq!(found.len(), 11);
        assert_eq!(found.into_iter().flatten().collect::<Vec<_>>(), ["good"]);
    }

    #[test]
    fn lone_surrogates_become_replacement_characters() {
        let found = names(
            r#"[{"name":"a\ud800b"},{"name":"\udc00\ud800"},{"name":"\ud83d\ude00"},{"name":"\\ud800"}]"#,
        )
        .unwrap();
        assert_eq!(
            found.into_iter().flatten().collect::<Vec<_>>(),
            ["a\u{fffd}b", "\u{fffd}\u{fffd}", "😀", "\\ud800"]
        );
    }

    #[test]
    fn escapes_at_the_end_of_the_body_are_no_trouble() {
        for end in [
            "\\",
            "\\u",
            "\\ud8",
            "\\ud800",
            "\\ud800\\",
            "\\ud800\\udc0",
        ] {
            assert_eq!(names(&format!("[\"{end}")), None);
        }
    }

    #[test]
    fn depth_and_length_are_bounded() {
        let deep = format!("[{}{}]", "[".repeat(200_000), "]".repeat(200_000));
        let _ = names(&deep);
        let deep_object = format!("[{}1{}]", "{\"name\":".repeat(100_000), "}".repeat(100_000));
        let _ = names(&deep_object);
        let long = format!("[{}1]", "1,".repeat(100_000));
        assert_eq!(names(&long).map(|found| found.len()), Some(ENTRIES));
    }

    #[test]
    fn not_a_list_is_nothing() {
        for json in [
            "{}",
            "1",
            "\"x\"",
            "null",
            "",
            "<html>",
            "[1",
            "[1] trailing",
        ] {
            assert_eq!(names(json), None, "{json}");
        }
    }
}
