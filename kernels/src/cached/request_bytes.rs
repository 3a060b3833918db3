//! A [`CompileRequest`] as the bytes of a [`Recipe`], and back.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;

use crate::cache::format::{Reader, put, put_count};
use crate::cache::{FormatError, Recipe};
use crate::compile::{CompileOption, CompileRequest, ImageKind, Target};

/// Goes up whenever the bytes mean something else.
const VERSION: u8 = 1;

impl Recipe {
    /// Records what a compiler was asked, in the folder that relative names start from. `None` where that
    /// is more than [`MOST_BYTES`](Self::MOST_BYTES), or where an option or the architecture would be read
    /// back as another one.
    #[must_use]
    pub fn of(compiler: String, folder: Option<PathBuf>, request: &CompileRequest) -> Option<Self> {
        Some(Self {
            compiler,
            folder,
            request: encode(request)?,
        })
    }

    /// The request that is recorded.
    ///
    /// # Errors
    /// The bytes are none, as those that a caller's own compiler has put there.
    pub fn read_request(&self) -> Result<CompileRequest, FormatError> {
        decode(&self.request)
    }
}

/// The bytes of a request; none where they would be more than an entry keeps, or an option cannot be read
/// back from its argument, or the architecture from its name (compute capability 9.12 has that of 10.2).
fn encode(request: &CompileRequest) -> Option<Vec<u8>> {
    let mut to = vec![VERSION];
    let target = request.target();
    to.push(target.kind().code());
    let architecture = target.architecture();
    let name = architecture.to_string();
    if name.parse() != Ok(architecture) {
        return None;
    }
    put(&mut to, name.as_bytes());
    let source = request.source();
    put(&mut to, source.name.as_bytes());
    put(&mut to, source.text.as_bytes());
    put_count(&mut to, request.headers().len());
    for header in request.headers() {
        put(&mut to, header.name.as_bytes());
        put(&mut to, header.text.as_bytes());
    }
    put_count(&mut to, request.include_folders().len());
    for folder in request.include_folders() {
        put(&mut to, folder.as_os_str().as_bytes());
    }
    put_count(&mut to, request.options().len());
    for option in request.options() {
        let argument = option.argument();
        let is_other = matches!(option, CompileOption::Other(_));
        if !is_other && CompileOption::parse(&argument).as_ref() != Some(option) {
            return None;
        }
        to.push(is_other.into());
        put(&mut to, argument.as_bytes());
    }
    put_count(&mut to, request.name_expressions().len());
    for expression in request.name_expressions() {
        put(&mut to, expression.as_bytes());
    }
    (to.len() <= Recipe::MOST_BYTES).then_some(to)
}

/// The request that these bytes are.
fn decode(bytes: &[u8]) -> Result<CompileRequest, FormatError> {
    let mut from = Reader::new(bytes);
    if from.byte("version of a request")? != VERSION {
        return Err(FormatError::Part("version of a request"));
    }
    let kind = ImageKind::from_code(from.byte("target")?).ok_or(FormatError::Part("target"))?;
    let architecture = from.text("architecture")?;
    let architecture = architecture
        .parse()
        .map_err(|_| FormatError::Part("architecture"))?;
    let target = match kind {
        ImageKind::Cubin => Target::Cubin(architecture),
        ImageKind::Ptx => Target::Ptx(architecture),
        ImageKind::LtoIr => Target::LtoIr(architecture),
        ImageKind::Fatbin => return Err(FormatError::Part("target")),
    };
    let name = from.text("name of the source")?;
    let mut request = CompileRequest::new(name, from.text("source")?, target);
    for _ in 0..from.count(16, "number of headers")? {
        let name = from.text("name of a header")?;
        request = request.header(name, from.text("header")?);
    }
    for _ in 0..from.count(8, "number of folders")? {
        request = request.include_folder(OsStr::from_bytes(from.bytes("folder")?));
    }
    for _ in 0..from.count(9, "number of options")? {
        let is_other = from.flag("option")?;
        let argument = OsStr::from_bytes(from.bytes("option")?);
        request = request.with(match is_other {
            true => CompileOption::Other(argument.to_owned()),
            false => CompileOption::parse(argument).ok_or(FormatError::Part("option"))?,
        });
    }
    for _ in 0..from.count(8, "number of name expressions")? {
        request = request.name_expression(from.text("name expression")?);
    }
    from.end()?;
    Ok(request)
}

#[cfg(test)]
mod tests {
    use super::*;
    use cupola_managers::device::Architecture;

    use crate::compile::{Switch, TargetArchitecture};

    fn full() -> CompileRequest {
        CompileRequest::new("a.cu", "text", Target::Ptx("sm_90a".parse().unwrap()))
            .header("b.h", "b")
            .header("c/d.h", "")
            .include_folder("folder")
            .with(CompileOption::FusedMultiplyAdd(Switch::Off))
            .with("--fmad=false")
            .with("-Wall")
            .define("X", "a=b")
            .name_expression("k<int>")
    }

    // Without it another request could be compiled again than the one that was kept.
    #[test]
    fn a_request_is_read_back_as_it_was() {
        let request = full();
        let bytes = encode(&request).unwrap();
        assert_eq!(decode(&bytes), Ok(request));
        // An argument that would be read as another option.
        let odd = full().with(CompileOption::Define {
            name: "X=1".into(),
            value: None,
        });
        assert_eq!(encode(&odd), None);
        // Architectures without a name of their own.
        for (major, minor) in [(0, 0), (0, 9), (9, 12)] {
            let architecture = TargetArchitecture::new(Architecture::new(major, minor));
            let odd = CompileRequest::new("a.cu", "", Target::Ptx(architecture));
            assert_eq!(encode(&odd), None, "{major}.{minor}");
        }
        let large = full().header("large.h", "x".repeat(Recipe::MOST_BYTES));
        assert_eq!(encode(&large), None);
    }

    /// So many parts of a kind that all of them are less than an entry keeps.
    const MOST: usize = 8;

    fn texts(texts: &[String]) -> impl Iterator<Item = &str> {
        texts.iter().map(String::as_str).take(MOST)
    }

    // Without it a request with a text, a name or an option that the test above has not could be read back as
    // another one.
    #[test]
    fn any_request_is_read_back_as_it_was() {
        fn is_read_back(
            source: (String, String),
            headers: Vec<(String, String)>,
            lists: (Vec<PathBuf>, Vec<String>, Vec<String>),
            typed: Vec<(u32, bool)>,
        ) -> bool {
            let mut request =
                CompileRequest::new(source.0, source.1, Target::LtoIr("sm_75".parse().unwrap()));
            for (name, text) in headers.into_iter().take(MOST) {
                request = request.header(name, text);
            }
            let (folders, options, names) = lists;
            for folder in folders.into_iter().take(MOST) {
                request = request.include_folder(folder);
            }
            for option in texts(&options) {
                request = request.with(CompileOption::Other(option.into()));
            }
            for (number, is_on) in typed {
                let switch = if is_on { Switch::On } else { Switch::Off };
                request = match number % 4 {
                    0 => request.with(CompileOption::MaxRegisters(number)),
                    1 => request.with(CompileOption::FlushToZero(switch)),
                    2 => request.define(format!("N{number}"), "a b=c"),
                    _ => request.with(CompileOption::LineInfo),
                };
            }
            for name in texts(&names) {
                request = request.name_expression(name);
            }
            let bytes = encode(&request).expect("nothing that is read back as another");
            decode(&bytes) == Ok(request)
        }
        quickcheck::quickcheck(is_read_back as fn(_, _, _, _) -> _);
    }

    // Without it bytes that are cut or of another version could panic, or be taken for a request.
    #[test]
    fn other_bytes_are_no_request() {
        let bytes = encode(&full()).unwrap();
        for length in 0..bytes.len() {
            assert!(decode(&bytes[..length]).is_err(), "{length}");
        }
        let longer = [&bytes[..], &[0]].concat();
        assert!(decode(&longer).is_err());
        for at in 0..bytes.len() {
            let mut other = bytes.clone();
            other[at] ^= 0x80;
            // No panic, and never the same request.
            assert_ne!(decode(&other), Ok(full()));
        }
    }
}
