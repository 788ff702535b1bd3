//! `cargo xtask fuzz <what> [seconds]`: random tests with new seeds, until the time is over or one fails.

use std::process::Command;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Runs the random tests of `what`.
pub fn run(what: &str, seconds: &str) -> Result<(), String> {
    let crate_name = match what {
        "isa" => "rj_isa",
        _ => return Err(format!("nothing to fuzz is called {what}; there is: isa")),
    };
    let seconds: u64 = seconds.parse().map_err(|_| format!("{seconds} is no number of seconds"))?;
    let end = Instant::now() + Duration::from_secs(seconds);
    let mut seed = SystemTime::now().duration_since(UNIX_EPOCH).map_or(1, |d| d.as_nanos() as u64) | 1;
    loop {
        let status = Command::new(env!("CARGO"))
            .args(["test", "-q", "-p", crate_name, "--release", "--test", "random"])
            .env("RJ_FUZZ_SEED", seed.to_string())
            .env("RJ_FUZZ_ROUNDS", "10000000")
            .status()
            .map_err(|e| format!("cargo: {e}"))?;
        if !status.success() {
            return Err(format!("failed; again with RJ_FUZZ_SEED={seed} RJ_FUZZ_ROUNDS=10000000"));
        }
        if Instant::now() >= end {
            return Ok(());
        }
        seed = seed.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(2) | 1;
    }
}
