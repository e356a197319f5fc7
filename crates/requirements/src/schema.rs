//! The requirements of a deployment, as parsed from a schema that holds.

use crate::error::SchemaError;
use crate::pattern::Pattern;
use crate::report::Severity;

/// The schema that ships: `config/env.schema.json`.
pub const SHIPPED: &str = include_str!("../../../config/env.schema.json");

/// Which variables there are, and which modes follow from them.
#[derive(Clone, Debug)]
pub struct Requirements {
    pub(crate) variables: Vec<Variable>,
    pub(crate) features: Vec<Feature>,
}

/// A variable of the environment.
#[derive(Clone, Debug)]
pub struct Variable {
    /// Its name.
    pub name: String,
    /// What it belongs to.
    pub group: String,
    /// How grave it is when it is missing or wrong.
    pub severity: Severity,
    /// Whether it is a finding when it is missing.
    pub required: bool,
    /// Whether its value is a secret.
    pub sensitive: bool,
    /// What it is for.
    pub description: String,
    /// The form of its value in words, if any value is not good enough.
    pub form: Option<String>,
    pub(crate) pattern: Option<Pattern>,
}

/// Something whose mode follows from variables.
#[derive(Clone, Debug)]
pub struct Feature {
    /// Its name.
    pub name: String,
    /// The first whose condition holds is the feature's mode. The last has no condition.
    pub modes: Vec<Mode>,
}

/// A mode of a feature.
#[derive(Clone, Debug)]
pub struct Mode {
    /// Its name.
    pub name: String,
    /// What it means, for people.
    pub means: String,
    /// Variables that this mode needs, and how grave it is when one is not set right.
    pub needs: Vec<(String, Severity)>,
    /// All must hold.
    pub(crate) when: Vec<Condition>,
}

/// What a mode asks of a variable.
#[derive(Clone, Debug)]
pub(crate) struct Condition {
    pub(crate) variable: String,
    pub(crate) test: Test,
}

#[derive(Clone, Debug)]
pub(crate) enum Test {
    /// It has a value, of whatever form.
    Present,
    /// It has a value of the right form.
    Valid,
    /// It has no value.
    Absent,
    /// It has a value of the right form that matches this.
    Matches(Pattern),
}

impl Requirements {
    /// Reads a schema.
    ///
    /// # Errors
    /// The first fault and its place.
    pub fn parse(schema: &str) -> Result<Self, SchemaError> {
        crate::parse::requirements(schema)
    }

    /// The requirements that ship.
    ///
    /// # Errors
    /// None: the shipped schema is tested.
    pub fn shipped() -> Result<Self, SchemaError> {
        Self::parse(SHIPPED)
    }

    /// All variables, in the order of the schema.
    #[must_use]
    pub fn variables(&self) -> &[Variable] {
        &self.variables
    }

    /// All features, in the order of the schema.
    #[must_use]
    pub fn features(&self) -> &[Feature] {
        &self.features
    }

    /// Names of variables whose values are secrets, for whoever redacts or clears an environment.
    pub fn sensitive(&self) -> impl Iterator<Item = &str> {
        self.variables
            .iter()
            .filter(|variable| variable.sensitive)
            .map(|variable| variable.name.as_str())
    }

    /// Features that look at this variable.
    pub fn switched_by(&self, variable: &str) -> impl Iterator<Item = &str> {
        self.features
            .iter()
            .filter(move |feature| feature.modes.iter().any(|mode| mode.looks_at(variable)))
            .map(|feature| feature.name.as_str())
    }
}

impl Feature {
    /// What a mode means, for people.
    #[must_use]
    pub fn means(&self, mode: &str) -> Option<&str> {
        self.modes
            .iter()
            .find(|candidate| candidate.name == mode)
            .map(|mode| mode.means.as_str())
    }
}

impl Mode {
    fn looks_at(&self, variable: &str) -> bool {
        self.needs.iter().any(|(name, _)| name == variable)
            || self
                .when
                .iter()
                .any(|condition| condition.variable == variable)
    }
}
