//! `cargo xtask bindgen`: the files under `cuda-sys/src/generated`.
//!
//! Reproducible byte for byte: headers and libclang are pinned wheels, the C
//! library's headers are our own shims, the target is fixed, and prettyplease formats.

mod api;
mod macros;

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result, bail};
use bindgen::callbacks::{ItemInfo, ParseCallbacks};

use crate::{root, skip, wheels};
use api::Library;

const LIBRARIES: &[Library] = &[
    Library {
        name: "driver",
        wrapper: "#define __CUDA_API_VERSION_INTERNAL\n#include <cuda.h>\n#include <cudaTypedefs.h>\n\
                  #include <cudaProfiler.h>\n#include <cudaProfilerTypedefs.h>\n",
        files: ".*/(cuda|cudaTypedefs|cudaProfiler|cudaProfilerTypedefs)\\.h",
        headers: &[
            "cu13/include/cuda.h",
            "cu13/include/cudaTypedefs.h",
            "cu13/include/cudaProfiler.h",
            "cu13/include/cudaProfilerTypedefs.h",
        ],
        blocked: &[],
        excused: &[],
        preamble: "",
    },
    Library {
        name: "nvrtc",
        wrapper: "#include <nvrtc.h>\n",
        files: ".*/nvrtc\\.h",
        headers: &["cu13/include/nvrtc.h"],
        blocked: &[],
        excused: &[],
        preamble: "",
    },
    Library {
        name: "nvjitlink",
        wrapper: "#include <nvJitLink.h>\n",
        files: ".*/nvJitLink\\.h",
        headers: &["cu13/include/nvJitLink.h"],
        blocked: &[],
        excused: &[],
        preamble: "",
    },
    Library {
        name: "nvml",
        wrapper: "#define NVML_NO_UNVERSIONED_FUNC_DEFS\n#include <nvml.h>\n",
        files: ".*/nvml\\.h",
        headers: &["cu13/include/nvml.h"],
        blocked: &[],
        excused: &[
            ("NVML_VGPU_VIRTUALIZATION_CAP_MIGRATION", "a range of bits"),
            (
                "NVML_VGPU_PGPU_VIRTUALIZATION_CAP_MIGRATION",
                "a range of bits",
            ),
        ],
        preamble: "",
    },
    Library {
        name: "nccl",
        wrapper: "#include <nccl.h>\n",
        files: ".*/nccl\\.h",
        headers: &["nccl/include/nccl.h"],
        blocked: &["CUstream_st", "CUevent_st", "cudaStream_t", "cudaEvent_t"],
        excused: &[
            ("NCCL_COMM_NULL", "a null pointer"),
            ("NCCL_CONFIG_UNDEF_PTR", "a null pointer"),
            ("NCCL_CONFIG_INITIALIZER", "initialises a structure"),
            ("NCCL_COLLCONFIG_INITIALIZER", "initialises a structure"),
            ("NCCL_SIM_INFO_INITIALIZER", "initialises a structure"),
            (
                "NCCL_ENCRYPTION_CONFIG_INITIALIZER",
                "initialises a structure",
            ),
        ],
        preamble: "pub type cudaStream_t = crate::driver::CUstream;\npub type cudaEvent_t = crate::driver::CUevent;\n",
    },
];

/// Regenerates the bindings, or with `check` compares them with the committed ones.
pub(crate) fn run(check: bool) -> Result<()> {
    let fetched = wheels::fetch(&[
        &wheels::CUDA_HEADERS,
        &wheels::PROFILER,
        &wheels::NVRTC,
        &wheels::NVJITLINK,
        &wheels::NVML,
        &wheels::NCCL,
        &wheels::LIBCLANG,
    ]);
    let folder = match fetched {
        Ok(folder) => folder,
        Err(error) if check => {
            skip(
                "bindgen --check",
                &format!("the header wheels cannot be had: {error:#}"),
            )?;
            return Ok(());
        }
        Err(error) => return Err(error),
    };
    let clang = find(&folder, "libclang.so").context("the libclang wheel holds no libclang.so")?;
    // SAFETY: this program is single-threaded here; bindgen reads the variable later.
    unsafe { std::env::set_var("LIBCLANG_PATH", clang.parent().unwrap_or(&clang)) };

    let out = root().join("cuda-sys/src/generated");
    let mut stale = Vec::new();
    for library in LIBRARIES {
        let bindings =
            generate(library, &folder).with_context(|| format!("binding {}", library.name))?;
        for (file, text) in api::files(library, &bindings, &folder)? {
            let path = out.join(&file);
            if fs::read_to_string(&path).is_ok_and(|committed| committed == text) {
                continue;
            }
            if check {
                stale.push(file);
            } else {
                fs::create_dir_all(&out)?;
                fs::write(&path, text)?;
                println!("wrote {}", path.display());
            }
        }
    }
    if stale.is_empty() {
        println!("bindings are current");
        return Ok(());
    }
    bail!(
        "stale: {}; run `cargo xtask bindgen` and commit",
        stale.join(", ")
    )
}

fn generate(library: &Library, folder: &Path) -> Result<syn::File> {
    // NCCL's folder alone for NCCL: its includes of the runtime API go to our shims.
    let include = match library.name {
        "nccl" => folder.join("nvidia/nccl/include"),
        _ => folder.join("nvidia/cu13/include"),
    };
    let text = bindgen::Builder::default()
        .header_contents("wrapper.h", library.wrapper)
        .clang_args([
            "-x",
            "c",
            "-std=c11",
            "--target=x86_64-unknown-linux-gnu",
            "-nostdinc",
        ])
        .clang_arg(format!("-isystem{}", root().join("xtask/shims").display()))
        .clang_arg(format!("-I{}", include.display()))
        .allowlist_file(library.files)
        .blocklist_type(library.blocked.join("|"))
        .allowlist_recursively(true)
        .default_enum_style(bindgen::EnumVariation::NewType {
            is_bitfield: false,
            is_global: false,
        })
        .prepend_enum_name(false)
        .derive_default(true)
        // Enums have `Hash` in any case. An order, and hashes of structures, are half a second of
        // each dependent's build.
        .derive_eq(true)
        .derive_debug(true)
        .impl_debug(true)
        .generate_comments(false)
        .generate_cstr(true)
        .layout_tests(true)
        .merge_extern_blocks(true)
        .use_core()
        .size_t_is_usize(true)
        .rust_target(bindgen::RustTarget::stable(85, 0).map_err(|e| anyhow::anyhow!("{e}"))?)
        .rust_edition(bindgen::RustEdition::Edition2024)
        .formatter(bindgen::Formatter::None)
        .disable_header_comment()
        .parse_callbacks(Box::new(StripVersion))
        .generate()?
        .to_string();
    Ok(syn::parse_file(&text)?)
}

/// nvJitLink's header declares `__nvJitLinkX_13_5`; the library exports `nvJitLinkX` too.
#[derive(Debug)]
struct StripVersion;

impl ParseCallbacks for StripVersion {
    fn item_name(&self, item: ItemInfo<'_>) -> Option<String> {
        let name = item.name.strip_prefix("__nvJitLink")?;
        let mut end = name.len();
        for _ in 0..2 {
            end = name[..end]
                .trim_end_matches(|c: char| c.is_ascii_digit())
                .len();
            end = name[..end].trim_end_matches('_').len();
        }
        Some(format!("nvJitLink{}", &name[..end]))
    }
}

/// The text of a generated file.
fn render(header: &str, items: Vec<syn::Item>) -> String {
    let file = syn::File {
        shebang: None,
        attrs: Vec::new(),
        items,
    };
    format!("{header}{}", prettyplease::unparse(&file))
}

/// The tokens of a type on one line.
fn type_text(ty: &impl quote::ToTokens) -> String {
    let wrapped: syn::File = match syn::parse2(quote::quote!(type T = #ty;)) {
        Ok(file) => file,
        Err(_) => return ty.to_token_stream().to_string(),
    };
    let text = prettyplease::unparse(&wrapped);
    let text = text
        .trim()
        .trim_start_matches("type T =")
        .trim_end_matches(';')
        .trim();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn find(folder: &Path, name: &str) -> Option<std::path::PathBuf> {
    for entry in fs::read_dir(folder).ok()? {
        let path = entry.ok()?.path();
        if path.is_dir() {
            if let Some(found) = find(&path, name) {
                return Some(found);
            }
        } else if path.file_name().is_some_and(|file| file == name) {
            return Some(path);
        }
    }
    None
}
