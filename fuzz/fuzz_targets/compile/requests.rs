//! Any bytes as the request that an entry records: nothing panics or asks for more memory than there are
//! bytes, and what is taken for a request is written and read back as itself.
#![no_main]

use cupola_kernels::cache::Recipe;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let recipe = Recipe {
        compiler: String::new(),
        folder: None,
        request: bytes.to_vec(),
    };
    let Ok(request) = recipe.read_request() else {
        return;
    };
    // An option may be spelled otherwise than it is written.
    let Some(written) = Recipe::of(String::new(), None, &request) else {
        return;
    };
    let read = written.read_request().expect("what was written");
    assert_eq!(read, request);
    assert_eq!(Recipe::of(String::new(), None, &read), Some(written));
});
