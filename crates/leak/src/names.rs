//! What the name of a value promises.

use crate::value::Promise;
use aho_corasick::AhoCorasick;
use std::sync::LazyLock;

static PROVIDED: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| AhoCorasick::new(PROVIDERS).ok());
static BLANK: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| AhoCorasick::new(NONE).ok());

fn known(list: &Option<AhoCorasick>, name: &str) -> bool {
    list.as_ref().is_some_and(|list| list.is_match(name))
}

/// Names that say the value is none, or everybody's.
const NONE: &[&str] = &[
    "nonmatching",
    "invalid",
    "wrong",
    "fake",
    "dummy",
    "notreal",
    "public",
    "csrf",
    "nonce",
    "cursor",
    "pagetoken",
    "page_token",
    "continuation",
    "integrity",
    "checksum",
    "idempotency",
];

/// What a name promises; nothing if it names a size, an event, a file or a public thing.
pub(crate) fn promise(name: &str, value: &str) -> Option<Promise> {
    let words = words(name);
    let lower = name.to_ascii_lowercase();
    let mut tail = words.iter().rev();
    let mut last = tail.next()?;
    while QUALIFIERS.contains(&last.as_str()) || last.bytes().all(|b| b.is_ascii_digit()) {
        last = tail.next()?;
    }
    let before = tail.next().map_or("", String::as_str);
    if known(&BLANK, &lower) && !lower.contains("pubkey") {
        return None;
    }
    if matches!(last.as_str(), "id" | "ids" | "clientid" | "accessid") {
        let provider = identified(&lower)
            || before == "access" && value.starts_with("su") && value.len() == 14;
        return (provider && !matches!(before, "key" | "secret" | "secrets" | "credentials"))
            .then_some(Promise::Token);
    }
    let last = last.trim_end_matches(|c: char| c.is_ascii_digit());
    let ends = |list: &[&str]| list.iter().any(|word| last.ends_with(word));
    if ends(&["password", "passwd", "passphrase", "passcode", "pwd"])
        || matches!(last, "pass" | "pw" | "passw")
    {
        return Some(Promise::Password);
    }
    if ends(&[
        "token",
        "secret",
        "apikey",
        "secretkey",
        "accesskey",
        "privatekey",
        "authkey",
        "tokens",
        "secrets",
    ]) || matches!(
        last,
        "auth"
            | "authorization"
            | "authentication"
            | "credential"
            | "credentials"
            | "creds"
            | "cred"
            | "login"
            | "authtoken"
    ) {
        return Some(Promise::Token);
    }
    if matches!(last, "key" | "keys") {
        let strong = STRONG.contains(&before) || known(&PROVIDED, &lower);
        return Some(if strong { Promise::Token } else { Promise::Key });
    }
    None
}

/// Words after the one that counts, which change nothing.
const QUALIFIERS: &[&str] = &[
    "value",
    "val",
    "text",
    "string",
    "str",
    "new",
    "old",
    "prod",
    "production",
    "dev",
    "test",
    "staging",
    "live",
    "env",
    "default",
    "base",
    "header",
    "plain",
    "raw",
    "current",
    "main",
    "v",
    "clear",
];

/// Words before `key` that make it one that opens doors.
const STRONG: &[&str] = &[
    "api",
    "access",
    "secret",
    "private",
    "auth",
    "encryption",
    "signing",
    "client",
    "service",
    "admin",
    "master",
    "shared",
    "account",
    "subscription",
    "app",
    "application",
    "license",
    "deploy",
    "write",
    "read",
    "server",
    "user",
    "invoice",
    "iam",
    "hmac",
    "aes",
    "jwt",
    "session",
    "role",
    "anon",
];

/// Names of services whose keys have no form of their own.
const PROVIDERS: &[&str] = &[
    "softlayer",
    "sumo",
    "datadog",
    "algolia",
    "lnbits",
    "mailchimp",
    "sentry",
    "artif",
    "jfrog",
    "cloudant",
    "ibm",
    "twilio",
    "openai",
    "anthropic",
    "azure",
    "aws",
    "gcp",
    "stripe",
    "supabase",
    "heroku",
    "snyk",
    "sendbird",
    "messagebird",
    "squarespace",
    "telegram",
    "discord",
    "slack",
    "github",
    "gitlab",
    "cloudflare",
    "fastly",
    "netlify",
    "vercel",
    "okta",
    "zendesk",
    "travis",
    "circleci",
    "drone",
    "confluent",
    "coinbase",
    "kraken",
    "kucoin",
    "binance",
    "plaid",
    "twitch",
    "twitter",
    "facebook",
    "linkedin",
    "dropbox",
    "asana",
    "trello",
    "jira",
    "atlassian",
    "bitbucket",
    "mapbox",
    "mailgun",
    "sendgrid",
    "etsy",
    "intercom",
    "hubspot",
    "shopify",
    "square",
    "rapidapi",
    "newrelic",
    "moltbook",
];

/// Services whose ids are half of the credential.
const IDENTIFIED: &[&str] = &[
    "messagebird",
    "linkedin",
    "sumo",
    "bitbucket",
    "looker",
    "sendbird",
    "adobe",
    "asana",
    "discord",
    "bittrex",
    "plaid",
    "squarespace",
    "algolia",
    "finicity",
    "facebook",
    "twitter",
];

/// `accessKeyID` and `ACCESS_KEY-ID` as `access`, `key`, `id`.
fn words(name: &str) -> Vec<String> {
    let mut words: Vec<String> = vec![String::new()];
    let mut last = b'_';
    let bytes = name.as_bytes();
    for (place, b) in bytes.iter().enumerate() {
        let next_lower = bytes.get(place + 1).is_some_and(u8::is_ascii_lowercase);
        let cut = !b.is_ascii_alphanumeric()
            || b.is_ascii_uppercase() && (last.is_ascii_lowercase() || last.is_ascii_digit())
            || b.is_ascii_uppercase() && last.is_ascii_uppercase() && next_lower;
        if cut {
            words.push(String::new());
        }
        if b.is_ascii_alphanumeric()
            && let Some(word) = words.last_mut()
        {
            word.push(char::from(b.to_ascii_lowercase()));
        }
        last = *b;
    }
    words.retain(|word| !word.is_empty());
    words
}

/// Whether a name is of a service whose ids are half of the credential.
pub(crate) fn identified(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    IDENTIFIED.iter().any(|word| lower.contains(word))
}
