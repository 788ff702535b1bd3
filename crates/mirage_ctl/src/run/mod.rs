//! `mirage run`: a transient session with one command in it, from its directory to its exit code.

mod child;
mod environment;
mod program;

pub(crate) use program::reason;

use crate::cli::RunArgs;
use crate::context::{Context, env};
use crate::screen;
use mirage_core::backend::{self, Backend};
use mirage_core::defs::{EmulatorDef, TopologyDef};
use mirage_core::files::make_dirs;
use mirage_core::gpu_record::GpuSummary;
use mirage_core::session::{Request, Session};
use mirage_core::{Error, sweep};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

pub(crate) fn main(cx: &Context, args: RunArgs) -> Result<u8, Error> {
    run(cx, args).map(|(code, _)| code)
}

/// Runs it: its exit code and what it did with its GPU.
pub(crate) fn run(cx: &Context, args: RunArgs) -> Result<(u8, GpuSummary), Error> {
    let profile = args.profile.as_deref().unwrap_or(mirage_builtin::DEFAULT_PROFILE);
    let gpu = mirage_builtin::gpu(profile)?;
    let backend = backend_of(cx, args.emulator.as_deref())?;
    let workdir = workdir(args.workdir.as_deref())?;
    let mut vars = environment::caller();
    environment::set(&mut vars, &args.env);
    let program = match program::find(&args.command[0], &workdir, &vars) {
        Ok(p) => p,
        Err(e) => return Ok((e.report(), GpuSummary::default())),
    };

    for id in sweep::sweep(&cx.roots) {
        if cx.verbose > 0 {
            screen::say(&format!("removed session {id}, whose mirage was killed"));
        }
    }
    let mut options = BTreeMap::new();
    if let Some(n) = args.cpu_thread_budget {
        options.insert("cpu_thread_budget".to_string(), n.into());
    }
    if let Some(seconds) = args.watchdog {
        options.insert("watchdog".to_string(), seconds.into());
    }
    if let Some(level) = &args.trace_level {
        options.insert("trace_level".to_string(), level.as_str().into());
    }
    let topology = TopologyDef { num_nodes: 1, gpus_per_node: 1, agent: gpu.agent.clone() };
    let emulator = EmulatorDef { emulator: backend.name().into(), options, topology };
    let request = Request { profile, emulator: emulator.clone(), workdir: &workdir, argv: &args.command };
    let mut session =
        Session::create(&cx.roots, &request, |dir, final_dir| backend.prepare(&emulator, dir, final_dir))?;
    if cx.verbose > 0 {
        let name = backend.name();
        screen::say(&format!("session {}: {} ({}) on {name}", session.def.id, gpu.agent, gpu.target.name()));
    }

    let start = Start { vars, program, workdir: workdir.clone(), args: &args };
    let outcome = workload(cx, &mut session, backend, start);
    let key = session.def.key.clone();
    let gpu_used = GpuSummary::read(&session.node_dir().join("gpu"));
    let finished = outcome.and_then(|code| {
        session.ended(i32::from(code))?;
        if gpu_used != GpuSummary::default() {
            gpu_used.write(&session.node_dir().join("gpu.json"))?;
        }
        Ok(code)
    });
    let kept = args.trace_level.as_ref().map(|_| keep_trace(cx, &session));
    let removed = session.remove();
    let code = finished?;
    // What was left was killed; a directory that stays is worth an error even after a good run.
    if let Err(e) = removed {
        sweep::end_processes(&key);
        screen::error(&e, false);
    }
    if let Some(kept) = kept {
        match kept {
            Ok(Some(path)) => screen::say(&format!("trace: {}", path.display())),
            Ok(None) => screen::say("trace: none, no GPU was opened"),
            Err(e) => screen::error(&e, false),
        }
    }
    tell(cx, code, backend, &gpu_used);
    Ok((code, gpu_used))
}

/// Moves the exec's rj.log to where logs are kept: the session's directory is about to go.
fn keep_trace(cx: &Context, session: &Session) -> Result<Option<PathBuf>, Error> {
    let from = session.node_dir().join("rj.log");
    if !from.exists() {
        return Ok(None);
    }
    let dir = cx.roots.state.join("log").join(&session.def.id).join("e-000000/0");
    make_dirs(&dir)?;
    let to = dir.join("rj.log");
    std::fs::copy(&from, &to).map_err(|e| Error::io("write", &to, e))?;
    Ok(Some(to))
}

/// The command before the emulator had its say.
struct Start<'a> {
    vars: environment::Vars,
    program: program::Program,
    workdir: PathBuf,
    args: &'a RunArgs,
}

/// Starts the command and waits for it.
fn workload(cx: &Context, session: &mut Session, backend: &dyn Backend, start: Start<'_>) -> Result<u8, Error> {
    let Start { mut vars, program, workdir, args } = start;
    let injection =
        backend.injection(&cx.exe, &|name| vars.get(name), &session.emulator_dir(), &session.node_dir().join("gpu"))?;
    if cx.verbose > 0 {
        injection.notes.iter().for_each(|note| screen::say(note));
    }
    if backend.presents_emulated_device()
        && let Some(why) = program.not_emulated()
    {
        screen::warn(
            &format!("{} {why}, so it cannot be emulated and sees no GPU", program.path.display()),
            "run a dynamically linked program without special permissions",
        );
    }
    let preload = environment::inject(&mut vars, &injection, &args.env);
    environment::identity(&mut vars, &session.def, &cx.roots);
    let plan = child::Plan { vars, preload, workdir, argv: &args.command };
    let child = child::Child::start(&plan, &program.path)?;
    session.started(child.pid())?;
    child.wait()
}

/// What the user should know afterwards.
fn tell(cx: &Context, code: u8, backend: &dyn Backend, gpu: &GpuSummary) {
    for record in &gpu.unreadable {
        screen::say(&format!("a process's GPU record cannot be read: {record}"));
    }
    if cx.verbose > 0 && backend.presents_emulated_device() {
        screen::say(&format!("gpu: {}", gpu.line()));
    }
    if code == 0 && gpu.used == 0 && !gpu.unused.is_empty() {
        let (program, runtime) = gpu.unused.iter().next().map(|(p, r)| (p.as_str(), r.as_str())).unwrap_or_default();
        screen::warn(
            "exited 0 but never opened the GPU",
            &format!("{program} loaded {runtime}; that ROCm may not know this GPU: try another --profile"),
        );
    }
}

fn backend_of(cx: &Context, named: Option<&str>) -> Result<&'static dyn Backend, Error> {
    if let Some(name) = named {
        return backend::find(name);
    }
    // Never in silence without emulation: the preferred backend is taken even if it is not installed, and says so.
    let preferred = backend::default(&cx.exe, &env).filter(|b| b.presents_emulated_device());
    preferred.or_else(|| backend::all().into_iter().max_by_key(|b| b.preference())).ok_or_else(|| {
        Error::new("emulator-none", "this mirage has no emulator").hint("build it with its default features")
    })
}

fn workdir(named: Option<&Path>) -> Result<PathBuf, Error> {
    let here = std::env::current_dir();
    let Some(named) = named else {
        return here.map_err(|e| {
            Error::new("workdir", format!("cannot tell the working directory: {e}")).hint("name one with --workdir")
        });
    };
    if !named.is_dir() {
        let what = if named.exists() { "is not a directory" } else { "does not exist" };
        return Err(Error::new("workdir", format!("the working directory {} {what}", named.display())));
    }
    Ok(if named.is_absolute() { named.into() } else { here.unwrap_or_default().join(named) })
}
