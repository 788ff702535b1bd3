//! The workload's environment: the caller's, then the emulator's, then `--env`, then mirage's identity.
//!
//! LD_PRELOAD, LD_LIBRARY_PATH and PYTHONPATH are merged, what comes later in front.

use mirage_core::Roots;
use mirage_core::backend::Injection;
use mirage_core::defs::SessionDef;
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};

/// A process's environment.
#[derive(Clone, Debug, Default)]
pub(crate) struct Vars(BTreeMap<OsString, OsString>);

impl Vars {
    pub fn get(&self, name: &str) -> Option<OsString> {
        self.0.get(OsStr::new(name)).cloned()
    }

    pub fn iter(&self) -> impl Iterator<Item = (&OsString, &OsString)> {
        self.0.iter()
    }

    fn put(&mut self, name: impl Into<OsString>, value: impl Into<OsString>) {
        self.0.insert(name.into(), value.into());
    }
}

/// Names that `--env` adds to instead of replacing, with their separator.
const MERGED: [&str; 3] = ["LD_PRELOAD", "LD_LIBRARY_PATH", "PYTHONPATH"];

/// The caller's environment.
pub(crate) fn caller() -> Vars {
    Vars(std::env::vars_os().filter(|(name, _)| name != crate::stage::PRELOAD).collect())
}

/// Applies `--env`.
pub(crate) fn set(vars: &mut Vars, given: &[(OsString, OsString)]) {
    for (name, value) in given {
        let old = vars.0.get(name).filter(|old| !old.is_empty() && MERGED.iter().any(|m| name == m));
        let value = match old {
            Some(old) => joined(value, old),
            None => value.clone(),
        };
        vars.put(name, value);
    }
}

/// Adds what the emulator needs, below what `--env` said; gives the workload's LD_PRELOAD, which the stage must not
/// have itself.
pub(crate) fn inject(vars: &mut Vars, injection: &Injection, given: &[(OsString, OsString)]) -> Option<OsString> {
    for (name, value) in &injection.env {
        if !given.iter().any(|(n, _)| n == name) {
            vars.put(name, value);
        }
    }
    let mut list = vars.0.remove(OsStr::new("LD_PRELOAD")).filter(|l| !l.is_empty());
    for library in injection.preload.iter().rev() {
        list = Some(match list {
            Some(rest) => joined(library.as_os_str(), &rest),
            None => library.into(),
        });
    }
    list
}

/// Adds who the workload is.
pub(crate) fn identity(vars: &mut Vars, session: &SessionDef, roots: &Roots) {
    vars.put("MIRAGE_KEY", &session.key);
    vars.put("MIRAGE_SESSION", &session.id);
    vars.put("MIRAGE_RUNTIME", &roots.runtime);
    vars.put("MIRAGE_RANK", "0");
}

fn joined(first: &OsStr, rest: &OsStr) -> OsString {
    let mut all = first.to_owned();
    all.push(":");
    all.push(rest);
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(list: &[(&str, &str)]) -> Vec<(OsString, OsString)> {
        list.iter().map(|(k, v)| (k.into(), v.into())).collect()
    }

    #[test]
    fn env_wins_over_the_emulator_which_wins_over_the_caller() {
        let mut vars = Vars(pairs(&[("A", "caller"), ("B", "caller"), ("C", "caller")]).into_iter().collect());
        let given = pairs(&[("A", "env")]);
        set(&mut vars, &given);
        let injection = Injection { env: pairs(&[("A", "emulator"), ("B", "emulator")]), ..Injection::default() };
        assert_eq!(inject(&mut vars, &injection, &given), None);
        let got: Vec<_> = ["A", "B", "C"].iter().map(|n| vars.get(n).unwrap()).collect();
        assert_eq!(got, ["env", "emulator", "caller"]);
    }

    #[test]
    fn lists_are_merged_with_the_emulators_library_in_front() {
        let mut vars = Vars(pairs(&[("LD_PRELOAD", "/jemalloc.so"), ("PYTHONPATH", "/p")]).into_iter().collect());
        let given = pairs(&[("LD_PRELOAD", "/mine.so"), ("PYTHONPATH", "/q")]);
        set(&mut vars, &given);
        let injection = Injection { preload: vec!["/rj.so".into()], ..Injection::default() };
        assert_eq!(inject(&mut vars, &injection, &given).unwrap(), "/rj.so:/mine.so:/jemalloc.so");
        assert_eq!(vars.get("PYTHONPATH").unwrap(), "/q:/p");
        assert_eq!(vars.get("LD_PRELOAD"), None);
    }
}
