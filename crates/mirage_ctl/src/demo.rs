//! `mirage demo`: `mirage run` of mirage itself as an ordinary client of the driver, then what the GPU did.

use crate::cli::{DemoArgs, RunArgs};
use crate::context::Context;
use crate::{run, screen};
use mirage_core::Error;
use mirage_core::gpu_record::thousands;

const DEFAULT_PROFILE: &str = "mi300x";

pub(crate) fn main(cx: &Context, args: DemoArgs) -> Result<u8, Error> {
    if args.client {
        return match rj_demo::client(&mut std::io::stdout()) {
            Ok(()) => Ok(0),
            Err(e) => Err(Error::new("demo", e)),
        };
    }
    if cx.json {
        return Err(Error::new("demo-json", "the demo draws for people and has no JSON"));
    }
    let profile = args.profile.as_deref().unwrap_or(DEFAULT_PROFILE);
    let gpu = mirage_builtin::gpu(profile)?;
    let target = gpu.target.name();
    if !rj_demo::TARGETS.contains(&target) {
        let targets = rj_demo::TARGETS.join(" and ");
        let message = format!("the demo's kernels are built for {targets}, and {} is {target}", gpu.agent);
        return Err(Error::new("demo-target", message).hint("use --profile mi300x or --profile mi210"));
    }
    let (code, gpu) = run::run(
        cx,
        RunArgs {
            profile: Some(profile.into()),
            emulator: None,
            env: Vec::new(),
            workdir: None,
            cpu_thread_budget: args.cpu_thread_budget,
            watchdog: None,
            trace_level: None,
            command: vec![cx.exe.clone().into(), "demo".into(), "--client".into()],
        },
    )?;
    if code == 0 {
        if gpu.dispatches == 0 || !gpu.unreadable.is_empty() {
            return Err(Error::new("demo-record", "the demo ended well, but its record of the GPU is missing"));
        }
        // Instructions per nanosecond times a thousand is millions per second.
        let rate = gpu.wave_instructions as f64 * 1e3 / gpu.kernel_ns.max(1) as f64;
        screen::out(&format!(
            "{} dispatches, {} wave instructions, {:.3} s, {rate:.1} M wave instructions/s\n",
            gpu.dispatches,
            thousands(gpu.wave_instructions),
            gpu.kernel_ns as f64 / 1e9,
        ))?;
    }
    Ok(code)
}
