//! Backends: what runs GPU code. They register themselves at link time; nothing here names one.

use crate::Error;
use crate::defs::EmulatorDef;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// The caller's environment, by name.
pub type Env<'a> = &'a dyn Fn(&str) -> Option<OsString>;

/// Whether a backend's files are on this machine.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Installed {
    /// Whether all is there.
    pub yes: bool,
    /// The runtime that was found; none for a backend without one.
    pub path: Option<PathBuf>,
    /// Where it was looked for.
    pub searched: Vec<PathBuf>,
    /// Variables that name it directly.
    pub variables: Vec<&'static str>,
}

/// Whether this machine can run a backend, whatever is installed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Supported {
    /// It can.
    pub yes: bool,
    /// Why, or why not.
    pub reason: String,
}

/// A setting that a backend takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub struct OptionDef {
    /// Key.
    pub key: &'static str,
    /// Kind of value: `int`, `bool`, `string`.
    pub kind: &'static str,
    /// What it does.
    pub help: &'static str,
}

/// What a workload is started with.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Injection {
    /// Variables that replace the caller's.
    pub env: Vec<(OsString, OsString)>,
    /// Libraries to preload, in front of the caller's.
    pub preload: Vec<PathBuf>,
    /// What a user who looks closely should know of it, a line each.
    pub notes: Vec<String>,
}

/// A backend.
pub trait Backend: Sync {
    /// Name, as `--emulator` takes it.
    fn name(&self) -> &'static str;
    /// One line.
    fn description(&self) -> &'static str;
    /// Whether its files are here. `exe` is the running mirage.
    fn installed(&self, exe: &Path, env: Env<'_>) -> Installed;
    /// Whether this machine can run it.
    fn supported(&self) -> Supported;
    /// The settings that it takes.
    fn options(&self) -> &'static [OptionDef] {
        &[]
    }
    /// It shows programs a GPU that is not there.
    fn presents_emulated_device(&self) -> bool {
        false
    }
    /// Rank among those installed when nobody chose one; the highest is taken.
    fn preference(&self) -> u32;
    /// Writes its files into `dir`, its own directory in the session, which nobody sees yet and which will be called
    /// `final_dir`.
    fn prepare(&self, emulator: &EmulatorDef, dir: &Path, final_dir: &Path) -> Result<(), Error>;
    /// What the workload gets. An error if anything is missing: it must never run unemulated in silence.
    fn injection(&self, exe: &Path, env: Env<'_>, dir: &Path, record_dir: &Path) -> Result<Injection, Error>;
}

/// An entry of the registry.
#[derive(Clone, Copy)]
pub struct Registered(pub &'static dyn Backend);

inventory::collect!(Registered);

pub use inventory;

/// All backends, by name.
pub fn all() -> Vec<&'static dyn Backend> {
    let mut all: Vec<_> = inventory::iter::<Registered>().map(|r| r.0).collect();
    all.sort_by_key(|b| b.name());
    all
}

/// The backend of that name.
pub fn find(name: &str) -> Result<&'static dyn Backend, Error> {
    let all = all();
    all.iter().copied().find(|b| b.name() == name).ok_or_else(|| {
        let names: Vec<_> = all.iter().map(|b| b.name()).collect();
        Error::new("emulator-unknown", format!("no emulator '{name}' in this mirage"))
            .hint(format!("there are: {}", names.join(", ")))
    })
}

/// The backend that is used when none is named: the most preferred of those installed and supported.
pub fn default(exe: &Path, env: Env<'_>) -> Option<&'static dyn Backend> {
    let usable = |b: &&dyn Backend| b.installed(exe, env).yes && b.supported().yes;
    all().into_iter().filter(usable).max_by_key(|b| b.preference())
}
