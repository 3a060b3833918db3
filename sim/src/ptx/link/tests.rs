use super::*;

const HEAD: &str = ".version 7.0\n.target sm_60\n.address_size 64\n";

/// Links texts under the names in0, in1 and so on.
fn link(texts: &[&str]) -> Result<String, Vec<LinkError>> {
    let mut linker = Linker::new();
    for (index, text) in texts.iter().enumerate() {
        let added = linker.add(&format!("in{index}"), &format!("{HEAD}{text}"));
        added.map_err(|error| vec![error])?;
    }
    linker.finish()
}

/// The only error of a link that must fail.
fn refused(texts: &[&str]) -> String {
    let errors = link(texts).expect_err("it must not link");
    assert_eq!(errors.len(), 1, "{errors:?}");
    errors[0].to_string()
}

const USES: &str = ".extern .func (.param .b32 r) f(.param .b32 a);
    .visible .entry k() { .reg .b64 %a; mov.u64 %a, f; ret; }";

fn defines(linkage: &str, value: u32) -> String {
    format!(
        "{linkage} .func (.param .b32 r) f(.param .b32 a) {{ st.param.b32 [r], {value}; ret; }}"
    )
}

/// Without it, the strongest definition might not be the one that calls reach.
#[test]
fn the_strongest_definition_wins_wherever_it_stands() {
    let (weak, other) = (defines(".weak", 1), defines(".weak", 2));
    let strong = defines(".visible", 3);
    let body = |texts: &[&str]| {
        let text = link(texts).unwrap();
        let bodies = (1..4).filter(|value| text.contains(&format!("st.param.b32 [r], {value};")));
        bodies.collect::<Vec<_>>()
    };
    assert_eq!(body(&[USES, &weak, &other]), [1]);
    assert_eq!(body(&[&other, USES, &weak]), [2]);
    assert_eq!(body(&[&weak, USES, &strong]), [3]);
    assert_eq!(body(&[&strong, &weak, USES]), [3]);
}

/// Without it, programs with two definitions or with none would link, and run one by
/// chance.
#[test]
fn duplicates_and_holes_are_named() {
    let strong = defines(".visible", 3);
    assert_eq!(
        refused(&[USES, &strong, &strong]),
        "f is defined in in2, and before in in1"
    );
    assert_eq!(
        refused(&[USES]),
        "f, which in0 uses, is defined in no input"
    );
    let global = ".visible .global .u32 g;";
    assert_eq!(
        refused(&[global, global]),
        "g is defined in in1, and before in in0"
    );
    assert_eq!(
        refused(&[".extern .global .u32 g; .global .u64 p = g;"]),
        "g, which in0 uses, is defined in no input"
    );
    let unused = link(&[".extern .func f(); .extern .global .u32 g; .entry k() { ret; }"]);
    assert!(unused.is_ok(), "{unused:?}");
    let system = ".extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);
        .entry k() { .reg .b64 %a; mov.u64 %a, vprintf; ret; }";
    assert!(link(&[system]).is_ok());
}

/// Without it, all uses of a module would be reported as one error at a time.
#[test]
fn every_hole_is_reported() {
    let holes = ".extern .func f(); .extern .func g(); .entry k() { call f; call g; call f; ret; }";
    assert_eq!(link(&[holes, holes]).unwrap_err().len(), 4);
}

/// Without it, a module could read past a variable that another one made smaller.
#[test]
fn declarations_must_agree() {
    let mismatch = |a: &str, b: &str| {
        let text = refused(&[a, b]);
        assert!(text.contains("in0") && text.contains("in1"), "{text}");
    };
    mismatch(".extern .global .u32 g;", ".visible .global .u64 g;");
    mismatch(".extern .global .u32 g[8];", ".visible .global .u32 g[2];");
    mismatch(".extern .global .u32 g;", ".visible .const .u32 g;");
    mismatch(".extern .global .u32 g;", ".visible .func g() { ret; }");
    mismatch(
        ".extern .func f(.param .b32 a);",
        ".visible .func f(.param .b64 a) { ret; }",
    );
    mismatch(
        ".extern .func f();",
        ".visible .func (.param .b32 r) f() { ret; }",
    );
    mismatch(
        ".visible .func f() { ret; }",
        ".visible .entry f() { ret; }",
    );
    // Other types of the same size are the compilers' business.
    let same = [".extern .global .u32 g;", ".visible .global .f32 g;"];
    assert!(link(&same).is_ok());
    let open = [".extern .global .u32 g[];", ".visible .global .u32 g[7];"];
    assert!(link(&open).unwrap().contains("g[7]"));
}

/// Without it, the largest of several `.common` variables might not be the one that is
/// kept, or a definition would not replace them.
#[test]
fn common_variables_are_merged() {
    let sizes = [".common .global .u32 g;", ".common .global .u32 g[4];"];
    let text = link(&sizes).unwrap();
    assert!(text.contains("g[4]") && !text.contains("u32 g;"), "{text}");
    let defined = [".common .global .u32 g;", ".visible .global .u32 g = 5;"];
    let text = link(&defined).unwrap();
    assert!(
        text.contains("g = 5") && !text.contains(".common"),
        "{text}"
    );
    let aligned = [
        ".extern .global .align 64 .b8 g[8];",
        ".visible .global .align 8 .b8 g[8];",
    ];
    assert!(link(&aligned).unwrap().contains(".align 64"));
}

/// Without it, the statics of one module would be those of another one.
#[test]
fn statics_stay_apart() {
    let text = link(&[
        ".global .u32 s = 1; .func f() { ret; } .visible .entry a() { .reg .u64 %p;
            mov.u64 %p, s; call f; ret; }",
        ".global .u32 s = 2; .func f() { ret; } .visible .entry b() { .reg .u64 %p;
            mov.u64 %p, s; call f; { .reg .u64 s; mov.u64 s, 7; } ret; }",
        ".visible .global .u64 s$in1_0$ = 3; .visible .func f() { ret; }",
    ]);
    // The public name of the last input belongs to no other symbol.
    let text = text.unwrap();
    let module = Module::parse(&text).unwrap();
    let names: Vec<_> = module.vars.iter().map(|var| var.name).collect();
    assert_eq!(names, ["s", "s$in1_1$", "s$in1_0$"]);
    let functions = module.funcs.iter().filter(|func| func.body.is_some());
    let functions: Vec<_> = functions.map(|func| func.name).collect();
    assert_eq!(functions, ["f$in0_0$", "a", "f$in1_0$", "b", "f"]);
    assert!(
        text.contains("mov.u64 %p, s$in1_1$;\n    call f$in1_0$;"),
        "{text}"
    );
    assert!(
        text.contains("mov.u64 s, 7;"),
        "a register was renamed: {text}"
    );
}

/// Without it, a shared array that has an owner would be taken for a launch's dynamic
/// memory, or a launch's for an undefined symbol.
#[test]
fn shared_memory_has_one_owner_or_the_launch() {
    let uses = ".extern .shared .b32 s[4]; .visible .func f() { st.shared.u32 [s], 7; ret; }";
    let owned = link(&[uses, ".visible .shared .b32 s[4];"]).unwrap();
    assert!(owned.contains(".visible .shared") && !owned.contains(".extern"));
    let dynamic = link(&[uses, ".extern .shared .align 16 .b32 s[];"]).unwrap();
    assert_eq!(dynamic.matches(".extern .shared .align 16").count(), 1);
}

/// Without it, a result could not be loaded where its newest input can, and lines of
/// source would be looked for in another input's files.
#[test]
fn header_and_files_are_merged() {
    let mut linker = Linker::new();
    let with = |version: &str, target: &str, file: &str| {
        format!(
            ".version {version}\n.target {target}\n.address_size 64\n.file 1 \"{file}\"
            .visible .entry {file}() {{ .loc 1 5 2\n ret; }}"
        )
    };
    linker.add("x", &with("7.0", "sm_70", "a")).unwrap();
    linker.add("y", &with("7.8", "sm_52, debug", "b")).unwrap();
    let text = linker.finish().unwrap();
    assert!(text.starts_with(".version 7.8\n.target sm_70\n"), "{text}");
    let module = Module::parse(&text).unwrap();
    assert_eq!(module.files, [(1, "a"), (1_000_001, "b")]);
    assert!(text.contains(".loc 1000001 5 2"), "{text}");
}

/// Without it, an input that is refused would leave its symbols behind.
#[test]
fn a_refused_input_leaves_nothing() {
    let mut linker = Linker::new();
    let add =
        |linker: &mut Linker, name: &str, text: &str| linker.add(name, &format!("{HEAD}{text}"));
    add(&mut linker, "a", ".visible .global .u32 g;").unwrap();
    let clash = ".visible .global .u32 new; .visible .global .u32 g;";
    assert!(add(&mut linker, "b", clash).is_err());
    assert!(matches!(
        add(&mut linker, "c", "nonsense"),
        Err(LinkError::Parse { .. })
    ));
    add(&mut linker, "d", ".visible .global .u32 new;").unwrap();
    let short = linker.add("e", ".version 7.0\n.target sm_60\n.address_size 32\n");
    assert!(matches!(short, Err(LinkError::AddressSize { .. })));
    let text = linker.finish().unwrap();
    assert_eq!(Module::parse(&text).unwrap().vars.len(), 2);
}

/// Without it, linking nothing or one whole module would be an error.
#[test]
fn one_input_or_none_will_do() {
    assert!(Module::parse(&link(&[]).unwrap()).is_ok());
    let alone = link(&[".alias g, f; .visible .func f() { ret; } .visible .func g();"]).unwrap();
    assert!(alone.contains(".alias g, f;"), "{alone}");
}

/// Without it, a module that calls a missing function would load, and fail at a lookup
/// that does not name the cause.
#[test]
fn a_module_knows_what_it_lacks() {
    let lacks = |text: &str| {
        let text = format!("{HEAD}{text}");
        unresolved_function(&mut Module::parse(&text).unwrap()).unwrap()
    };
    assert_eq!(lacks(USES), Some(("f".into(), 4)));
    assert_eq!(lacks(".extern .func f(); .entry k() { ret; }"), None);
    assert_eq!(
        lacks(".func f(); .func f() { ret; } .entry k() { call f; ret; }"),
        None
    );
    let hidden = ".extern .func f(); .entry k() { .reg .u32 f; mov.u32 f, 1; ret; }";
    assert_eq!(lacks(hidden), None);
}

/// Without it, a module that contradicts itself would count as complete.
#[test]
fn a_contradiction_is_an_error() {
    let text = format!("{HEAD}.func f(); .global .u32 f; .entry k() {{ call f; ret; }}");
    let error = unresolved_function(&mut Module::parse(&text).unwrap()).unwrap_err();
    assert!(matches!(error, LinkError::Mismatch { .. }), "{error}");
}

/// Without it, a program's own function with the name of one of the engine's would be lost
/// behind its declaration.
#[test]
fn a_declared_function_of_the_system_may_be_defined() {
    let own = ".visible .func (.param .b64 r) malloc(.param .b64 n);
        .visible .func (.param .b64 r) malloc(.param .b64 n) { st.param.b64 [r], 77; ret; }";
    let alone = link(&[own]).unwrap();
    assert!(alone.contains("st.param.b64 [r], 77;"), "{alone}");
    let user = ".extern .func (.param .b64 r) malloc(.param .b64 n);
        .entry k() { .reg .b64 %a; mov.u64 %a, malloc; ret; }";
    let both = link(&[user, own]).unwrap();
    assert!(both.contains("st.param.b64 [r], 77;"), "{both}");
}

/// Without it, a weak body that another one replaces would have to be complete.
#[test]
fn a_body_that_is_dropped_needs_nothing() {
    let weak = ".extern .func g(); .weak .func f() { call g; ret; }";
    let strong = ".visible .func f() { ret; }";
    for order in [[weak, strong], [strong, weak]] {
        let text = link(&order).unwrap();
        assert!(!text.contains("call g"), "{text}");
    }
    assert_eq!(
        refused(&[weak]),
        "g, which in0 uses, is defined in no input"
    );
}

/// Without it, the same inputs would link in one order and not in another.
#[test]
fn sizes_agree_in_every_order() {
    let orders = [
        [0, 1, 2],
        [0, 2, 1],
        [1, 0, 2],
        [1, 2, 0],
        [2, 0, 1],
        [2, 1, 0],
    ];
    let outcome = |texts: [&str; 3]| {
        let linked = orders.map(|order| link(&order.map(|index| texts[index])).is_ok());
        assert!(
            linked.iter().all(|ok| *ok == linked[0]),
            "{texts:?}: {linked:?}"
        );
        linked[0]
    };
    let (small, large) = (".common .global .u32 g;", ".common .global .u32 g[4];");
    let (defined, declared) = (".visible .global .u32 g[4];", ".extern .global .u32 g[4];");
    assert!(!outcome([small, large, defined]));
    assert!(!outcome([small, large, declared]));
    assert!(outcome([large, declared, defined]));
    assert!(outcome([small, large, ".extern .global .u32 g[];"]));
    assert!(!outcome([small, declared, defined]));
    for order in orders {
        let texts = [small, large, ".common .global .u32 g[2];"];
        let text = link(&order.map(|index| texts[index])).unwrap();
        assert!(text.contains("g[4]"), "{text}");
    }
}
