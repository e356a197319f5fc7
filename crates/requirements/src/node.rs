//! JSON as it stands in the file, with repeated fields still there, and each value with its place.

use crate::error::{Fault, SchemaError};
use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use std::collections::BTreeMap;
use std::fmt;

/// One JSON value.
pub(crate) enum Node {
    Null,
    Flag(bool),
    /// A whole number of at least 0, or any other number.
    Number(Option<u64>),
    Text(String),
    List(Vec<Node>),
    Object(Vec<(String, Node)>),
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Values)
    }
}

struct Values;

impl<'de> Visitor<'de> for Values {
    type Value = Node;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E: Error>(self) -> Result<Node, E> {
        Ok(Node::Null)
    }

    fn visit_bool<E: Error>(self, flag: bool) -> Result<Node, E> {
        Ok(Node::Flag(flag))
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<Node, E> {
        Ok(Node::Number(Some(number)))
    }

    fn visit_i64<E: Error>(self, _: i64) -> Result<Node, E> {
        Ok(Node::Number(None))
    }

    fn visit_f64<E: Error>(self, _: f64) -> Result<Node, E> {
        Ok(Node::Number(None))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Node, E> {
        Ok(Node::Text(text.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Node, A::Error> {
        let mut nodes = Vec::new();
        while let Some(node) = list.next_element()? {
            nodes.push(node);
        }
        Ok(Node::List(nodes))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<Node, A::Error> {
        let mut entries = Vec::new();
        while let Some(entry) = object.next_entry()? {
            entries.push(entry);
        }
        Ok(Node::Object(entries))
    }
}

/// A value and where it stands.
pub(crate) struct Item {
    node: Node,
    place: String,
}

impl Item {
    /// The whole document.
    pub(crate) fn root(text: &str) -> Result<Self, SchemaError> {
        let node = serde_json::from_str(text).map_err(|error| SchemaError::Syntax {
            line: error.line(),
            column: error.column(),
        })?;
        Ok(Self {
            node,
            place: String::new(),
        })
    }

    /// This fault, here.
    pub(crate) fn fault(&self, fault: Fault) -> SchemaError {
        let place = if self.place.is_empty() {
            "its top".to_owned()
        } else {
            self.place.clone()
        };
        SchemaError::Invalid { place, fault }
    }

    /// An object with no other fields than these.
    pub(crate) fn fields(self, known: &'static [&'static str]) -> Result<Fields, SchemaError> {
        let mut fields = BTreeMap::new();
        let here = Self {
            node: Node::Null,
            place: self.place.clone(),
        };
        for (position, (name, item)) in self.object()?.into_iter().enumerate() {
            let Some(name) = known.iter().find(|known| **known == name) else {
                let place = child(&here.place, &shown(&name, position));
                return Err(SchemaError::Invalid {
                    place,
                    fault: Fault::UnknownField,
                });
            };
            if let Some(earlier) = fields.insert(*name, item) {
                return Err(earlier.fault(Fault::RepeatedField));
            }
        }
        Ok(Fields { here, fields })
    }

    /// An object whose names are data, at most so many and each once.
    pub(crate) fn entries(self, most: usize) -> Result<Vec<(String, Self)>, SchemaError> {
        let too_many = self.fault(Fault::TooMany(most));
        let entries = self.object()?;
        if entries.len() > most {
            return Err(too_many);
        }
        let mut names = std::collections::BTreeSet::new();
        for (name, item) in &entries {
            if !names.insert(name) {
                return Err(item.fault(Fault::RepeatedField));
            }
        }
        Ok(entries)
    }

    fn object(self) -> Result<Vec<(String, Self)>, SchemaError> {
        let wrong = self.fault(Fault::WrongType("an object"));
        let Node::Object(entries) = self.node else {
            return Err(wrong);
        };
        let place = self.place;
        Ok(entries
            .into_iter()
            .enumerate()
            .map(|(position, (name, node))| {
                let place = child(&place, &shown(&name, position));
                (name, Self { node, place })
            })
            .collect())
    }

    /// A list of one entry or more, at most so many.
    pub(crate) fn list(self, most: usize) -> Result<Vec<Self>, SchemaError> {
        let fault = match &self.node {
            Node::List(nodes) if nodes.is_empty() => Some(Fault::Empty),
            Node::List(nodes) if nodes.len() > most => Some(Fault::TooMany(most)),
            Node::List(_) => None,
            _ => Some(Fault::WrongType("a list")),
        };
        if let Some(fault) = fault {
            return Err(self.fault(fault));
        }
        let Node::List(nodes) = self.node else {
            return Ok(Vec::new());
        };
        let place = self.place;
        Ok(nodes
            .into_iter()
            .enumerate()
            .map(|(at, node)| Self {
                node,
                place: format!("{place}[{at}]"),
            })
            .collect())
    }

    /// A text of one byte or more, at most so many.
    pub(crate) fn text(&self, most: usize) -> Result<&str, SchemaError> {
        match &self.node {
            Node::Text(text) if text.is_empty() => Err(self.fault(Fault::Empty)),
            Node::Text(text) if text.len() > most => Err(self.fault(Fault::TooLong(most))),
            Node::Text(text) => Ok(text),
            _ => Err(self.fault(Fault::WrongType("a text"))),
        }
    }

    pub(crate) fn flag(&self) -> Result<bool, SchemaError> {
        match self.node {
            Node::Flag(flag) => Ok(flag),
            _ => Err(self.fault(Fault::WrongType("true or false"))),
        }
    }

    pub(crate) fn number(&self) -> Result<u64, SchemaError> {
        match self.node {
            Node::Number(Some(number)) => Ok(number),
            _ => Err(self.fault(Fault::WrongType("a whole number"))),
        }
    }
}

/// The known fields of an object, taken one by one.
pub(crate) struct Fields {
    here: Item,
    fields: BTreeMap<&'static str, Item>,
}

impl Fields {
    pub(crate) fn take(&mut self, name: &'static str) -> Option<Item> {
        self.fields.remove(name)
    }

    pub(crate) fn need(&mut self, name: &'static str) -> Result<Item, SchemaError> {
        self.take(name)
            .ok_or_else(|| self.fault(Fault::MissingField(name)))
    }

    /// This fault, of the object as a whole.
    pub(crate) fn fault(&self, fault: Fault) -> SchemaError {
        self.here.fault(fault)
    }
}

fn child(place: &str, name: &str) -> String {
    if place.is_empty() {
        name.to_owned()
    } else {
        format!("{place}.{name}")
    }
}

/// A field's name if it is a word, and otherwise its number: a misplaced secret is not repeated.
fn shown(name: &str, position: usize) -> String {
    let word = (1..=48).contains(&name.len())
        && name.bytes().all(|b| b.is_ascii_alphabetic() || b == b'_');
    if word {
        name.to_owned()
    } else {
        format!("#{}", position + 1)
    }
}
