//! What processes did with their GPUs: `gpu/<pid>.json` of each, written by the preload library, summed here.

use crate::Error;
use crate::files::write_json;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// One process's record. Keys that are missing count as nothing.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
struct Record {
    program: String,
    opened_at: Option<String>,
    runtime: Option<String>,
    gpu_used: bool,
    queues: u64,
    dispatches: u64,
    wave_instructions: u64,
    kernel_ns: u64,
    faults: Vec<String>,
    unsupported_instructions: BTreeMap<String, u64>,
    unknown_requests: BTreeMap<String, u64>,
    unknown_paths: BTreeSet<String>,
}

/// The sum over all processes of an exec: `gpu.json`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GpuSummary {
    /// Processes that opened the driver.
    pub opened: u64,
    /// Processes whose runtime took a GPU for its own.
    pub used: u64,
    /// Programs that loaded a ROCm runtime which used no GPU, and the runtime's path.
    pub unused: BTreeMap<String, String>,
    /// When a GPU was first opened, RFC 3339.
    pub first_opened_at: Option<String>,
    /// Queues made.
    pub queues: u64,
    /// Kernels that ran to their end.
    pub dispatches: u64,
    /// Wave instructions executed.
    pub wave_instructions: u64,
    /// Nanoseconds during which at least one kernel ran, summed over processes.
    pub kernel_ns: u64,
    /// Reports of faults.
    pub faults: Vec<String>,
    /// Instructions that the engine does not execute, by name.
    pub unsupported_instructions: BTreeMap<String, u64>,
    /// Requests that the driver does not know, by name.
    pub unknown_requests: BTreeMap<String, u64>,
    /// Paths of the driver that were asked for and do not exist.
    pub unknown_paths: BTreeSet<String>,
    /// Records that could not be read.
    pub unreadable: Vec<String>,
}

impl GpuSummary {
    /// Sums the records of a directory; none for a directory without any.
    pub fn read(dir: &Path) -> GpuSummary {
        let mut sum = GpuSummary::default();
        let mut names: Vec<_> = std::fs::read_dir(dir).into_iter().flatten().flatten().map(|e| e.path()).collect();
        names.sort();
        for path in names.iter().filter(|p| p.extension().is_some_and(|e| e == "json")) {
            let record = std::fs::read(path)
                .map_err(|e| e.to_string())
                .and_then(|text| serde_json::from_slice(&text).map_err(|e| e.to_string()));
            match record {
                Ok(record) => sum.add(record),
                Err(e) => sum.unreadable.push(format!("{}: {e}", path.display())),
            }
        }
        sum
    }

    fn add(&mut self, r: Record) {
        if let Some(at) = r.opened_at {
            self.opened += 1;
            if self.first_opened_at.as_ref().is_none_or(|first| at < *first) {
                self.first_opened_at = Some(at);
            }
        }
        if r.gpu_used {
            self.used += 1;
        } else if let Some(runtime) = r.runtime {
            self.unused.insert(r.program, runtime);
        }
        self.queues += r.queues;
        self.dispatches += r.dispatches;
        self.wave_instructions += r.wave_instructions;
        self.kernel_ns += r.kernel_ns;
        self.faults.extend(r.faults);
        self.unknown_paths.extend(r.unknown_paths);
        for (from, to) in [
            (r.unsupported_instructions, &mut self.unsupported_instructions),
            (r.unknown_requests, &mut self.unknown_requests),
        ] {
            for (name, n) in from {
                *to.entry(name).or_default() += n;
            }
        }
    }

    /// Writes `gpu.json`.
    pub fn write(&self, path: &Path) -> Result<(), Error> {
        write_json(path, self)
    }

    /// One line for people: `3 dispatches, 12,345 wave instructions, 0 faults`.
    pub fn line(&self) -> String {
        if self.opened == 0 {
            return "not opened".into();
        }
        let mut parts = vec![
            count(self.dispatches, "dispatch", "dispatches"),
            count(self.wave_instructions, "wave instruction", "wave instructions"),
        ];
        if self.kernel_ns > 0 && self.wave_instructions > 0 {
            // Instructions per nanosecond times a thousand is millions per second.
            let rate = self.wave_instructions as f64 * 1e3 / self.kernel_ns as f64;
            parts.push(format!("{rate:.1} M/s"));
        }
        parts.push(count(self.faults.len() as u64, "fault", "faults"));
        let kinds = [
            (self.unsupported_instructions.len(), "unsupported instruction", "unsupported instructions"),
            (self.unknown_requests.len(), "unknown request", "unknown requests"),
            (self.unreadable.len(), "unreadable record", "unreadable records"),
        ];
        parts.extend(kinds.iter().filter(|k| k.0 > 0).map(|k| count(k.0 as u64, k.1, k.2)));
        parts.join(", ")
    }
}

fn count(n: u64, one: &str, many: &str) -> String {
    format!("{} {}", thousands(n), if n == 1 { one } else { many })
}

/// `12345` as `12,345`.
pub fn thousands(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::new();
    for (i, c) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(c);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_are_summed_and_damage_is_shown() {
        let dir = std::env::temp_dir().join(format!("mirage-gpu-{}", std::process::id()));
        std::fs::create_dir_all(&dir).unwrap();
        let put = |name: &str, text: &str| std::fs::write(dir.join(name), text).unwrap();
        put(
            "1.json",
            r#"{"program": "/a", "opened_at": "2026-01-02T00:00:00Z", "gpu_used": true, "dispatches": 2, "wave_instructions": 12000,
            "faults": ["f"], "unknown_requests": {"ioctl 9": 2}, "of_tomorrow": 1}"#,
        );
        put(
            "2.json",
            r#"{"opened_at": "2026-01-01T00:00:00Z", "dispatches": 1, "wave_instructions": 345, "unknown_requests": {"ioctl 9": 1}}"#,
        );
        put("3.json", r#"{"program": "/b", "opened_at": null, "runtime": "/lib/libhsa-runtime64.so.1"}"#);
        put("4.json", "{");
        put("5.json.tmp.7", "{");
        let sum = GpuSummary::read(&dir);
        assert_eq!((sum.opened, sum.used, sum.dispatches, sum.unknown_requests["ioctl 9"]), (2, 1, 3, 3));
        assert_eq!(sum.first_opened_at.as_deref(), Some("2026-01-01T00:00:00Z"));
        assert_eq!(sum.unused["/b"], "/lib/libhsa-runtime64.so.1");
        assert_eq!(
            sum.line(),
            "3 dispatches, 12,345 wave instructions, 1 fault, 1 unknown request, 1 unreadable record"
        );
        assert_eq!(GpuSummary::read(&dir.join("none")).line(), "not opened");
        std::fs::remove_dir_all(dir).unwrap();
    }
}
