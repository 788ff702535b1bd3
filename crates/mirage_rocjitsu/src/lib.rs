//! The rocjitsu backend: finds `librocjitsu.so`, writes its configuration, tells how to preload it. It emulates nothing.
#![forbid(unsafe_code)]

mod library;

use mirage_core::Error;
use mirage_core::backend::{Backend, Env, Injection, Installed, OptionDef, Registered, Supported};
use mirage_core::defs::EmulatorDef;
use mirage_core::files::{to_json, write_unseen};
use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// Variables that every emulated workload starts with; `--env` overrides them. What they work around: copies must
/// take the engines that are emulated, scratch is not handed back early, and collectives stay on this machine.
const ENVIRONMENT: [(&str, &str); 13] = [
    ("HSA_ENABLE_SDMA", "1"),
    ("ROCPROFILER_REGISTER_ENABLED", "0"),
    ("HSA_NO_SCRATCH_RECLAIM", "1"),
    ("NCCL_P2P_DISABLE", "1"),
    ("NCCL_SHM_DISABLE", "1"),
    ("NCCL_SOCKET_NTHREADS", "1"),
    ("NCCL_NSOCKS_PERTHREAD", "1"),
    ("NCCL_SOCKET_IFNAME", "lo"),
    ("NCCL_MAX_NCHANNELS", "1"),
    ("NCCL_MIN_NCHANNELS", "1"),
    ("NCCL_NET_GDR_LEVEL", "LOC"),
    ("NCCL_IB_DISABLE", "1"),
    ("NCCL_CUMEM_ENABLE", "0"),
];

/// ROCr otherwise cuts small allocations from blocks of 2 MiB and keeps these.
const FRAGMENTS: &str = "HSA_DISABLE_FRAGMENT_ALLOCATOR";

struct Rocjitsu;

impl Backend for Rocjitsu {
    fn name(&self) -> &'static str {
        "rocjitsu"
    }

    fn description(&self) -> &'static str {
        "ROCm just-in-time GPU emulator"
    }

    fn installed(&self, exe: &Path, env: Env<'_>) -> Installed {
        library::find(exe, env)
    }

    fn supported(&self) -> Supported {
        let yes = cfg!(target_arch = "x86_64") && cfg!(target_os = "linux");
        let reason = if yes { "runs on any x86-64 Linux, no GPU needed" } else { "runs on x86-64 Linux only" };
        Supported { yes, reason: reason.into() }
    }

    fn options(&self) -> &'static [OptionDef] {
        const TRACE: &str = "what goes into rj.log: fault, launch or all";
        const WATCHDOG: &str = "seconds that a kernel may run without any of its work-groups ending";
        &[
            OptionDef { key: "cpu_thread_budget", kind: "int", help: "host threads that execute GPU code" },
            OptionDef { key: "trace_level", kind: "string", help: TRACE },
            OptionDef { key: "watchdog", kind: "int", help: WATCHDOG },
        ]
    }

    fn presents_emulated_device(&self) -> bool {
        true
    }

    fn preference(&self) -> u32 {
        100
    }

    fn prepare(&self, emulator: &EmulatorDef, dir: &Path, final_dir: &Path) -> Result<(), Error> {
        let agent = &emulator.topology.agent;
        let gpu = rj_hw::find(agent).ok_or_else(|| Error::new("agent-unknown", format!("no GPU '{agent}'")))?;
        let mut config = serde_json::json!({
            "gpu": gpu.key,
            "num_gpus": emulator.topology.gpus_per_node,
            "exec_mode": "functional",
            "vm": { "arch": gpu.arch, "target": gpu.target.name(), "num_gpus": emulator.topology.gpus_per_node },
        });
        for key in self.options().iter().map(|o| o.key) {
            if let Some(value) = emulator.options.get(key) {
                config[key] = value.clone();
            }
        }
        write_unseen(&dir.join("rj_config.json"), &to_json(&config)?)?;
        let mut line = final_dir.join("rj_config.json").into_os_string();
        line.push("\n");
        write_unseen(&dir.join("config_path"), line.as_bytes())
    }

    fn injection(&self, exe: &Path, env: Env<'_>, dir: &Path, record_dir: &Path) -> Result<Injection, Error> {
        let installed = self.installed(exe, env);
        let Some(library) = installed.path.filter(|_| installed.yes) else {
            let searched: Vec<_> = installed.searched.iter().map(|p| p.display().to_string()).collect();
            let message = format!("KMD preload library not found: looked for {}", searched.join(", "));
            return Err(Error::new("preload-missing", message)
                .hint("build it with `cargo build --workspace`, or name it with ROCJITSU_LIB=PATH"));
        };
        if library.as_os_str().as_bytes().iter().any(|&b| b == b':' || b.is_ascii_whitespace()) {
            let message =
                format!("the dynamic loader cannot preload {}: its path has a blank or a colon", library.display());
            return Err(
                Error::new("preload-path", message).hint("copy it elsewhere and name it with ROCJITSU_LIB=PATH")
            );
        }
        let pair = |k: &str, v: OsString| (OsString::from(k), v);
        let mut vars: Vec<_> = ENVIRONMENT.iter().map(|(k, v)| pair(k, v.into())).collect();
        vars.push(pair("ROCJITSU_RUNTIME_DIR", dir.into()));
        vars.push(pair("ROCJITSU_RECORD_DIR", record_dir.into()));
        // A program built with gcc's AddressSanitizer refuses to start behind any preloaded library otherwise.
        const ASAN: &str = "verify_asan_link_order";
        let asan = env("ASAN_OPTIONS").unwrap_or_default();
        if !asan.to_string_lossy().contains(ASAN) {
            let mut merged = asan.clone();
            merged.push(if asan.is_empty() { "" } else { ":" });
            merged.push(format!("{ASAN}=0"));
            vars.push(pair("ASAN_OPTIONS", merged));
        }
        // An allocation of its own for each hipMalloc: what lies past one, or was freed, is then seen.
        let mut notes = Vec::new();
        if env(FRAGMENTS).is_none_or(|v| v.is_empty()) {
            vars.push(pair(FRAGMENTS, "1".into()));
            notes.push(format!("{FRAGMENTS}=1: wrong accesses beside allocations and after free are found"));
        }
        Ok(Injection { env: vars, preload: vec![library], notes })
    }
}

mirage_core::backend::inventory::submit! { Registered(&Rocjitsu) }
