//! Where mirage keeps things: the XDG directories, mirage's own overrides, and what to do when there is neither.

use std::ffi::OsString;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// The three roots.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Roots {
    /// Profiles, topologies, agents.
    pub config: PathBuf,
    /// Sessions.
    pub runtime: PathBuf,
    /// Logs.
    pub state: PathBuf,
}

impl Roots {
    /// The roots for this environment. Nothing is created.
    ///
    /// Values that are no absolute path are ignored, as the XDG base directory specification asks.
    pub fn new(env: &dyn Fn(&str) -> Option<OsString>) -> Roots {
        let uid = rustix::process::getuid().as_raw();
        let absolute = |name: &str| env(name).map(PathBuf::from).filter(|p| p.is_absolute());
        let fallback = absolute("TMPDIR").unwrap_or_else(|| "/tmp".into()).join(format!("mirage-{uid}"));
        let home = absolute("HOME").filter(|h| h.is_dir());
        let root = |own: &str, xdg: &str, below_home: &str, name: &str| {
            absolute(own)
                .or_else(|| absolute(xdg).map(|p| p.join("mirage")))
                .or_else(|| home.as_ref().map(|h| h.join(below_home).join("mirage")))
                .unwrap_or_else(|| fallback.join(name))
        };
        let runtime = absolute("MIRAGE_RUNTIME")
            .or_else(|| absolute("XDG_RUNTIME_DIR").filter(|p| p.is_dir()).map(|p| p.join("mirage")))
            .or_else(|| {
                let run = PathBuf::from(format!("/run/user/{uid}"));
                private(&run, uid).then(|| run.join("mirage"))
            })
            .unwrap_or_else(|| fallback.clone());
        Roots {
            config: root("MIRAGE_CONFIG", "XDG_CONFIG_HOME", ".config", "config"),
            runtime,
            state: root("MIRAGE_STATE", "XDG_STATE_HOME", ".local/state", "state"),
        }
    }

    /// Directory of all sessions.
    pub fn sessions(&self) -> PathBuf {
        self.runtime.join("session")
    }

    /// Every directory with its name, as `mirage paths -l` shows them.
    pub fn named(&self) -> [(&'static str, PathBuf); 8] {
        [
            ("config", self.config.clone()),
            ("runtime", self.runtime.clone()),
            ("state", self.state.clone()),
            ("profiles", self.config.join("profile")),
            ("topologies", self.config.join("topology")),
            ("agents", self.config.join("agent")),
            ("sessions", self.sessions()),
            ("logs", self.state.join("log")),
        ]
    }
}

/// A directory of ours that is closed to others.
fn private(path: &Path, uid: u32) -> bool {
    std::fs::symlink_metadata(path).is_ok_and(|m| m.is_dir() && m.uid() == uid && m.mode() & 0o777 == 0o700)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn roots(vars: &[(&str, &str)]) -> Roots {
        Roots::new(&|name| vars.iter().find(|v| v.0 == name).map(|v| v.1.into()))
    }

    #[test]
    fn own_variables_win_over_xdg_and_home() {
        let own = [("MIRAGE_CONFIG", "/c"), ("MIRAGE_RUNTIME", "/r"), ("MIRAGE_STATE", "/s")];
        let xdg = [("XDG_CONFIG_HOME", "/xc"), ("XDG_RUNTIME_DIR", "/tmp"), ("XDG_STATE_HOME", "/xs"), ("HOME", "/")];
        let r = roots(&[&own[..], &xdg].concat());
        assert_eq!((r.config, r.runtime, r.state), ("/c".into(), "/r".into(), "/s".into()));
        let r = roots(&xdg);
        assert_eq!((r.config, r.runtime), ("/xc/mirage".into(), "/tmp/mirage".into()));
        assert_eq!(r.state, PathBuf::from("/xs/mirage"));
    }

    #[test]
    fn without_any_of_them_a_private_temporary_directory_serves() {
        let uid = rustix::process::getuid().as_raw();
        let r = roots(&[("TMPDIR", "/var/tmp"), ("HOME", "/nowhere/at/all"), ("XDG_CONFIG_HOME", "relative")]);
        assert_eq!(r.config, PathBuf::from(format!("/var/tmp/mirage-{uid}/config")));
        assert_eq!(r.state, PathBuf::from(format!("/var/tmp/mirage-{uid}/state")));
        let possible = [format!("/run/user/{uid}/mirage"), format!("/var/tmp/mirage-{uid}")];
        assert!(possible.contains(&r.runtime.display().to_string()), "{r:?}");
    }
}
