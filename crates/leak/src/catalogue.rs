//! What is looked for, as a list for people.

use crate::Class;
use crate::rules::RULES;

/// One thing that is looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RuleInfo {
    /// The name in findings.
    pub id: &'static str,
    /// What kind of thing it is.
    pub class: Class,
    /// What it means, in a few words.
    pub means: &'static str,
}

const BUILT_IN: &[(&str, Class, &str)] = &[
    (
        "jwt",
        Class::Credential,
        "signed token whose head decodes to JSON that says so",
    ),
    (
        "private-key",
        Class::Credential,
        "private key in PEM, OpenSSH, PGP or PuTTY form",
    ),
    (
        "seed-phrase",
        Class::Credential,
        "BIP-39 phrase of 12 to 24 English words with a valid checksum",
    ),
    ("url-password", Class::Credential, "password in a URL"),
    (
        "named-secret",
        Class::Credential,
        "random value under a name such as token, secret, password or key",
    ),
    ("email", Class::Personal, "mail address"),
    (
        "phone",
        Class::Personal,
        "phone number, international or beside a word that says so",
    ),
    (
        "payment-card",
        Class::Personal,
        "card number with issuer and check digit",
    ),
    (
        "iban",
        Class::Personal,
        "account number with the length of its country and check digits",
    ),
    (
        "snowflake",
        Class::Personal,
        "number of 17 to 19 digits: an id of a person or a server",
    ),
    ("us-ssn", Class::Personal, "US social security number"),
    (
        "uk-nhs",
        Class::Personal,
        "NHS number with check digit, beside a word that says so",
    ),
    (
        "passport",
        Class::Personal,
        "passport number beside the word",
    ),
    (
        "bank-account",
        Class::Personal,
        "bank account number beside words that say so",
    ),
    ("ip-address", Class::Personal, "IPv4 or IPv6 address"),
    ("mac-address", Class::Personal, "hardware address"),
    (
        "wallet-address",
        Class::Personal,
        "Bitcoin address with checksum",
    ),
    ("owner-id", Class::Personal, "an id of the owner, by value"),
    ("internal-path", Class::Internal, "a configured path"),
    ("internal-term", Class::Internal, "a configured word"),
    (
        "registered-secret",
        Class::Registered,
        "a registered value, in any spelling",
    ),
    ("canary", Class::Canary, "a planted marker, in any spelling"),
];

/// Everything that is looked for.
#[must_use]
pub fn rules() -> Vec<RuleInfo> {
    let forms = RULES.iter().map(|rule| RuleInfo {
        id: &rule.id,
        class: Class::Credential,
        means: &rule.means,
    });
    let built_in = BUILT_IN.iter().map(|(id, class, means)| RuleInfo {
        id,
        class: *class,
        means,
    });
    forms.chain(built_in).collect()
}
