//! What workers do in these tests.

use std::process::Stdio;
use std::time::Duration;

use cupola_managers::ops::{self, LaunchConfig};
use cupola_managers::{Context, ExecutionManager, MemoryPool, PoolConfig, Stream};
use cupola_sim::Machine;
use cupola_worker::{self as worker, Failure, Item, Supervisor, WorkerConfig};

/// Writes to an address that is an argument.
const WILD: &str = "
.version 7.0
.target sm_80
.address_size 64
.visible .entry wild(.param .u64 place) {
    .reg .b64 %rd1;
    .reg .b32 %r1;
    ld.param.u64 %rd1, [place];
    mov.u32 %r1, 7;
    st.global.u32 [%rd1], %r1;
    ret;
}";

/// In a worker: serves the job that it was started for.
pub(crate) fn serve() {
    worker::serve("script", || Ok::<_, Failure>(script));
    worker::serve("reverse", || {
        Ok::<_, Failure>(|item: Item<'_>| Ok(item.bytes.iter().rev().copied().collect()))
    });
    worker::serve("watched", || {
        std::thread::spawn(worker::end_with_supervisor);
        Ok::<_, Failure>(script)
    });
    worker::serve("gpu", || {
        let mut gpu = Gpu::open()?;
        Ok::<_, Failure>(move |item: Item<'_>| gpu.work(item))
    });
    worker::serve("not-opened", || {
        Err::<fn(Item<'_>) -> Result<Vec<u8>, Failure>, _>(Failure::new("no such device"))
    });
    worker::serve("panics-at-start", || -> Result<Script, Failure> {
        panic!("no start at all")
    });
    worker::serve("opens-slowly", || -> Result<Script, Failure> {
        std::thread::sleep(Duration::from_secs(600));
        Ok(script)
    });
    worker::serve("opens-once", || -> Result<Script, Failure> {
        let mark = std::env::var("CUPOLA_TEST_MARK")?;
        let first = std::fs::File::create_new(mark);
        first.map_err(|_| Failure::new("the device is taken"))?;
        Ok(script)
    });
}

type Script = fn(Item<'_>) -> Result<Vec<u8>, Failure>;

/// A configuration for tests: this program, quiet, with little patience.
pub(crate) fn config(job: &str) -> WorkerConfig {
    let mut config = WorkerConfig::new(job);
    config
        .command()
        .args(["entry", "--exact", "--ignored", "--quiet", "--nocapture"])
        // A backtrace takes longer than most deadlines here.
        .env("RUST_BACKTRACE", "0")
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    config.backoff = Duration::from_millis(1);
    config.backoff_ceiling = Duration::from_millis(20);
    config
}

pub(crate) fn start(job: &str) -> Supervisor {
    Supervisor::start(config(job)).expect("the worker starts")
}

/// Does what the item says: words and numbers. `until N` in front: only before that attempt.
fn script(item: Item<'_>) -> Result<Vec<u8>, Failure> {
    let text = std::str::from_utf8(item.bytes)?;
    let mut words = text.split(' ');
    let mut word = words.next();
    if word == Some("until") {
        let attempt: u16 = words.next().unwrap_or("").parse()?;
        word = words.next();
        if item.attempt >= attempt {
            word = Some("say");
        }
    }
    let rest: Vec<&str> = words.collect();
    let number = || rest.first().map_or(Ok(0), |word| word.parse::<u64>());
    match word {
        Some("say") => {}
        Some("sleep") => std::thread::sleep(Duration::from_millis(number()?)),
        Some("hang") => std::thread::sleep(Duration::from_secs(3600)),
        Some("mark-and-hang") => {
            std::fs::File::create_new(rest.join(" "))?;
            std::thread::sleep(Duration::from_secs(3600));
        }
        Some("exit") => std::process::exit(number()? as i32),
        Some("abort") => std::process::abort(),
        Some("panic") => panic!("{}", rest.join(" ")),
        Some("fail") => return Err(Failure::new(rest.join(" "))),
        Some("lost") => return Err(Failure::new(rest.join(" ")).sticky()),
        Some("bytes") => return Ok(vec![7; number()? as usize]),
        Some("input") => {
            let mut line = String::new();
            return Ok(vec![std::io::stdin().read_line(&mut line)? as u8]);
        }
        _ => return Err(Failure::new(format!("no such word: {text:?}"))),
    }
    Ok(format!("{} {text}", item.sequence).into_bytes())
}

/// A software device and what works on it.
struct Gpu {
    pool: MemoryPool,
    stream: Stream,
    context: Context,
    // Below what runs on it.
    _execution: ExecutionManager,
    _machine: Machine,
}

/// What a "gpu" item is: the trouble that it makes before its `until`th attempt, and data.
pub(crate) fn gpu_item(trouble: u8, until: u8, sequence: u64) -> Vec<u8> {
    let mut item = vec![trouble, until];
    item.extend((0..32).map(|place| (sequence as u8).wrapping_mul(place)));
    item
}

pub(crate) fn gpu_result(item: &[u8]) -> Vec<u8> {
    item[2..].iter().map(|byte| byte.wrapping_add(1)).collect()
}

impl Gpu {
    fn open() -> Result<Self, Failure> {
        let machine = Machine::builder().worker_threads(1).build();
        let execution = ExecutionManager::new(machine.driver())?;
        let context = execution.devices().get(0)?.primary()?;
        Ok(Self {
            pool: context.memory_pool(PoolConfig::limit(8 << 20))?,
            stream: context.streams().create(Default::default())?,
            context,
            _execution: execution,
            _machine: machine,
        })
    }

    fn work(&mut self, item: Item<'_>) -> Result<Vec<u8>, Failure> {
        let [trouble, until, data @ ..] = item.bytes else {
            return Err(Failure::new("too short"));
        };
        if item.attempt < u16::from(*until) {
            match trouble {
                b's' => self.write_nowhere()?,
                b'p' => panic!("item {} panics", item.sequence),
                b'h' => std::thread::sleep(Duration::from_secs(3600)),
                b'a' => std::process::abort(),
                _ => {}
            }
        }
        let mut numbers = self.pool.allocate::<u8>(data.len(), &self.stream)?;
        ops::write(&mut numbers, data, &self.stream)?;
        let mut back = vec![0; data.len()];
        ops::read(&numbers, &mut back, &self.stream)?;
        std::thread::sleep(Duration::from_micros(u64::from(data[1]) * 4));
        Ok(back.iter().map(|byte| byte.wrapping_add(1)).collect())
    }

    fn write_nowhere(&self) -> Result<(), Failure> {
        let wild = self.context.modules().load_ptx(WILD)?.function("wild")?;
        // SAFETY: not safe, on purpose: the software device answers with an error.
        unsafe {
            ops::launch(
                &wild,
                LaunchConfig::linear(1, 32),
                (0xdead_0000_0000u64,),
                &self.stream,
            )?;
        }
        Ok(ops::synchronize(&self.stream)?)
    }
}
