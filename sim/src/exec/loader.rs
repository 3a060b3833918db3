//! Loading a module: which name means what, where variables live, and the
//! decoding of every function.

use super::decode::{self, DecodeError, Layout, Names, Place, Signature};
use super::inst::{Callee, Func};
use super::kernel::{Kernel, KernelError, ParamInfo};
use super::memory::CODE_WINDOW;
use super::place::{LoadError, Placement, VarSpace, initial_bytes};
use super::pointers::Pointers;
use super::program::{Program, Undecodable};
use crate::ptx::{self, Linkage, Module, Operand, Space, Stmt, Var};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// Registers of a multiprocessor, and how many warps get theirs together.
const REGISTERS: u32 = 64 << 10;
const WARPS: u32 = 4;

/// Dynamic shared memory starts at least where any type is aligned.
const DYNAMIC_ALIGN: u32 = 16;

/// Most bytes of a kernel's parameters (PTX ISA, state spaces), and before PTX 8.1 or
/// for devices before sm_70.
const MOST_PARAMS: u64 = 32764;
const MOST_PARAMS_BEFORE: u64 = 4352;

/// Key of a variable declared in a function: which one, where.
type InnerKey<'a> = (usize, u32, &'a str);

pub(super) struct Loader<'a> {
    module: &'a Module<'a>,
    /// Functions with bodies, by index in the program.
    bodies: Vec<&'a ptx::Func<'a>>,
    names: Names<'a>,
    inner: HashMap<InnerKey<'a>, Place>,
    globals: HashMap<String, (u64, u64)>,
    /// Variables that are declared `.extern` and defined here all the same.
    adopted: Vec<String>,
    /// Shared memory of each entry; functions share the common part.
    shared: Vec<u32>,
    /// What the `.extern .shared` variables ask for, which all begin where dynamic shared
    /// memory does. It holds for all entries, and pads their static shared memory, whether
    /// they name the variables or not (seen on an H200).
    dynamic_align: u32,
    common_shared: u32,
}

impl<'a> Loader<'a> {
    pub(super) fn new(module: &'a Module<'a>) -> Result<Self, LoadError> {
        let mut loader = Loader {
            module,
            bodies: Vec::new(),
            names: Names::default(),
            inner: HashMap::new(),
            globals: HashMap::new(),
            adopted: Vec::new(),
            shared: Vec::new(),
            dynamic_align: 1,
            common_shared: 0,
        };
        for func in &module.funcs {
            check_params(module, func)?;
            let layout = decode::layout(&func.returns, &func.params).unwrap_or_default();
            let index = func.body.is_some().then_some(loader.bodies.len() as u32);
            let known = loader.names.funcs.get(func.name).and_then(|s| s.index);
            match (known, index) {
                (Some(_), Some(_)) if func.linkage != Linkage::Weak => {
                    return Err(LoadError::Duplicate {
                        line: func.line,
                        name: func.name.to_owned(),
                    });
                }
                (Some(_), _) => continue,
                _ => {}
            }
            if index.is_some() {
                loader.bodies.push(func);
            }
            loader
                .names
                .funcs
                .insert(func.name, Signature { index, layout });
        }
        for (new, old) in &module.aliases {
            if let Some(signature) = loader.names.funcs.get(old).cloned() {
                loader.names.funcs.insert(new, signature);
            }
        }
        Ok(loader)
    }

    /// Gives `.global` and `.const` variables addresses, then initial values,
    /// which may name any of them.
    pub(super) fn place_globals(&mut self, device: &mut dyn Placement) -> Result<(), LoadError> {
        let mut defined: HashMap<&str, &Var<'_>> = HashMap::new();
        let mut all = Vec::new();
        for var in &self.module.vars {
            if matches!(var.space, Space::Global | Space::Const) {
                all.push((None, var));
            }
        }
        for (index, func) in self.bodies.iter().enumerate() {
            each_var(func.body.as_deref().unwrap_or(&[]), &mut |var| {
                if matches!(var.space, Space::Global | Space::Const) {
                    all.push((Some(index), var));
                }
            });
        }
        let definitions = all.iter().filter(|(_, var)| var.linkage != Linkage::Extern);
        let definitions: HashSet<&str> = definitions
            .filter(|(func, _)| func.is_none())
            .map(|(_, var)| var.name)
            .collect();
        let mut initialised = Vec::new();
        for (func, var) in all {
            if var.linkage == Linkage::Extern {
                // No other module can define it if this one is not linked.
                let known = self.names.vars.contains_key(var.name);
                if known || definitions.contains(var.name) {
                    continue;
                }
                if var.dims.contains(&None) {
                    self.names.vars.insert(var.name, Place::Undefined);
                    continue;
                }
                self.adopted.push(var.name.to_owned());
            }
            if func.is_none() {
                if defined.contains_key(var.name) {
                    if matches!(var.linkage, Linkage::Weak | Linkage::Common) {
                        continue;
                    }
                    return Err(LoadError::Duplicate {
                        line: var.line,
                        name: var.name.to_owned(),
                    });
                }
                defined.insert(var.name, var);
            }
            let size = var.size().unwrap_or(u64::MAX);
            let space = if var.space == Space::Const {
                VarSpace::Const
            } else if var.managed {
                VarSpace::Managed
            } else {
                VarSpace::Global
            };
            let align = u64::from(var.alignment());
            let Some(address) = device.place(var.name, space, size, align) else {
                return Err(LoadError::NoRoom {
                    line: var.line,
                    name: var.name.to_owned(),
                    size,
                });
            };
            match func {
                None => {
                    self.names.vars.insert(var.name, Place::Device(address));
                    self.globals.insert(var.name.to_owned(), (address, size));
                }
                Some(index) => {
                    let key = (index, var.line, var.name);
                    self.inner.insert(key, Place::Device(address));
                }
            }
            if let Some(init) = &var.init {
                initialised.push((var, init, address));
            }
        }
        for (var, init, address) in initialised {
            let find = |name: &str| self.symbol(name);
            let bytes =
                initial_bytes(var, init, &find).map_err(|reason| LoadError::Initialiser {
                    line: var.line,
                    name: var.name.to_owned(),
                    reason,
                })?;
            device.fill(address, &bytes);
        }
        Ok(())
    }

    fn symbol(&self, name: &str) -> Option<u64> {
        if let Some(Place::Device(at)) = self.names.vars.get(name) {
            return Some(*at);
        }
        let index = self.names.funcs.get(name)?.index?;
        Some(CODE_WINDOW + 16 * u64::from(index))
    }

    /// Shared memory: first what functions use, alike in every kernel, then each
    /// entry's own.
    pub(super) fn place_shared(&mut self) {
        let mut users: HashMap<&str, (usize, bool)> = HashMap::new();
        let module_shared: HashMap<&str, &Var<'_>> = self
            .module
            .vars
            .iter()
            .filter(|v| v.space == Space::Shared)
            .map(|v| (v.name, v))
            .collect();
        if !module_shared.is_empty() {
            for (index, func) in self.bodies.iter().enumerate() {
                each_name(func.body.as_deref().unwrap_or(&[]), &mut |name| {
                    if let Some((&name, _)) = module_shared.get_key_value(name) {
                        let common = !func.entry;
                        users
                            .entry(name)
                            .and_modify(|u| u.1 |= common || u.0 != index)
                            .or_insert((index, common));
                    }
                });
            }
        }
        let mut common = 0u64;
        self.shared = vec![0; self.bodies.len()];
        for var in self.module.vars.iter().filter(|v| v.space == Space::Shared) {
            if var.linkage == Linkage::Extern {
                self.names.vars.insert(var.name, Place::DynamicShared);
                self.dynamic_align = self.dynamic_align.max(var.alignment());
            } else if users.get(var.name).is_some_and(|u| u.1) {
                let at = take(&mut common, var);
                self.names.vars.insert(var.name, Place::Shared(at));
            }
        }
        let inner: Vec<_> = self.inner_shared();
        for &(index, var) in &inner {
            if !self.bodies[index].entry {
                let at = take(&mut common, var);
                self.inner
                    .insert((index, var.line, var.name), Place::Shared(at));
            }
        }
        self.common_shared = u32::try_from(common).unwrap_or(u32::MAX);
        let mut own = vec![common; self.bodies.len()];
        for var in self.module.vars.iter().filter(|v| v.space == Space::Shared) {
            if let Some(&(index, false)) = users.get(var.name)
                && var.linkage != Linkage::Extern
            {
                let at = take(&mut own[index], var);
                self.names.vars.insert(var.name, Place::Shared(at));
            }
        }
        for &(index, var) in &inner {
            if self.bodies[index].entry {
                let at = take(&mut own[index], var);
                self.inner
                    .insert((index, var.line, var.name), Place::Shared(at));
            }
        }
        for (total, own) in self.shared.iter_mut().zip(own) {
            let padded = own.next_multiple_of(u64::from(self.dynamic_align));
            *total = u32::try_from(padded).unwrap_or(u32::MAX);
        }
    }

    fn inner_shared(&self) -> Vec<(usize, &'a Var<'a>)> {
        let mut all = Vec::new();
        for (index, func) in self.bodies.iter().enumerate() {
            each_var(func.body.as_deref().unwrap_or(&[]), &mut |var| {
                if var.space == Space::Shared {
                    all.push((index, var));
                }
            });
        }
        all
    }

    pub(super) fn decode(self, wide: bool, checked: bool) -> Program {
        let mut funcs = Vec::new();
        let mut errors: Vec<Option<DecodeError>> = Vec::new();
        let mut params = Vec::new();
        for (index, func) in self.bodies.iter().enumerate() {
            let layout = self.names.funcs.get(func.name).map(|s| &s.layout);
            let empty = Layout::default();
            let infos = entry_params(func);
            let inner = |var: &Var<'a>| self.inner.get(&(index, var.line, var.name)).copied();
            let input = decode::Input {
                names: &self.names,
                func,
                layout: layout.unwrap_or(&empty),
                params: &infos.0,
                inner: &inner,
                wide,
                checked,
                index: index as u32,
            };
            let decoded = decode::function(&input);
            params.push(infos);
            match decoded {
                Ok(f) => {
                    funcs.push(f);
                    errors.push(None);
                }
                Err(e) => {
                    funcs.push(Func {
                        name: func.name.to_owned(),
                        code: Vec::new(),
                        frame_bytes: 0,
                        consts: Vec::new(),
                        local_bytes: 0,
                        calls: Vec::new(),
                        tables: Vec::new(),
                    });
                    errors.push(Some(e));
                }
            }
        }
        // All of the module's: an indirect call may lead to any of them.
        let mut calls = funcs.iter().flat_map(|func: &Func| &func.calls);
        let uses_heap = calls.any(|call| matches!(call.callee, Callee::Malloc | Callee::Free));
        let funcs = Arc::new(funcs);
        let mut kernels = HashMap::new();
        for (index, (func, infos)) in self.bodies.iter().zip(params).enumerate() {
            if !func.entry {
                continue;
            }
            let kernel = match broken(&funcs, &errors, index) {
                Some((function, e)) => Err(KernelError::Unsupported {
                    kernel: func.name.to_owned(),
                    function: funcs[function].name.clone(),
                    line: e.line,
                    opcode: e.opcode.clone(),
                    reason: e.reason.clone(),
                }),
                None => Ok(Arc::new(self.kernel(index, &funcs, infos, uses_heap))),
            };
            kernels.insert(func.name.to_owned(), kernel);
        }
        let failed = errors.into_iter().zip(funcs.iter());
        let failed = failed.filter_map(|(error, func)| {
            error.map(|e| Undecodable {
                function: func.name.clone(),
                line: e.line,
                opcode: e.opcode,
                reason: e.reason,
            })
        });
        Program {
            undecodable: failed.collect(),
            funcs,
            kernels,
            globals: self.globals,
            adopted: self.adopted,
        }
    }

    fn kernel(
        &self,
        index: usize,
        funcs: &Arc<Vec<Func>>,
        infos: (Vec<ParamInfo>, u32),
        uses_heap: bool,
    ) -> Kernel {
        let func = self.bodies[index];
        let pointers = Pointers::of(func, &infos.0);
        let shape = |wanted: &str| {
            let (_, v) = func.directives.iter().find(|(name, _)| *name == wanted)?;
            let at = |i: usize| {
                v.get(i)
                    .map_or(1, |&n| u32::try_from(n).unwrap_or(u32::MAX).max(1))
            };
            Some([at(0), at(1), at(2)])
        };
        let threads = |s: [u32; 3]| s.iter().fold(1u32, |a, &b| a.saturating_mul(b));
        let required_block = shape("reqntid");
        let limit = required_block
            .or_else(|| shape("maxntid"))
            .map_or(1024, threads);
        let code = &funcs[index];
        let number = |wanted: &str| shape(wanted).map(|[n, ..]| n);
        let threads = limit.min(1024);
        let blocks = number("minnctapersm").unwrap_or(1);
        let most = registers_for(threads, blocks).min(number("maxnreg").unwrap_or(u32::MAX));
        Kernel {
            funcs: Arc::clone(funcs),
            index: index as u32,
            name: func.name.to_owned(),
            params: infos.0,
            param_bytes: infos.1,
            static_shared: self.shared[index],
            dynamic_align: self.dynamic_align.max(DYNAMIC_ALIGN),
            regs: (code.frame_bytes / 128).min(most),
            local_bytes: code.local_bytes,
            max_threads: threads,
            required_block,
            uses_heap,
            pointers,
        }
    }
}

/// The most registers of a thread with which `blocks` blocks of so many threads fit a
/// multiprocessor. A compiler for GPUs stays below it too, so every block that a kernel
/// allows can be launched.
fn registers_for(threads: u32, blocks: u32) -> u32 {
    let warps = threads.div_ceil(32).max(1).next_multiple_of(WARPS);
    let all = u64::from(warps) * 32 * u64::from(blocks);
    let each = u64::from(REGISTERS) / all;
    // No fewer than what one granule has.
    (each as u32 / 8 * 8).clamp(8, 255)
}

/// Offset of a shared variable, taken from `at`.
fn take(at: &mut u64, var: &Var<'_>) -> u32 {
    let start = at.next_multiple_of(u64::from(var.alignment()));
    // A sum beyond 32 bits fails the launch, whose limit is far lower.
    *at = start
        .saturating_add(var.size().unwrap_or(u64::MAX))
        .min(1 << 40);
    u32::try_from(start).unwrap_or(u32::MAX)
}

/// Refuses a kernel whose parameters are larger than PTX allows.
fn check_params(module: &Module<'_>, func: &ptx::Func<'_>) -> Result<(), LoadError> {
    let target = module.architecture().map_or(0, |target| target.number);
    let limit = match module.version >= (8, 1) && target >= 70 {
        true => MOST_PARAMS,
        false => MOST_PARAMS_BEFORE,
    };
    let end = func.params.iter().try_fold(0u64, |at, p| {
        let at = at.checked_next_multiple_of(u64::from(p.var.alignment()))?;
        at.checked_add(p.var.size()?)
    });
    if func.entry && end.is_none_or(|end| end > limit) {
        return Err(LoadError::Params {
            line: func.line,
            name: func.name.to_owned(),
            limit,
        });
    }
    Ok(())
}

/// The parameters of an entry: they have passed [`check_params`], so no sum overflows. No
/// caller asks for those of other functions.
fn entry_params(func: &ptx::Func<'_>) -> (Vec<ParamInfo>, u32) {
    if !func.entry {
        return (Vec::new(), 0);
    }
    let mut at = 0u32;
    let mut infos = Vec::new();
    for p in &func.params {
        let align = p.var.alignment();
        let size = p.var.size().unwrap_or(0) as u32;
        let offset = at.next_multiple_of(align);
        infos.push(ParamInfo {
            offset,
            size,
            align,
        });
        at = offset + size;
    }
    (infos, at)
}

/// The first function reachable from `index` that could not be decoded.
fn broken<'e>(
    funcs: &[Func],
    errors: &'e [Option<DecodeError>],
    index: usize,
) -> Option<(usize, &'e DecodeError)> {
    let mut seen = HashSet::from([index]);
    let mut open = vec![index];
    while let Some(f) = open.pop() {
        if let Some(e) = errors.get(f)? {
            return Some((f, e));
        }
        for call in &funcs[f].calls {
            if let Callee::Direct(next) = call.callee
                && seen.insert(next as usize)
            {
                open.push(next as usize);
            }
        }
    }
    None
}

fn each_var<'a>(body: &'a [Stmt<'a>], f: &mut dyn FnMut(&'a Var<'a>)) {
    for stmt in body {
        match stmt {
            Stmt::Var(var) => f(var),
            Stmt::Scope(inner) => each_var(inner, f),
            _ => {}
        }
    }
}

fn each_name<'a>(body: &'a [Stmt<'a>], f: &mut dyn FnMut(&'a str)) {
    for stmt in body {
        match stmt {
            Stmt::Instr(ins) => ins.args.iter().for_each(|a| operand_names(a, f)),
            Stmt::Scope(inner) => each_name(inner, f),
            _ => {}
        }
    }
}

pub(super) fn operand_names<'a>(arg: &Operand<'a>, f: &mut dyn FnMut(&'a str)) {
    match arg {
        Operand::Name(n)
        | Operand::Sum(n, _)
        | Operand::Element { name: n, .. }
        | Operand::Not(n)
        | Operand::Neg(n)
        | Operand::Address(Some(n), _) => f(n),
        Operand::Pair(one, other) => {
            f(one);
            f(other);
        }
        Operand::Vector(list) | Operand::Bracket(list) | Operand::List(list) => {
            list.iter().for_each(|a| operand_names(a, f));
        }
        _ => {}
    }
}
