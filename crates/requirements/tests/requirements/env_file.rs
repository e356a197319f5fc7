//! Files of variables.

use blastshield_requirements::{EnvFile, EnvFileError, MAX_ENV_FILE_BYTES};
use proptest::prelude::*;

fn value(line: &str) -> String {
    EnvFile::parse(line).unwrap().get("A").unwrap().to_owned()
}

#[test]
fn lines_are_read_as_people_write_them() {
    for (line, expected) in [
        ("A=b", "b"),
        ("export A=b", "b"),
        ("export\tA=b", "b"),
        ("  A = b  ", "b"),
        ("A=", ""),
        ("A=b c", "b c"),
        ("A=b # comment", "b"),
        ("A=b#c", "b#c"),
        ("A=# comment", ""),
        ("A= # comment", ""),
        ("A='b # c'", "b # c"),
        ("A='b\\n$c'", "b\\n$c"),
        ("A=\"b # c\" # comment", "b # c"),
        (r#"A="b\"c\\d\$e\nf\q""#, "b\"c\\d$e\nf\\q"),
        ("A=b=c==", "b=c=="),
        ("A=$(id)${B}`id`", "$(id)${B}`id`"),
        ("A=it's", "it's"),
        ("\u{feff}A=b\r\n", "b"),
        ("# first\n\nA=b\n", "b"),
        ("A=grüße", "grüße"),
    ] {
        assert_eq!(value(line), expected, "{line:?}");
    }
    assert_eq!(value("exported=1\nA=b"), "b");
}

#[test]
fn other_lines_are_named_by_number() {
    use EnvFileError::{AfterQuote, NotAVariable, OpenQuote, Repeated};
    for (text, expected) in [
        ("A=b\nnothing", NotAVariable(2)),
        ("=b", NotAVariable(1)),
        ("1A=b", NotAVariable(1)),
        ("A-B=c", NotAVariable(1)),
        ("A B=c", NotAVariable(1)),
        ("exportA", NotAVariable(1)),
        ("A='b\nc'", OpenQuote(1)),
        ("\n\nA=\"b", OpenQuote(3)),
        ("A=\"b\\\"", OpenQuote(1)),
        ("A='b'c", AfterQuote(1)),
        ("A=1\nB=2\nexport A=1", Repeated(3)),
    ] {
        assert_eq!(EnvFile::parse(text), Err(expected), "{text:?}");
    }
}

#[test]
fn size_and_count_are_bounded() {
    let large = "#".repeat(MAX_ENV_FILE_BYTES + 1);
    assert_eq!(EnvFile::parse(&large), Err(EnvFileError::TooLarge));
    let many: String = (0..4097).map(|n| format!("A{n}=\n")).collect();
    assert_eq!(EnvFile::parse(&many), Err(EnvFileError::TooMany));
}

proptest! {
    #[test]
    fn no_text_makes_it_panic(text in any::<String>()) {
        let _ = EnvFile::parse(&text);
    }

    #[test]
    fn what_is_quoted_comes_back(value in "[^'\\x00-\\x1f\\x7f-\\x9f\u{2028}\u{2029}]{0,40}") {
        let file = EnvFile::parse(&format!("A='{value}'")).unwrap();
        prop_assert_eq!(file.get("A"), Some(value.as_str()));
    }
}
