//! From JSON to requirements: every field is known, every name is unique, every reference has a target.

use crate::error::{Fault, MAX_SCHEMA_BYTES, SchemaError};
use crate::node::{Fields, Item};
use crate::pattern::{MAX_PATTERN_BYTES, Pattern};
use crate::report::Severity;
use crate::schema::{Condition, Feature, Mode, Requirements, Test, Variable};
use std::collections::{BTreeMap, BTreeSet};

const MAX_VARIABLES: usize = 128;
const MAX_FEATURES: usize = 32;
const MAX_MODES: usize = 16;
const MAX_CONDITIONS: usize = 32;
/// Expressions of a whole schema: each takes memory.
const MAX_PATTERNS: usize = 192;
const MAX_VARIABLE_NAME: usize = 64;
const MAX_NAME: usize = 32;
const MAX_WORDS: usize = 300;

/// Words in a name that say that the value is a secret.
const SECRET_WORDS: [&str; 4] = ["KEY", "TOKEN", "SECRET", "PASSWORD"];

/// What was read so far.
#[derive(Default)]
struct Known {
    /// By name, whether a variable is sensitive.
    variables: BTreeMap<String, bool>,
    patterns: usize,
}

pub(crate) fn requirements(schema: &str) -> Result<Requirements, SchemaError> {
    if schema.len() > MAX_SCHEMA_BYTES {
        return Err(SchemaError::TooLarge);
    }
    let mut top = Item::root(schema)?.fields(&["version", "variables", "features"])?;
    let version = top.need("version")?;
    if version.number()? != 1 {
        return Err(version.fault(Fault::UnknownVersion));
    }
    let mut known = Known::default();
    let mut variables = Vec::new();
    for item in top.need("variables")?.list(MAX_VARIABLES)? {
        variables.push(variable(item, &mut known)?);
    }
    let mut names = BTreeSet::new();
    let mut features = Vec::new();
    for item in top.need("features")?.list(MAX_FEATURES)? {
        features.push(feature(item, &mut names, &mut known)?);
    }
    Ok(Requirements {
        variables,
        features,
    })
}

fn variable(item: Item, known: &mut Known) -> Result<Variable, SchemaError> {
    let mut fields = item.fields(&[
        "name",
        "group",
        "severity",
        "required",
        "sensitive",
        "description",
        "pattern",
        "form",
    ])?;
    let named = fields.need("name")?;
    let name = variable_name(&named)?;
    let sensitive = flag(&mut fields, "sensitive")?;
    let upper = name.to_ascii_uppercase();
    if !sensitive && SECRET_WORDS.iter().any(|word| upper.contains(word)) {
        return Err(named.fault(Fault::NotSensitive));
    }
    if known.variables.insert(name.clone(), sensitive).is_some() {
        return Err(named.fault(Fault::RepeatedName));
    }
    let (pattern, form) = match (fields.take("pattern"), fields.take("form")) {
        (None, None) => (None, None),
        (Some(expression), Some(form)) => (Some(pattern(&expression, known)?), Some(words(&form)?)),
        _ => return Err(fields.fault(Fault::PatternWithoutForm)),
    };
    Ok(Variable {
        name,
        group: short_name(&fields.need("group")?)?,
        severity: severity(&fields.need("severity")?)?,
        required: flag(&mut fields, "required")?,
        sensitive,
        description: words(&fields.need("description")?)?,
        form,
        pattern,
    })
}

fn feature(
    item: Item,
    names: &mut BTreeSet<String>,
    known: &mut Known,
) -> Result<Feature, SchemaError> {
    let mut fields = item.fields(&["name", "modes"])?;
    let named = fields.need("name")?;
    let name = short_name(&named)?;
    if !names.insert(name.clone()) {
        return Err(named.fault(Fault::RepeatedName));
    }
    let items = fields.need("modes")?.list(MAX_MODES)?;
    let count = items.len();
    let mut modes = Vec::with_capacity(count);
    for (at, item) in items.into_iter().enumerate() {
        modes.push(mode(item, at + 1 == count, known)?);
    }
    Ok(Feature { name, modes })
}

fn mode(item: Item, last: bool, known: &mut Known) -> Result<Mode, SchemaError> {
    let mut fields = item.fields(&["mode", "means", "when", "needs"])?;
    let when = match fields.take("when") {
        Some(item) if last => return Err(item.fault(Fault::LastModeConditional)),
        Some(item) => conditions(item, known)?,
        None if last => Vec::new(),
        None => return Err(fields.fault(Fault::UnreachableMode)),
    };
    let mut needs = Vec::new();
    if let Some(item) = fields.take("needs") {
        for (name, item) in item.entries(MAX_CONDITIONS)? {
            if !known.variables.contains_key(&name) {
                return Err(item.fault(Fault::UnknownVariable));
            }
            needs.push((name, severity(&item)?));
        }
    }
    Ok(Mode {
        name: short_name(&fields.need("mode")?)?,
        means: words(&fields.need("means")?)?,
        needs,
        when,
    })
}

fn conditions(item: Item, known: &mut Known) -> Result<Vec<Condition>, SchemaError> {
    let mut fields = item.fields(&["present", "valid", "absent", "matches"])?;
    let mut conditions = Vec::new();
    for (name, test) in [
        ("present", Test::Present),
        ("valid", Test::Valid),
        ("absent", Test::Absent),
    ] {
        let Some(list) = fields.take(name) else {
            continue;
        };
        for item in list.list(MAX_CONDITIONS)? {
            let variable = item.text(MAX_VARIABLE_NAME)?.to_owned();
            if !known.variables.contains_key(&variable) {
                return Err(item.fault(Fault::UnknownVariable));
            }
            conditions.push(Condition {
                variable,
                test: test.clone(),
            });
        }
    }
    if let Some(item) = fields.take("matches") {
        for (variable, item) in item.entries(MAX_CONDITIONS)? {
            match known.variables.get(&variable) {
                None => return Err(item.fault(Fault::UnknownVariable)),
                Some(true) => return Err(item.fault(Fault::DependsOnSecret)),
                Some(false) => conditions.push(Condition {
                    variable,
                    test: Test::Matches(pattern(&item, known)?),
                }),
            }
        }
    }
    if conditions.is_empty() {
        return Err(fields.fault(Fault::EmptyCondition));
    }
    Ok(conditions)
}

fn flag(fields: &mut Fields, name: &'static str) -> Result<bool, SchemaError> {
    fields.take(name).map_or(Ok(false), |item| item.flag())
}

fn severity(item: &Item) -> Result<Severity, SchemaError> {
    Severity::named(item.text(MAX_NAME)?).ok_or_else(|| item.fault(Fault::UnknownSeverity))
}

fn pattern(item: &Item, known: &mut Known) -> Result<Pattern, SchemaError> {
    known.patterns += 1;
    if known.patterns > MAX_PATTERNS {
        return Err(item.fault(Fault::TooManyPatterns(MAX_PATTERNS)));
    }
    Pattern::new(item.text(MAX_PATTERN_BYTES)?).ok_or_else(|| item.fault(Fault::BadPattern))
}

fn variable_name(item: &Item) -> Result<String, SchemaError> {
    let name = item.text(MAX_VARIABLE_NAME)?;
    if is_variable_name(name) {
        Ok(name.to_owned())
    } else {
        Err(item.fault(Fault::BadVariableName))
    }
}

/// Letters, digits and `_`, not starting with a digit.
pub(crate) fn is_variable_name(name: &str) -> bool {
    !name.is_empty()
        && !name.starts_with(|c: char| c.is_ascii_digit())
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
}

fn short_name(item: &Item) -> Result<String, SchemaError> {
    let name = item.text(MAX_NAME)?;
    let fine = name.starts_with(|c: char| c.is_ascii_lowercase())
        && name
            .bytes()
            .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-' || b == b'_');
    if fine {
        Ok(name.to_owned())
    } else {
        Err(item.fault(Fault::BadName))
    }
}

/// A text for people: nothing in it moves the cursor, hides, or turns the direction of reading.
fn words(item: &Item) -> Result<String, SchemaError> {
    let text = item.text(MAX_WORDS)?;
    if text.trim().is_empty() {
        return Err(item.fault(Fault::Empty));
    }
    if text.chars().any(is_unsafe) {
        return Err(item.fault(Fault::UnsafeText));
    }
    Ok(text.to_owned())
}

fn is_unsafe(c: char) -> bool {
    c.is_control()
        || matches!(
            c,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
                | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}'
                | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}'
        )
}
