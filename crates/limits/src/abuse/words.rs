//! English words by the part that they play in a request for a credential.

use std::sync::LazyLock;

/// A word by its part in a request.
#[derive(Clone, Copy, Default, PartialEq)]
pub(super) enum Word {
    #[default]
    Other,
    /// Hands something over.
    Give,
    /// Has it: asks only after "do you" or "can I".
    Know,
    /// Asks after "I".
    Need,
    What,
    WhatIs,
    /// Asks after "what".
    Is,
    I,
    /// Someone shall get it.
    Me,
    You,
    /// The agent's, or the system's.
    Your,
    May,
    /// Something definite.
    The,
    /// Something made up, or talk about it.
    New,
    /// How it works, or how to build it.
    How,
    Not,
    Please,
    /// Trouble with one's own.
    Trouble,
    /// Turns the word before it into something else: "password field".
    Holder,
    Key,
    Phrase,
    /// "seed phrase".
    PhraseKind,
    /// "API key".
    KeyKind,
    /// A credential, whatever stands around it.
    Plain,
    Token,
    Secret,
    /// "the secret of".
    Of,
}

/// The words of each part.
const WORDS: &[(Word, &str)] = &[
    (
        Word::Give,
        "give gimme show tell send print reveal share dump display output leak provide \
         disclose expose extract paste hand repeat forward recite list steal exfiltrate spell \
         retrieve fetch email transmit say supply respond",
    ),
    (Word::Know, "know have see get hold remember"),
    (Word::Need, "need want"),
    (Word::What, "what which where"),
    (Word::Is, "is are was s"),
    (Word::WhatIs, "what's what’s whats where's where’s"),
    (Word::I, "i we my our"),
    (Word::Me, "me us"),
    (Word::You, "you u"),
    (Word::Your, "your yours ur system's admin root owner's"),
    (Word::May, "can could may might"),
    (
        Word::The,
        "the this that his her their its all any every user user's",
    ),
    (
        Word::New,
        "a an new strong random sample example examples dummy fake placeholder best good \
         difference meaning about if whether purpose steps ways way",
    ),
    (
        Word::How,
        "how why when function method script code class endpoint component test tests \
         implement refactor program tutorial article essay story poem blog regex app write \
         explain describe",
    ),
    (Word::Not, "not never don't don’t dont cannot can't won't"),
    (Word::Please, "please pls plz now"),
    (
        Word::Trouble,
        "forgot forgotten reset change lost wrong invalid missing expired no",
    ),
    (
        Word::Holder,
        "limit limits count counts budget usage bucket size length field fields form input \
         box policy policies manager managers generator strength validation validator \
         rotation header headers format parameter param type types store storage provider \
         providers helper system page screen hashing encryption rules requirements management \
         authentication based santa sauce ingredient ingredients recipe recipes garden \
         service agent society expiry expiration settings section stream ring economy price \
         prices sale",
    ),
    (Word::Key, "key keys"),
    (Word::Phrase, "phrase phrases"),
    (Word::PhraseKind, "seed recovery mnemonic pass"),
    (Word::KeyKind, "api private access ssh signing master"),
    (
        Word::Plain,
        "password passwords passwd passphrase passphrases passcode pwd apikey apikeys \
         credential credentials creds",
    ),
    (Word::Token, "token tokens"),
    (Word::Secret, "secret secrets"),
    (Word::Of, "to of behind for"),
];

/// The same, each word as a number, in order.
static TABLE: LazyLock<Vec<(u128, Word)>> = LazyLock::new(|| {
    let words = WORDS.iter().flat_map(|(part, words)| {
        let words = words.split_whitespace();
        words.filter_map(|word| Some((packed(word.as_bytes())?, *part)))
    });
    let mut table: Vec<_> = words.collect();
    table.sort_unstable_by_key(|(word, _)| *word);
    table
});

/// The part of a word, in any ASCII case.
pub(super) fn classify(word: &[u8]) -> Word {
    let found = packed(word).and_then(|word| {
        let place = TABLE.binary_search_by_key(&word, |(known, _)| *known);
        TABLE.get(place.ok()?)
    });
    found.map_or(Word::Other, |(_, part)| *part)
}

/// A word of at most sixteen bytes as a number.
fn packed(word: &[u8]) -> Option<u128> {
    let mut bytes = [0; 16];
    let space = bytes.get_mut(..word.len())?;
    space.copy_from_slice(word);
    space.make_ascii_lowercase();
    Some(u128::from_be_bytes(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_is_found_and_has_one_part() {
        let listed = WORDS
            .iter()
            .map(|(_, words)| words.split_whitespace().count());
        assert_eq!(TABLE.len(), listed.sum::<usize>(), "a word is too long");
        for (part, words) in WORDS {
            for word in words.split_whitespace() {
                assert!(classify(word.to_uppercase().as_bytes()) == *part, "{word}");
            }
        }
        assert!(TABLE.windows(2).all(|pair| pair[0].0 < pair[1].0));
        assert!(classify(b"") == Word::Other && classify(&[b'a'; 17]) == Word::Other);
    }
}
