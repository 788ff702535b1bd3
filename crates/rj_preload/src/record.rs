//! The process's record, `$ROCJITSU_RECORD_DIR/<pid>.json`: what it did with its GPUs, for whoever started it.
//!
//! Written whole under a temporary name and renamed: at the first open of a device, when queues come and go, when
//! something is wrong, and at the end. A process that loaded a ROCm runtime and opened no device leaves one, too.

use crate::{claims, init, state, sys};
use rj_kmd::Counts;
use std::collections::BTreeSet;
use std::ffi::{CStr, OsStr};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

#[derive(serde::Serialize)]
struct Record {
    pid: i32,
    program: String,
    /// RFC 3339, UTC; null if no device was opened.
    opened_at: Option<String>,
    /// Path of the ROCm runtime that is loaded.
    runtime: Option<String>,
    gpu_used: bool,
    queues: u64,
    dispatches: u64,
    wave_instructions: u64,
    kernel_ns: u64,
    faults: Vec<String>,
    unsupported_instructions: std::collections::BTreeMap<String, u64>,
    unknown_requests: std::collections::BTreeMap<String, u64>,
    unknown_paths: BTreeSet<String>,
}

/// Writes the record of a process that opened a device; nothing for others.
pub fn write() {
    let Some(dir) = init::RECORD_DIR.get() else { return };
    let Some(state) = state::get() else { return };
    put(dir, &record(Some(state.opened_at), state.process.counts()));
}

/// Writes the last record. Leaves `errno` alone.
pub fn at_exit() {
    let Some(dir) = init::RECORD_DIR.get() else { return };
    let errno = sys::errno();
    if let Some(state) = state::get() {
        if state.process.counts().dispatches == 0 {
            crate::images::libraries(state);
        }
        write();
    } else if init::LOADED_BY.load(std::sync::atomic::Ordering::Relaxed) == sys::getpid()
        && init::RUNTIME_DIR.get().is_some()
        && runtime().is_some()
    {
        put(dir, &record(None, Counts::default()));
    }
    sys::set_errno(errno);
}

fn record(opened: Option<SystemTime>, counts: Counts) -> Record {
    Record {
        pid: sys::getpid(),
        program: std::fs::read_link("/proc/self/exe").map_or(String::new(), |p| p.display().to_string()),
        opened_at: opened.map(rfc3339),
        runtime: runtime(),
        gpu_used: counts.gpu_used,
        queues: counts.queues,
        dispatches: counts.dispatches,
        wave_instructions: counts.wave_instructions,
        kernel_ns: counts.kernel_ns,
        faults: counts.faults,
        unsupported_instructions: counts.unsupported_instructions,
        unknown_requests: counts.unknown_requests,
        unknown_paths: claims::missing_paths(),
    }
}

fn put(dir: &Path, record: &Record) {
    let Ok(mut text) = serde_json::to_vec_pretty(record) else { return };
    text.push(b'\n');
    let path = dir.join(format!("{}.json", record.pid));
    let temporary = dir.join(format!("{}.json.tmp.{}", record.pid, sys::gettid()));
    let written = std::fs::create_dir_all(dir)
        .and_then(|()| std::fs::write(&temporary, &text))
        .and_then(|()| std::fs::rename(&temporary, &path));
    if let Err(e) = written {
        let _ = std::fs::remove_file(&temporary);
        sys::say(&format!("cannot write {}: {e}", path.display()));
    }
}

/// The ROCm runtime that this process has loaded.
fn runtime() -> Option<String> {
    unsafe extern "C" fn look(info: *mut libc::dl_phdr_info, _: usize, found: *mut libc::c_void) -> libc::c_int {
        // SAFETY: the loader passes a valid entry, `runtime` its own Option.
        let (name, found) = unsafe { ((*info).dlpi_name, &mut *found.cast::<Option<String>>()) };
        if name.is_null() {
            return 0;
        }
        // SAFETY: the loader's names are C strings.
        let path = Path::new(OsStr::from_bytes(unsafe { CStr::from_ptr(name) }.to_bytes()));
        let file = path.file_name().map_or(&b""[..], |f| f.as_bytes());
        let ours = [&b"libhsa-runtime64.so"[..], b"libamdhip64.so", b"libamdocl64.so"];
        if ours.iter().any(|o| file.starts_with(o)) {
            *found = Some(path.display().to_string());
            return 1;
        }
        0
    }
    let mut found: Option<String> = None;
    // SAFETY: the callback matches, and `found` outlives the call.
    unsafe { libc::dl_iterate_phdr(Some(look), std::ptr::from_mut(&mut found).cast()) };
    found
}

/// Seconds since 1970 as a UTC date (civil-from-days by the usual era arithmetic).
fn rfc3339(t: SystemTime) -> String {
    let d = t.duration_since(UNIX_EPOCH).unwrap_or_default();
    let (days, s) = (d.as_secs() / 86400, d.as_secs() % 86400);
    let z = days + 719_468;
    let (era, doe) = (z / 146_097, z % 146_097);
    let yoe = (doe - doe / 1460 + doe / 36_524 - doe / 146_096) / 365;
    let doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
    let mp = (5 * doy + 2) / 153;
    let day = doy - (153 * mp + 2) / 5 + 1;
    let month = if mp < 10 { mp + 3 } else { mp - 9 };
    let year = yoe + era * 400 + u64::from(month <= 2);
    let (h, m, s, ms) = (s / 3600, s / 60 % 60, s % 60, d.subsec_millis());
    format!("{year:04}-{month:02}-{day:02}T{h:02}:{m:02}:{s:02}.{ms:03}Z")
}
