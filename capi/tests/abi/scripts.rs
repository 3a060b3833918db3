//! The scripts of the examples, which repeat what the header says.

use std::path::Path;
use std::process::Command;

/// The fields of `CupolaUsage`, in the order of the header.
fn fields(header: &str) -> Vec<&str> {
    let (_, rest) = header.split_once("typedef struct CupolaUsage {").unwrap();
    let (body, _) = rest.split_once('}').unwrap();
    let lines = body.lines().map(str::trim);
    let named = lines.filter_map(|line| line.strip_prefix("uint64_t "));
    let fields: Vec<_> = named.map(|rest| rest.trim_end_matches(';')).collect();
    assert!(fields.len() > 10, "{fields:?}");
    fields
}

// Without it a script could read one figure for another, ask for a function that there is not, or be no
// Python.
#[test]
fn scripts_know_what_the_header_says() {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let Ok(header) = std::fs::read_to_string(package.join("include/cupola.h")) else {
        eprintln!("SKIPPED: the sources are on another machine");
        return;
    };
    let fields = fields(&header).join(" ");
    let mut asked = 0;
    for entry in std::fs::read_dir(package.join("examples")).unwrap() {
        let path = entry.unwrap().path();
        let script = std::fs::read_to_string(&path).unwrap();
        if script.contains("ctypes.Structure") {
            let text: String = script.split('"').collect::<Vec<_>>().join("");
            let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(text.contains(&fields), "{}: {fields}", path.display());
        }
        for (at, _) in script.match_indices("cupola_") {
            let end = |c: char| !c.is_ascii_alphanumeric() && c != '_';
            let name = script[at..].split(end).next().unwrap();
            let is_module = path.with_file_name(format!("{name}.py")).exists();
            let is_function = header.contains(&format!("{name}("));
            assert!(is_function || is_module, "{}: {name}", path.display());
            asked += usize::from(is_function);
        }
        let program = format!("compile(open({path:?}).read(), {path:?}, 'exec')");
        match Command::new("python3").args(["-c", &program]).output() {
            Ok(output) => assert!(output.status.success(), "{output:?}"),
            Err(error) => {
                let strict = std::env::var_os("CUPOLA_STRICT").is_some();
                assert!(!strict, "python3: {error}");
                eprintln!("SKIPPED: {}: python3: {error}", path.display());
            }
        }
    }
    assert!(asked > 30, "{asked}");
}
