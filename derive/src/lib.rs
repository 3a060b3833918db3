//! `#[derive(DeviceCopy)]`, as `cupola_managers` and `cupola` re-export it.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::spanned::Spanned as _;
use syn::{Data, DeriveInput, Error, Meta, Result, Token, punctuated::Punctuated};

/// Implements `DeviceCopy` for a struct whose fields are `DeviceCopy`: it is an argument of kernels then.
///
/// The struct is `#[repr(C)]` or `#[repr(transparent)]`, so that device code finds its fields
/// where the host put them, and has no type or lifetime parameters. That it has no padding is
/// checked when it is compiled: write a field where the compiler would leave bytes free.
///
/// ```
/// use cupola_managers::DeviceCopy;
///
/// #[derive(Clone, Copy, DeviceCopy)]
/// #[repr(C)]
/// struct Particle {
///     position: [f32; 3],
///     alive: bool,
///     _pad: [u8; 3],
/// }
/// ```
///
/// Padding does not compile:
///
/// ```compile_fail,E0080
/// use cupola_managers::DeviceCopy;
///
/// #[derive(Clone, Copy, DeviceCopy)]
/// #[repr(C)]
/// struct Padded {
///     small: u8,
///     large: u32,
/// }
/// ```
///
/// Nor does a field that is not `DeviceCopy`, or a layout that is the compiler's to choose:
///
/// ```compile_fail,E0277
/// use cupola_managers::DeviceCopy;
///
/// #[derive(Clone, Copy, DeviceCopy)]
/// #[repr(C)]
/// struct Borrowing {
///     text: &'static str,
/// }
/// ```
///
/// ```compile_fail
/// use cupola_managers::DeviceCopy;
///
/// #[derive(Clone, Copy, DeviceCopy)]
/// struct Unspecified {
///     number: u32,
/// }
/// ```
#[proc_macro_derive(DeviceCopy)]
pub fn device_copy(input: proc_macro::TokenStream) -> proc_macro::TokenStream {
    derived(input, &quote!(::cupola_managers))
}

/// The same for crates that depend on `cupola`, which re-exports it as `DeviceCopy`.
#[proc_macro_derive(FacadeDeviceCopy)]
pub fn facade_device_copy(input: proc_macro::TokenStream) -> proc_macro::TokenStream {
    derived(input, &quote!(::cupola::managers))
}

fn derived(input: proc_macro::TokenStream, root: &TokenStream) -> proc_macro::TokenStream {
    syn::parse(input)
        .and_then(|input| implementations(&input, root))
        .unwrap_or_else(|error| error.to_compile_error())
        .into()
}

/// The implementation, with `root` as the path of `cupola_managers`.
fn implementations(input: &DeriveInput, root: &TokenStream) -> Result<TokenStream> {
    let Data::Struct(data) = &input.data else {
        return Err(Error::new_spanned(
            &input.ident,
            "DeviceCopy can be derived for structs only: not every number is a variant of an enum, \
             and a union does not say which field its bytes are",
        ));
    };
    let generics = &input.generics;
    if let Some(parameter) = generics.params.first() {
        return Err(Error::new_spanned(
            parameter,
            "DeviceCopy cannot be derived for a struct with parameters: whether it has padding \
             depends on them; implement it for the types that you use",
        ));
    }
    if !has_fixed_layout(input)? {
        return Err(Error::new_spanned(
            &input.ident,
            "DeviceCopy needs #[repr(C)] or #[repr(transparent)]: else the compiler orders the \
             fields as it likes",
        ));
    }
    let name = &input.ident;
    let types: Vec<_> = data.fields.iter().map(|field| &field.ty).collect();
    // The span of a field, so that an error points to the one that is to blame.
    let bounds = types.iter().map(|ty| {
        quote_spanned!(ty.span()=> const _: fn() = || {
            fn is_device_copy<T: #root::DeviceCopy>() {}
            is_device_copy::<#ty>();
        };)
    });
    Ok(quote! {
        #(#bounds)*

        const _: () = assert!(
            ::core::mem::size_of::<#name>() == 0 #(+ ::core::mem::size_of::<#types>())*,
            concat!("`", stringify!(#name), "` has padding: fill it with a field of bytes"),
        );

        // SAFETY: the layout is fixed, the sizes of the fields add up to that of the struct, so
        // none of its bytes is padding (both checked above); each field is `DeviceCopy`, so it has
        // no pointers and is valid as zeros, and the struct is valid where its fields are.
        #[automatically_derived]
        unsafe impl #root::DeviceCopy for #name {
            const ANY_BITS: bool = true #(&& <#types as #root::DeviceCopy>::ANY_BITS)*;

            fn is_valid(bytes: &[u8]) -> bool {
                if bytes.len() != ::core::mem::size_of::<Self>() {
                    return false;
                }
                // Without padding each field begins where the one before ends.
                let rest = bytes;
                #(
                    let (field, rest) = rest.split_at(::core::mem::size_of::<#types>());
                    if !<#types as #root::DeviceCopy>::ANY_BITS
                        && !<#types as #root::DeviceCopy>::is_valid(field)
                    {
                        return false;
                    }
                )*
                rest.is_empty()
            }
        }
    })
}

/// Whether the attributes say `repr(C)` or `repr(transparent)`.
fn has_fixed_layout(input: &DeriveInput) -> Result<bool> {
    for attribute in &input.attrs {
        if !attribute.path().is_ident("repr") {
            continue;
        }
        let list = attribute.parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated)?;
        if list
            .iter()
            .any(|meta| meta.path().is_ident("C") || meta.path().is_ident("transparent"))
        {
            return Ok(true);
        }
    }
    Ok(false)
}
