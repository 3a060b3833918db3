//! What the optional libraries' types have in common.

/// Makes the type of an optional library over its module's symbol table. `$version` gives
/// the version that errors about missing functions report. The module adds `load`,
/// `load_from` and `version`.
macro_rules! optional_library {
    ($(#[$doc:meta])* $type:ident, $error:ident, $for_each:ident!, $version:expr) => {
        const COUNT: usize = SYMBOLS.len();

        $(#[$doc])*
        ///
        /// Cheap to clone and shared between threads; its functions are methods, resolved
        /// at their first use.
        #[derive(Clone)]
        pub struct $type {
            table: std::sync::Arc<crate::table::Table<StatusCode, COUNT>>,
        }

        static_assertions::assert_impl_all!($type: Send, Sync, Clone);

        impl $type {
            /// The library over any source of functions.
            ///
            /// # Safety
            /// A [`ProcAddress`](crate::driver::ProcAddress) is an unsafe trait: its
            /// implementation carries the promise, here for this library's header. The
            /// source's functions must be callable now.
            #[must_use]
            pub unsafe fn from_source(source: Box<dyn crate::driver::ProcAddress>) -> Self {
                Self::over(source)
            }

            fn over(source: Box<dyn crate::driver::ProcAddress>) -> Self {
                let mut library = Self { table: std::sync::Arc::new(crate::table::Table::new(source)) };
                // Only errors about missing functions use it: not knowing it is no failure.
                let ask: fn(&Self) -> Version = $version;
                let version = ask(&library);
                if let Some(table) = std::sync::Arc::get_mut(&mut library.table) {
                    table.set_version(version);
                }
                library
            }

            /// The functions of the API that this library lacks. Resolves every function.
            pub fn missing(&self) -> impl Iterator<Item = &'static crate::Symbol> {
                self.table.missing()
            }

            /// Whether this library has the function.
            #[must_use]
            pub fn has(&self, id: crate::SymbolId<StatusCode>) -> bool {
                self.table.entry(id).is_ok()
            }

            /// The address of a function; it can be cast to the type in [`pfn`].
            ///
            /// # Errors
            /// [`CallError::Missing`](crate::CallError::Missing).
            pub fn address(&self, id: crate::SymbolId<StatusCode>) -> Result<*const core::ffi::c_void, $error> {
                Ok(self.table.entry(id)?.as_ptr())
            }

            /// The file that the library was loaded from, where it is known.
            #[must_use]
            pub fn path(&self) -> Option<std::path::PathBuf> {
                self.table.source().file()
            }

            /// What the functions come from, for people: the path or name that was loaded.
            #[must_use]
            pub fn describe(&self) -> String {
                self.table.source().describe()
            }

            #[inline(always)]
            fn table(&self) -> &crate::table::Table<StatusCode, COUNT> {
                &self.table
            }
        }

        impl core::fmt::Debug for $type {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                write!(f, "{}({})", stringify!($type), self.describe())
            }
        }

        impl $type {
            $for_each!(methods!);
        }
    };
}
