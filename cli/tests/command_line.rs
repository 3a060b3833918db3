//! The command line as a user meets it: exit codes, messages, JSON.

#[path = "command_line/asked.rs"]
mod asked;
#[cfg(unix)]
#[path = "command_line/cache.rs"]
mod cache;
#[path = "common/cli.rs"]
mod cli;
#[path = "command_line/compile.rs"]
mod compile;
#[path = "command_line/full.rs"]
mod full;
#[cfg(all(feature = "libcuda", target_os = "linux"))]
#[path = "command_line/sim.rs"]
mod sim;

use std::path::Path;

use cli::{cupola, json, output};

/// A trace and a file that are quick to run.
fn inputs(folder: &Path) -> (String, String) {
    let trace = folder.join("small.trace");
    std::fs::write(&trace, "a 1 5000 0\na 2 1 1\nf 1\na 3 70000 0\nf 3\n").unwrap();
    let file = folder.join("data");
    let data: Vec<u8> = (0..300_001_u32)
        .map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as u8)
        .collect();
    std::fs::write(&file, data).unwrap();
    (trace.display().to_string(), file.display().to_string())
}

/// Without it the main job could report success without having done the work.
#[test]
fn the_main_job_verifies_everything_and_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let (trace, file) = inputs(folder.path());
    let args = [
        "run", "--device", "sim", "--json", "-", "--trace", &trace, "--chunk", "50Ki", "--limit",
        "4Mi", &file,
    ];
    let (code, stdout, stderr) = output(&mut cupola(&args));
    assert_eq!(code, Some(0), "{stderr}");
    let report = json(&stdout);
    assert_eq!(report["device"]["backend"], "software device");
    assert_eq!(report["replay"]["blocks"], 3);
    assert_eq!(report["replay"]["stamps_checked"], 3);
    assert_eq!(report["replay"]["trace_peak"], 70_001);
    let mapped = report["replay"]["pool_peak"].as_u64().unwrap();
    assert!((70_001..=4 << 20).contains(&mapped), "{mapped}");
    assert_eq!(report["stream"]["bytes"], 300_001);
    assert_eq!(report["stream"]["chunks"], 6);
    let times =
        ["chunk_p50_ms", "chunk_p99_ms", "span_ms"].map(|name| report["stream"][name].as_f64());
    assert!(times[0] > Some(0.0) && times.is_sorted(), "{times:?}");
    for part in ["replay", "stream"] {
        assert_eq!(report[part]["verified"], true, "{part}");
    }
    assert_eq!(report["leaks"]["objects"], 0);
    assert!(report["leaks"]["on_device"].is_null());
}

/// Without it a file that was asked for could be missing, be of another run, or take the place of what the
/// command reads.
#[test]
fn the_pipeline_is_traced_and_drawn() {
    let folder = tempfile::tempdir().unwrap();
    let (trace, file) = inputs(folder.path());
    let [chrome, svg] = ["run.json", "run.svg"].map(|name| folder.path().join(name));
    let [chrome_name, svg_name] = [&chrome, &svg].map(|path| path.display().to_string());
    let mut args = vec![
        "run",
        "--device",
        "sim",
        "--trace",
        &trace,
        "--chunk",
        "50Ki",
        "--limit",
        "4Mi",
        "--chrome-trace",
        &chrome_name,
        "--timeline",
        &svg_name,
        &file,
    ];
    let (code, _, stderr) = output(&mut cupola(&args));
    assert_eq!(code, Some(0), "{stderr}");
    let found = json(&std::fs::read_to_string(chrome).unwrap());
    let events = found["traceEvents"].as_array().unwrap();
    let uploads = events.iter().filter(|event| event["cat"] == "upload");
    let items: Vec<_> = uploads
        .map(|event| event["args"]["item"].as_u64())
        .collect();
    assert_eq!(items, [0, 1, 2, 3, 4, 5].map(Some));
    let drawn = std::fs::read_to_string(svg).unwrap();
    assert!(
        drawn.starts_with("<svg ") && drawn.ends_with("</svg>\n"),
        "{drawn}"
    );
    assert_eq!(drawn.matches("<title>").count(), 3 * 6);
    args[12] = &file;
    let (code, _, stderr) = output(&mut cupola(&args));
    assert_eq!(code, Some(2), "{stderr}");
    assert!(
        stderr.contains("--timeline would take the place of FILE"),
        "{stderr}"
    );
}

/// Without it a trace that does not fit the limit could run over it, or end as success.
#[test]
fn a_limit_that_is_too_small_is_an_error_with_the_account() {
    let folder = tempfile::tempdir().unwrap();
    let (trace, file) = inputs(folder.path());
    let (code, _, stderr) = output(&mut cupola(&[
        "run", "--device", "sim", "--trace", &trace, "--limit", "70000", &file,
    ]));
    assert_eq!(code, Some(6), "{stderr}");
    assert!(
        stderr.contains("over the limit") && stderr.contains("70000"),
        "{stderr}"
    );
}

/// Without it a machine without a GPU could fall back silently, or fail without a reason.
#[test]
fn a_gpu_that_is_asked_for_and_not_there_is_an_error() {
    let mut command = cupola(&["run", "--device", "gpu"]);
    let (code, stdout, stderr) =
        output(command.env("CUPOLA_CUDA_LIBRARY", "/no/such/libcuda.so.1"));
    assert_eq!(code, Some(3), "{stderr}");
    assert!(
        stderr.contains("/no/such/libcuda.so.1") && stderr.contains("does not exist"),
        "{stderr}"
    );
    assert!(stdout.is_empty());
    // Who names a library does not want the software device instead.
    let mut command = cupola(&["run"]);
    let (code, ..) = output(command.env("CUPOLA_CUDA_LIBRARY", "/no/such/libcuda.so.1"));
    assert_eq!(code, Some(3));
}

/// Without it a wrong name could look like a device failure, or like success.
#[test]
fn files_that_cannot_be_read_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let (trace, _) = inputs(folder.path());
    for (args, name) in [
        (
            vec!["run", "--device", "sim", "no-such-file"],
            "no-such-file",
        ),
        (
            vec!["--device", "sim", "--trace", "no-such-trace"],
            "no-such-trace",
        ),
        (vec!["run", "--device", "sim", "--trace", &trace, "/"], "/"),
    ] {
        let (code, _, stderr) = output(&mut cupola(&args));
        assert_eq!(code, Some(5), "{stderr}");
        assert!(stderr.contains(name), "{stderr}");
    }
    let broken = folder.path().join("broken.trace");
    std::fs::write(&broken, "a 1 5000 0\nf 2\n").unwrap();
    let (code, _, stderr) = output(&mut cupola(&[
        "--device",
        "sim",
        "--trace",
        &broken.display().to_string(),
    ]));
    assert_eq!(code, Some(5));
    assert!(
        stderr.contains("line 2") && stderr.contains("not allocated"),
        "{stderr}"
    );
}

/// Without it an empty file could divide by zero, hang, or count as wrong.
#[test]
fn an_empty_file_is_streamed_in_no_chunks() {
    let folder = tempfile::tempdir().unwrap();
    let (trace, file) = inputs(folder.path());
    std::fs::write(&file, "").unwrap();
    let (code, stdout, stderr) = output(&mut cupola(&[
        "run", "--device", "sim", "--json", "-", "--trace", &trace, &file,
    ]));
    assert_eq!(code, Some(0), "{stderr}");
    assert_eq!(json(&stdout)["stream"]["chunks"], 0);
}

/// Without it the doctor could fail where it is needed most.
#[test]
fn the_doctor_works_without_a_gpu_and_says_what_was_tried() {
    let mut command = cupola(&["doctor", "--json", "-"]);
    let (code, stdout, stderr) =
        output(command.env("CUPOLA_CUDA_LIBRARY", "/no/such/libcuda.so.1"));
    assert_eq!(code, Some(0), "{stderr}");
    let report = json(&stdout);
    let problem = report["driver"]["problem"].as_str().unwrap();
    assert!(problem.contains("/no/such/libcuda.so.1"), "{problem}");
    assert!(report["driver"]["advice"].is_string());
    assert_eq!(
        report["software_device"][0]["name"],
        "cupola software device"
    );
    let pinned = report["software_device"][0]["pinned"].as_str().unwrap();
    assert!(pinned.contains("cuMemHostRegister"), "{pinned}");
    for library in report["libraries"].as_array().unwrap() {
        assert!(
            library["version"].is_string() || library["problem"].is_string(),
            "{library}"
        );
    }
}

/// Without it a wrong command line could be taken for a device failure.
#[test]
fn a_wrong_command_line_ends_with_2() {
    for args in [
        &["--device", "tpu"][..],
        &["--limit", "8X"],
        &["--limit", "16777216Ti"],
        &["--limit", "256Ti"],
        &["--chunk", "0"],
        &["run", "--json"],
        &["docter"],
        &["no-such-file"],
        &["man", "docter"],
        &["completions", "no-such-shell"],
        &["bench"],
        &["bench", "aloc"],
        &["run", "a", "b"],
        &["bench", "alloc", "--threads", "0"],
        &["bench", "alloc", "--runs", "0"],
        &["bench", "launch", "--processes", "0"],
        &[
            "bench", "alloc", "--device", "sim", "--quick", "--only", "xyz",
        ],
        &["bench", "loader", "--device", "sim", "--threads", "2"],
        &["bench", "sim", "--only", "xyz"],
        &["bench", "slots", "--quick", "--only", "xyz"],
    ] {
        let (code, _, stderr) = output(&mut cupola(args));
        assert_eq!(code, Some(2), "{args:?}: {stderr}");
    }
}

/// Without it a suite could fail on the software device, which nothing else would say. How long
/// anything takes is not looked at; `alloc` and `slots` have tests of their own.
#[test]
fn every_suite_runs_on_the_software_device() {
    for (suite, row) in [
        #[cfg(unix)]
        ("cache", "from a ready context to its end"),
        ("graph", "a launch, 1 nodes: cupola"),
        ("kernels", "axpy f32, 64 KiB"),
        ("launch", "a kernel with a signature"),
        ("lifecycle", "stream: acquire and return"),
        ("loader", "empty function, through the table"),
        ("copies", "upload: scheduler"),
        ("peer", "both ways, 64 KiB, direct: copy_between"),
        ("pinned", "a pool's first buffer"),
        ("pipeline", "1:1: by the pipeline"),
        ("sim", "one worker"),
    ] {
        let mut command = cupola(&["bench", suite, "--quick", "--json", "-"]);
        let (code, stdout, stderr) = output(command.env("CUPOLA_DEVICE", "sim"));
        assert_eq!(code, Some(0), "{suite}: {stderr}");
        let figures = json(&stdout);
        assert_eq!(figures["suite"], suite);
        let rows = figures["rows"].as_array().unwrap().iter();
        let names: Vec<_> = rows.filter_map(|row| row["name"].as_str()).collect();
        assert!(names.iter().any(|name| name.contains(row)), "{names:?}");
    }
}

/// Without it the figures of several processes could be those of one, or a form be missing from them.
#[test]
fn launches_are_measured_in_several_processes() {
    // Each row, and of how many processes it has a figure.
    let rows = |processes: &str| -> Vec<(String, usize)> {
        let mut command = cupola(&["bench", "launch", "--device", "sim", "--quick"]);
        command.args(["--json", "-", "--processes", processes]);
        let (code, stdout, stderr) = output(&mut command);
        assert_eq!(code, Some(0), "{stderr}");
        let figures = json(&stdout);
        let rows = figures["rows"].as_array().unwrap().iter();
        rows.map(|row| {
            let processes = row["processes"].as_array().map_or(0, Vec::len);
            (row["name"].as_str().unwrap().to_owned(), processes)
        })
        .collect()
    };
    let of_one = rows("1");
    assert!(of_one.iter().all(|(_, processes)| *processes == 0));
    let of_three: Vec<_> = of_one.into_iter().map(|(name, _)| (name, 3)).collect();
    assert_eq!(rows("3"), of_three);
}

/// Without it figures could be lost, or written in a form that nothing reads.
#[test]
fn a_benchmark_writes_its_figures() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("figures.json").display().to_string();
    let (code, stdout, stderr) = output(&mut cupola(&[
        "bench", "loader", "--device", "sim", "--json", &file,
    ]));
    assert_eq!(code, Some(0), "{stderr}");
    assert!(stdout.contains("through the table"));
    let figures = json(&std::fs::read_to_string(&file).unwrap());
    assert_eq!(figures["suite"], "loader");
    assert!(figures["rows"][1]["ratio"].as_f64().unwrap() > 0.0);
}

/// Without it a store could stop being measured, give wrong results, or a bar be compared
/// with nothing. How long anything takes is not looked at.
#[test]
fn the_stores_are_measured_in_every_way() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("figures.json").display().to_string();
    let (code, stdout, stderr) = output(&mut cupola(&[
        "bench",
        "slots",
        "--quick",
        "--threads",
        "2",
        "--json",
        &file,
    ]));
    assert_eq!(code, Some(0), "{stderr}");
    assert_eq!(
        stdout.contains("WITHOUT PEERS"),
        !cfg!(feature = "peers"),
        "{stdout}"
    );
    let figures = json(&std::fs::read_to_string(&file).unwrap());
    let rows = figures["rows"].as_array().unwrap();
    for row in rows {
        for value in [&row["median"], &row["range"][0], &row["range"][1]] {
            let value = value.as_f64().unwrap_or(f64::NAN);
            assert!(value.is_finite() && value > 0.0, "{row}");
        }
    }
    let names: Vec<_> = rows.iter().filter_map(|row| row["name"].as_str()).collect();
    let mut wanted = vec![
        ("lookup", "FLOOR, acquire load + dependent read"),
        ("lookup, 2 threads", "FLOOR, acquire load + dependent read"),
        ("hand-over", "the ring alone"),
    ];
    for group in ["1 thread", "2 threads"] {
        wanted.push((group, "FLOOR, CAS + fetch_add on one word"));
        wanted.push((group, "Budget, reserve + commit + release"));
    }
    let stores = ["FixedSlots", "SlotPool"];
    let stores = stores.map(|store| format!("{store}, insert + release"));
    let peers = [
        "sharded-slab, insert + take",
        "std Mutex<slab>",
        "std Mutex<slotmap>",
    ];
    for group in ["1 thread", "2 threads", "hand-over"] {
        wanted.extend(stores.iter().map(|name| (group, &**name)));
        if cfg!(feature = "peers") {
            wanted.extend(peers.map(|name| (group, name)));
        }
    }
    for group in ["lookup", "lookup, 2 threads"] {
        wanted.push((group, "FixedSlots, get + drop"));
        wanted.push((group, "SlotPool, get + drop"));
        if cfg!(feature = "peers") {
            wanted.push((group, "slotmap get(&)"));
        }
    }
    let heaps: &[_] = if cfg!(feature = "peers") {
        &["Tlsf", "offset-allocator"]
    } else {
        &["Tlsf"]
    };
    let heaps: Vec<_> = ["highest address", "an operation"]
        .iter()
        .flat_map(|what| {
            heaps
                .iter()
                .map(move |heap| format!("{heap}, {what}, trace embed13"))
        })
        .collect();
    wanted.extend(heaps.iter().map(|name| ("heap", &**name)));
    for (group, name) in wanted {
        let name = format!("{group}: {name}");
        assert!(names.contains(&name.as_str()), "{name} is not in {names:?}");
    }
    let ours = names
        .iter()
        .position(|name| *name == "1 thread: FixedSlots, insert + release");
    let bar = &rows[ours.unwrap()]["bars"][0];
    assert_eq!(
        bar["from"][1],
        "1 thread: FLOOR, CAS + fetch_add on one word"
    );
    assert!(bar["met"].is_boolean());
}

/// Without it a way of allocating could stop being measured, or a peer's figure be set beside
/// other work of ours. How long anything takes is not looked at.
#[test]
fn allocators_are_measured_in_every_way() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let (file, peers, trace) = (path("figures.json"), path("rmm.txt"), path("small.trace"));
    std::fs::write(&peers, "a line of its own\nrmm pool pair 1024 ns 435\n").unwrap();
    std::fs::write(&trace, "a 1 1000 0\na 2 3000000 1\nf 1\na 3 0 0\n").unwrap();
    let (code, stdout, stderr) = output(&mut cupola(&[
        "bench",
        "alloc",
        "--quick",
        "--device",
        "sim",
        "--threads",
        "2",
        "--trace",
        &trace,
        "--peer-output",
        &peers,
        "--json",
        &file,
    ]));
    assert_eq!(code, Some(0), "{stderr}");
    assert!(
        stdout.contains("rmm.txt: 1 lines are rows, medians of their own program; 1 other lines"),
        "{stdout}"
    );
    let figures = json(&std::fs::read_to_string(&file).unwrap());
    let rows = figures["rows"].as_array().unwrap();
    for row in rows {
        let value = row["median"].as_f64().unwrap_or(f64::NAN);
        assert!(value.is_finite() && value >= 0.0, "{row}");
    }
    let row = |name: &str| {
        let found = rows.iter().find(|row| row["name"] == name);
        found.unwrap_or_else(|| panic!("{name} is not in {stdout}"))
    };
    for work in [
        "hot pair, 1 KiB",
        "hot pair, 1 MiB",
        "one hot pair, 1 KiB, p99.9",
        "1000 live blocks, 256 B to 32 MiB, free + allocate",
        "1 thread, 1 MiB",
        "2 threads, 1 MiB",
        "2 threads hand over, 1 KiB, freed on the allocation's stream",
        "2 threads on one stream, 1 KiB",
        "2 threads, 1000 live blocks each, 64 KiB to 4 MiB, free + allocate",
        "trace small, an operation",
        "trace small on 2 threads, an operation",
        "trace small, allocate, p99.99",
        "trace small, free, max",
    ] {
        let ours = format!("{work}: cupola, raw");
        row(&ours);
        let peer = row(&format!("{work}: cuMemAllocAsync + cuMemFreeAsync"));
        assert_eq!(peer["against"], ours.as_str());
    }
    row("hand-over alone, no memory: 2 threads");
    row("2 threads hand over, 1 KiB, freed on the other stream: cupola, raw");
    row("hot pair, 1 KiB: cupola, Buffer");
    for what in ["driver calls", "slow paths"] {
        let row = row(&format!("{what} in a million pairs, 1 KiB: cupola, raw"));
        assert_eq!(row["bars"][0]["met"], true, "{row}");
    }
    row("a hopeless request beside a neighbour, refusal, p99: cupola, raw");
    let noticed = row("the neighbour, with hopeless requests, p99.9: cupola, raw");
    assert_eq!(
        noticed["against"],
        "the neighbour, without hopeless requests, p99.9: cupola, raw"
    );
    let peer = row("hot pair, 1 KiB: RMM pool");
    assert_eq!(peer["against"], "hot pair, 1 KiB: cupola, raw");
    assert!((peer["median"].as_f64().unwrap() - 435.0).abs() < 1e-9);
    let bar = &row("trace small, allocate, p99.99: cupola, raw")["bars"][0];
    assert!(bar["met"].is_boolean());
}

/// Without it a file could be said to run that no call can load.
#[cfg(all(feature = "libcuda", unix))]
#[test]
fn a_check_says_what_cannot_be_loaded() {
    let folder = tempfile::tempdir().unwrap();
    for (bytes, code, said) in [
        (49152, Some(0), "1 of 1 functions can run"),
        (49153, Some(1), "more than 49152"),
    ] {
        let file = folder.path().join("shared.ptx");
        let text = format!(
            ".version 7.0\n.target sm_60\n.address_size 64\n.visible .entry k() {{
             .shared .b8 space[{bytes}]; ret; }}\n"
        );
        std::fs::write(&file, text).unwrap();
        let mut command = cupola(&["sim", "check", &file.display().to_string()]);
        let (ended, stdout, stderr) = output(&mut command);
        assert_eq!(ended, code, "{stdout}{stderr}");
        assert!(stdout.contains(said), "{stdout}");
    }
}
