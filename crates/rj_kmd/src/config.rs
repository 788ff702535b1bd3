//! The configuration that a session hands to the engine: which GPU, how many, how many threads.
//!
//! It is named by the first line of `$ROCJITSU_RUNTIME_DIR/config_path`. Finding it is the caller's job.

use serde::Deserialize;

/// What the emulated machine is.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Config {
    /// The GPU's name in the hardware table (any spelling that rj_hw accepts).
    pub gpu: String,
    /// How many of it, at least 1.
    #[serde(default = "one")]
    pub num_gpus: u32,
    /// Threads that execute waves; none: as many as the CPUs this process may use.
    #[serde(default)]
    pub cpu_thread_budget: Option<u32>,
    /// The process ends if no work-group of a running kernel ends for so many seconds; none: never.
    #[serde(default)]
    pub watchdog: Option<u32>,
    /// What goes into the trace: `fault`, `launch` (that and every kernel launch) or `all`; none: there is no trace.
    #[serde(default)]
    pub trace_level: Option<TraceName>,
}

/// Name of a trace level.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TraceName {
    /// What goes wrong.
    Fault,
    /// And every kernel launch.
    Launch,
    /// And queues, memory, ends of kernels.
    All,
}

impl From<TraceName> for rj_vm::TraceLevel {
    fn from(name: TraceName) -> Self {
        match name {
            TraceName::Fault => rj_vm::TraceLevel::Fault,
            TraceName::Launch => rj_vm::TraceLevel::Launch,
            TraceName::All => rj_vm::TraceLevel::All,
        }
    }
}

fn one() -> u32 {
    1
}

/// Why a configuration is of no use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigError(pub String);

impl std::fmt::Display for ConfigError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ConfigError {}

impl Config {
    /// Reads the JSON text; keys that this version does not know are ignored.
    pub fn parse(text: &str) -> Result<Config, ConfigError> {
        let cfg: Config = serde_json::from_str(text).map_err(|e| ConfigError(e.to_string()))?;
        if cfg.num_gpus == 0 || cfg.num_gpus > 64 {
            return Err(ConfigError(format!("num_gpus is {}, must be 1 to 64", cfg.num_gpus)));
        }
        if cfg.cpu_thread_budget == Some(0) {
            return Err(ConfigError("cpu_thread_budget is 0, must be at least 1".into()));
        }
        if cfg.watchdog == Some(0) {
            return Err(ConfigError("watchdog is 0, must be at least 1".into()));
        }
        Ok(cfg)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_configuration_names_the_gpu_and_has_defaults() {
        let c = Config::parse(r#"{"gpu": "MI300X", "later": {"x": 1}}"#).unwrap();
        assert_eq!(
            c,
            Config { gpu: "MI300X".into(), num_gpus: 1, cpu_thread_budget: None, watchdog: None, trace_level: None }
        );
        assert!(Config::parse(r#"{"gpu": "MI300X", "num_gpus": 0}"#).is_err());
        assert!(Config::parse("{}").is_err());
    }
}
