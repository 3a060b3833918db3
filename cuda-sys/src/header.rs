//! What the tests read from the text of the generated files: the constants there are, so
//! that tables written by hand can be checked for gaps.

/// The constants of each generated integer type: type, constant, value. Plain constants
/// have an empty type.
pub(crate) fn constants(generated: &str) -> Vec<(&str, &str, i64)> {
    let mut owner = "";
    let mut found = Vec::new();
    let mut rest = generated;
    while let Some((line, after)) = rest.split_once('\n') {
        if let Some(name) = line.strip_prefix("impl ") {
            owner = name.trim_end_matches(" {");
        } else if line == "}" {
            owner = "";
        } else if let Some(constant) = line.trim_start().strip_prefix("pub const ")
            && let Some((name, _)) = constant.split_once(':')
            // A long row is broken after the parenthesis.
            && let Some((_, value)) = rest.split_once('=')
            && let Some((value, _)) = value.split_once(';')
        {
            let digits: String = value
                .rsplit('(')
                .next()
                .unwrap_or("")
                .chars()
                .filter(|character| character.is_ascii_digit() || *character == '-')
                .collect();
            if let Ok(value) = digits.parse() {
                found.push((owner, name, value));
            }
        }
        rest = after;
    }
    found
}

/// Checks a table of codes against the constants of `owner`: none missing, none invented,
/// each with its name, and a text that is no other's.
pub(crate) fn check_codes<S: crate::Status>(generated: &str, owner: &str, known: &[S]) {
    let mut expected: Vec<(i64, &str)> = constants(generated)
        .into_iter()
        .filter(|(found, ..)| *found == owner)
        .map(|(_, name, value)| (value, name))
        .collect();
    assert!(expected.len() > 5, "the generated file was not read");
    let mut found: Vec<(i64, &str)> = known
        .iter()
        .map(|code| (code.code(), code.name().unwrap_or("?")))
        .collect();
    expected.sort_unstable();
    found.sort_unstable();
    assert_eq!(found, expected);
    let mut texts: Vec<&str> = known
        .iter()
        .map(|code| code.advice().unwrap_or(""))
        .collect();
    texts.sort_unstable();
    assert!(
        texts.iter().all(|text| text.len() > 10),
        "a code without advice"
    );
    let twice = texts.windows(2).find(|pair| pair[0] == pair[1]);
    assert_eq!(twice, None, "two codes share a text");
}
