//! Tables of lazily resolved functions, and the macros that make one of a library's
//! API description (`for_each_*_symbol!`).
//!
//! A call costs one atomic load, one compare and one indirect call. An entry holds the
//! function's address, or null before the first use, or 1 once the source said no.

/// Makes the parts that need no `std`: the symbol table, the function pointer types and
/// the positions of the functions.
macro_rules! symbols {
    ($(fn $name:ident = $symbol:literal $base:literal $introduced:literal
        ($($arg:ident: $ty:ty),*) -> $ret:ty;)*) => {
        /// Every function of the API, in the order of the symbol table.
        pub static SYMBOLS: &[crate::Symbol] = &[$(crate::Symbol {
            name: $symbol,
            base: $base,
            introduced: crate::Version($introduced),
        }),*];

        /// The type of each function, under the function's exported name.
        #[allow(non_camel_case_types, non_snake_case, missing_docs)]
        pub mod pfn {
            use super::*;
            $(pub type $name = unsafe extern "C" fn($($arg: $ty),*) -> $ret;)*
        }

        /// The position of each function in [`SYMBOLS`], under its exported name.
        #[allow(non_upper_case_globals, missing_docs)]
        pub mod id {
            #[allow(non_camel_case_types, clippy::enum_variant_names)]
            enum Position { $($name),* }
            $(pub const $name: crate::SymbolId<super::StatusCode> =
                crate::SymbolId::new(Position::$name as u16);)*
        }
    };
}

/// Proves that each row of the description has the type of the prototype in the header. In the
/// tests only: both are generated, and the same for every dependent.
#[cfg(test)]
macro_rules! matches_prototypes {
    ($(fn $name:ident = $symbol:literal $base:literal $introduced:literal
        ($($arg:ident: $ty:ty),*) -> $ret:ty;)*) => {
        $(const _: pfn::$name = $name;)*
    };
}

/// Makes a method of each function, on a type with `table: Table<..>` reachable as
/// `self.table()`.
#[cfg(feature = "std")]
macro_rules! methods {
    ($(fn $name:ident = $symbol:literal $base:literal $introduced:literal
        ($($arg:ident: $ty:ty),*) -> $ret:ty;)*) => {
        $(
            #[doc = concat!("Calls `", stringify!($name), "`.")]
            ///
            /// # Errors
            /// The code that the function returned, or that the library lacks it.
            ///
            /// # Safety
            /// The contract of NVIDIA's documentation of the function.
            #[inline]
            #[allow(non_snake_case, clippy::too_many_arguments)]
            pub unsafe fn $name(
                &self,
                $($arg: $ty),*
            ) -> Result<<$ret as crate::call::Outcome<StatusCode>>::Value, crate::CallError<StatusCode>> {
                let table = self.table();
                let (entry, _scope) = table.enter(id::$name)?;
                // SAFETY: the table's source promised that the address it gave for this
                // symbol is a function of the prototype's type.
                let function: pfn::$name = unsafe { core::mem::transmute(entry) };
                // SAFETY: the caller keeps the function's own contract.
                let value = unsafe { function($($arg),*) };
                crate::call::Outcome::outcome(value, id::$name)
            }
        )*
    };
}

#[cfg(feature = "std")]
pub(crate) use loaded::{Table, scope};

#[cfg(feature = "std")]
mod loaded {
    use core::cell::Cell;
    use core::ffi::c_void;
    use core::marker::PhantomData;
    use core::ptr::{self, NonNull};
    use core::sync::atomic::{AtomicPtr, Ordering};

    use crate::driver::ProcAddress;
    use crate::{CallError, Status, Symbol, SymbolId, Version};

    /// Marks an entry whose function the source does not have.
    const ABSENT: usize = 1;

    /// The functions of one library, resolved at their first use.
    pub(crate) struct Table<S, const N: usize> {
        entries: [Entry; N],
        source: Box<dyn ProcAddress>,
        have: Version,
        status: PhantomData<fn() -> S>,
    }

    /// A function and what its call needs, in one cache line.
    #[repr(C, align(16))]
    struct Entry {
        function: AtomicPtr<c_void>,
        /// What [`scope`] answers while a call runs; null for none. The same in all entries.
        scope: *const (),
    }

    // SAFETY: the functions are atomics, the source is Send, and `scope` is only compared
    // and handed out: code that dereferences it answers for that.
    unsafe impl<S, const N: usize> Send for Table<S, N> {}
    // SAFETY: as above; the source is Sync.
    unsafe impl<S, const N: usize> Sync for Table<S, N> {}

    impl<S: Status, const N: usize> Table<S, N> {
        pub(crate) fn new(source: Box<dyn ProcAddress>) -> Self {
            let scope = source.scope();
            Self {
                entries: core::array::from_fn(|_| Entry {
                    function: AtomicPtr::new(ptr::null_mut()),
                    scope,
                }),
                source,
                have: Version(0),
                status: PhantomData,
            }
        }

        /// The version that errors about missing functions report.
        pub(crate) fn set_version(&mut self, have: Version) {
            self.have = have;
        }

        pub(crate) fn version(&self) -> Version {
            self.have
        }

        pub(crate) fn source(&self) -> &dyn ProcAddress {
            &*self.source
        }

        /// Whether both call one function of this symbol, with one scope.
        pub(crate) fn shares(&self, other: &Self, id: SymbolId<S>) -> bool {
            let own = self.entry(id);
            own.is_ok() && own.ok() == other.entry(id).ok() && self.scope(id) == other.scope(id)
        }

        /// The address of a function.
        #[inline(always)]
        pub(crate) fn entry(&self, id: SymbolId<S>) -> Result<NonNull<c_void>, CallError<S>> {
            // Acquire: the thread that resolved the entry had loaded the library before.
            // The index is a constant in every method: the check costs nothing there.
            if let Some(entry) = self.entries.get(usize::from(id.0))
                && let found = entry.function.load(Ordering::Acquire)
                && found.addr() > ABSENT
                && let Some(found) = NonNull::new(found)
            {
                return Ok(found);
            }
            self.resolve(id)
        }

        #[cold]
        #[inline(never)]
        fn resolve(&self, id: SymbolId<S>) -> Result<NonNull<c_void>, CallError<S>> {
            let missing = CallError::Missing {
                symbol: id,
                have: self.have,
            };
            // A position beyond the end of this table is no symbol's.
            let position = usize::from(id.0);
            let (Some(entry), Some(symbol)) =
                (self.entries.get(position), S::symbols().get(position))
            else {
                return Err(missing);
            };
            let entry = &entry.function;
            if entry.load(Ordering::Acquire).addr() == ABSENT {
                return Err(missing);
            }
            // Two threads may both ask: the source gives both the same answer.
            let found = self.source.proc_address(symbol);
            let Some(found) = NonNull::new(found.cast_mut()) else {
                entry.store(ptr::without_provenance_mut(ABSENT), Ordering::Release);
                return Err(missing);
            };
            entry.store(found.as_ptr(), Ordering::Release);
            Ok(found)
        }

        /// The functions that the source does not have.
        pub(crate) fn missing(&self) -> impl Iterator<Item = &'static Symbol> {
            (0..N).filter_map(|index| {
                let id = SymbolId::new(u16::try_from(index).ok()?);
                self.entry(id).is_err().then(|| &S::symbols()[index])
            })
        }

        /// What [`scope`] answers while a function runs.
        #[inline(always)]
        fn scope(&self, id: SymbolId<S>) -> *const () {
            let entry = self.entries.get(usize::from(id.0));
            entry.map_or(ptr::null(), |entry| entry.scope)
        }

        /// The address of a function, and a guard: until that is dropped, [`scope`] answers this
        /// table's scope.
        #[inline(always)]
        pub(crate) fn enter(
            &self,
            id: SymbolId<S>,
        ) -> Result<(NonNull<c_void>, Scope), CallError<S>> {
            let function = self.entry(id)?;
            let scope = self.scope(id);
            // Also a null scope replaces an outer one: a function that is called through a
            // source without a scope must not take the outer source's state for its own.
            let outer = (scope != SCOPE.get()).then(|| SCOPE.replace(scope));
            Ok((function, Scope(outer)))
        }
    }

    thread_local! {
        static SCOPE: Cell<*const ()> = const { Cell::new(ptr::null()) };
    }

    /// The scope of the innermost call that runs on this thread; null if there is none.
    pub(crate) fn scope() -> *const () {
        SCOPE.get()
    }

    /// Puts the outer scope back when dropped.
    pub(crate) struct Scope(Option<*const ()>);

    impl Drop for Scope {
        #[inline(always)]
        fn drop(&mut self) {
            if let Some(outer) = self.0 {
                SCOPE.set(outer);
            }
        }
    }
}
