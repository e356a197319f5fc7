//! `relationships.json`: whom the proxy's external identity knows, how well, and what passed between them lately.
//!
//! The file is written by a process that reads hostile content: it is read strictly, and nothing in it raises anybody's
//! standing by itself. A tier changes how the proxy engages and how strict its schemas are; detection runs for all.

mod context;
mod one;

pub use context::MAX_CONTEXT;
pub use one::{Interaction, Relationship, Status, Tier};

use crate::names::RelPath;
use crate::workspace::{RELATIONSHIPS, Workspace, WorkspaceError};
use blastshield_audit::Time;
use serde::de::{Error as _, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use std::collections::BTreeMap;
use std::fmt;

/// Bytes of the file at most.
pub const MAX_BYTES: u64 = 2 << 20;
/// Relationships at most.
pub const MAX_RELATIONSHIPS: usize = 2000;
/// Interactions that are kept of each, the newest.
pub const MAX_INTERACTIONS: usize = 20;
const MAX_NAME: usize = 64;
const MAX_SUMMARY: usize = 280;
const MAX_PLACE: usize = 120;
const MAX_KIND: usize = 32;

/// All relationships, by name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Relationships {
    version: Version,
    #[serde(deserialize_with = "once_each")]
    relationships: BTreeMap<String, Relationship>,
}

/// The form of the file: 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Version;

impl Serialize for Version {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u8(1)
    }
}

impl<'de> Deserialize<'de> for Version {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match u8::deserialize(deserializer)? {
            1 => Ok(Self),
            _ => Err(D::Error::custom("unknown version")),
        }
    }
}

/// A name that occurs twice would be read as one thing here and as another elsewhere.
fn once_each<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<BTreeMap<String, Relationship>, D::Error> {
    struct Names;
    impl<'de> Visitor<'de> for Names {
        type Value = BTreeMap<String, Relationship>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("relationships by name")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            let mut found = BTreeMap::new();
            while let Some((name, one)) = map.next_entry::<String, Relationship>()? {
                if !is_name(&name) || !one.is_bounded() || found.len() >= MAX_RELATIONSHIPS {
                    return Err(A::Error::custom("out of bounds"));
                }
                if found.insert(name, one).is_some() {
                    return Err(A::Error::custom("a name occurs twice"));
                }
            }
            Ok(found)
        }
    }
    deserializer.deserialize_map(Names)
}

/// Names are visible ASCII without spaces: look-alikes and invisible characters would let one pass for another.
fn is_name(name: &str) -> bool {
    !name.is_empty()
        && name.len() <= MAX_NAME
        && name
            .bytes()
            .all(|b| b.is_ascii_graphic() && !b"\"\\<>`".contains(&b))
}

impl Relationships {
    /// Reads the file of a workspace; a workspace without one knows nobody.
    ///
    /// # Errors
    /// When it is too large, no plain file, or not of the form.
    pub fn read(workspace: &Workspace) -> Result<Self, WorkspaceError> {
        match workspace.read(&path(), MAX_BYTES) {
            Ok(bytes) => Self::parse(&bytes),
            Err(WorkspaceError::Missing) => Ok(Self::default()),
            Err(error) => Err(error),
        }
    }

    /// Reads the form.
    ///
    /// # Errors
    /// When it is too large or not of the form.
    pub fn parse(bytes: &[u8]) -> Result<Self, WorkspaceError> {
        if bytes.len() as u64 > MAX_BYTES {
            return Err(WorkspaceError::TooLarge);
        }
        serde_json::from_slice(bytes).map_err(|_| WorkspaceError::Malformed("relationships"))
    }

    /// Writes the file as a whole.
    ///
    /// # Errors
    /// When there are too many or they cannot be written.
    pub fn write(&self, workspace: &Workspace) -> Result<(), WorkspaceError> {
        workspace.write(&path(), &self.to_bytes()?)
    }

    /// The form.
    ///
    /// # Errors
    /// When there are too many.
    pub fn to_bytes(&self) -> Result<Vec<u8>, WorkspaceError> {
        let mut bytes = serde_json::to_vec_pretty(self)
            .map_err(|_| WorkspaceError::Malformed("relationships"))?;
        bytes.push(b'\n');
        if bytes.len() as u64 > MAX_BYTES {
            return Err(WorkspaceError::TooLarge);
        }
        Ok(bytes)
    }

    /// Somebody by name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Relationship> {
        self.relationships.get(name)
    }

    /// Everybody, by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Relationship)> {
        self.relationships
            .iter()
            .map(|(name, one)| (name.as_str(), one))
    }

    /// How many.
    #[must_use]
    pub fn len(&self) -> usize {
        self.relationships.len()
    }

    /// Whether nobody is known.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.relationships.is_empty()
    }

    /// The tier that counts for a name; a stranger is an acquaintance.
    #[must_use]
    pub fn tier(&self, name: &str) -> Tier {
        self.get(name)
            .map(Relationship::effective_tier)
            .unwrap_or_default()
    }

    /// Notes an interaction; the oldest beyond the bound are forgotten. A stranger becomes an acquaintance. Fields are
    /// cut to their bounds.
    ///
    /// # Errors
    /// When the name is malformed or there are too many.
    pub fn note(
        &mut self,
        name: &str,
        kind: &str,
        place: &str,
        summary: &str,
        now: Time,
    ) -> Result<(), WorkspaceError> {
        let one = self.entry(name)?;
        one.interactions.push(Interaction {
            at: now.to_string(),
            kind: cut_bytes(kind, MAX_KIND),
            place: cut_bytes(place, MAX_PLACE),
            summary: summary.chars().take(MAX_SUMMARY).collect(),
        });
        let over = one.interactions.len().saturating_sub(MAX_INTERACTIONS);
        one.interactions.drain(..over);
        Ok(())
    }

    /// Sets a tier.
    ///
    /// # Errors
    /// When the name is malformed or there are too many.
    pub fn set_tier(&mut self, name: &str, tier: Tier) -> Result<(), WorkspaceError> {
        self.entry(name)?.tier = tier;
        Ok(())
    }

    /// Sets a status; whether the name is known.
    pub fn set_status(&mut self, name: &str, status: Status) -> bool {
        self.relationships
            .get_mut(name)
            .map(|one| one.status = status)
            .is_some()
    }

    /// Names under review.
    pub fn under_review(&self) -> impl Iterator<Item = &str> {
        self.iter()
            .filter(|(_, one)| one.status == Status::ReviewRequired)
            .map(|(name, _)| name)
    }

    /// Names that differ in `other`, or are in one of the two only.
    #[must_use]
    pub fn differences(&self, other: &Self) -> Vec<String> {
        let mut names: Vec<String> = self
            .relationships
            .keys()
            .chain(other.relationships.keys())
            .filter(|name| self.relationships.get(*name) != other.relationships.get(*name))
            .cloned()
            .collect();
        names.sort();
        names.dedup();
        names
    }

    fn entry(&mut self, name: &str) -> Result<&mut Relationship, WorkspaceError> {
        if !is_name(name) {
            return Err(WorkspaceError::Malformed("name"));
        }
        if !self.relationships.contains_key(name) && self.len() >= MAX_RELATIONSHIPS {
            return Err(WorkspaceError::TooLarge);
        }
        Ok(self.relationships.entry(name.to_owned()).or_default())
    }
}

pub(crate) fn path() -> RelPath {
    RelPath::trusted(RELATIONSHIPS.to_owned())
}

fn cut_bytes(text: &str, most: usize) -> String {
    let mut out = String::new();
    for c in text.chars() {
        if out.len() + c.len_utf8() > most {
            break;
        }
        out.push(c);
    }
    out
}

#[cfg(test)]
mod tests;
