//! Where `librocjitsu.so` may lie. Looking only; nothing is loaded.

use mirage_core::backend::{Env, Installed};
use std::path::{Path, PathBuf};

const NAME: &str = "librocjitsu.so";

/// Looks for the library: where the user says, beside the binary, in an installation, in a ROCm.
pub(crate) fn find(exe: &Path, env: Env<'_>) -> Installed {
    let variables = vec!["ROCJITSU_LIB", "ROCM_PATH", "ROCM_HOME", "LD_LIBRARY_PATH"];
    // A path that the user names is taken or refused, never passed over in silence.
    if let Some(named) = env("ROCJITSU_LIB").filter(|v| !v.is_empty()) {
        let path = PathBuf::from(named);
        let yes = path.is_file();
        return Installed { yes, path: yes.then(|| path.clone()), searched: vec![path], variables };
    }
    let mut searched = Vec::new();
    if let Some(dir) = exe.parent() {
        searched.push(dir.join("deps").join(NAME));
        searched.push(dir.join(NAME));
        searched.extend(dir.parent().map(|up| up.join("lib").join(NAME)));
    }
    for name in ["ROCM_HOME", "ROCM_PATH"] {
        searched.extend(env(name).filter(|v| !v.is_empty()).map(|v| PathBuf::from(v).join("lib").join(NAME)));
    }
    let listed = env("LD_LIBRARY_PATH").unwrap_or_default();
    searched.extend(std::env::split_paths(&listed).filter(|p| p.is_absolute()).map(|p| p.join(NAME)));
    let path = searched.iter().find(|p| p.is_file()).cloned();
    Installed { yes: path.is_some(), path, searched, variables }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_found_beside_the_binary_first_in_deps() {
        let dir = std::env::temp_dir().join(format!("mirage-library-{}", std::process::id()));
        std::fs::create_dir_all(dir.join("bin/deps")).unwrap();
        std::fs::create_dir_all(dir.join("lib")).unwrap();
        let exe = dir.join("bin/mirage");
        let none = |_: &str| None;
        let found = find(&exe, &none);
        assert_eq!((found.yes, found.path, found.searched.len()), (false, None, 3));
        for (place, name) in [("lib", 2), ("bin", 1), ("bin/deps", 0)] {
            std::fs::write(dir.join(place).join(NAME), "").unwrap();
            let found = find(&exe, &none);
            assert_eq!(found.path.as_ref(), Some(&found.searched[name]));
        }
        let elsewhere = find(&exe, &|v| (v == "ROCJITSU_LIB").then(|| "/nowhere/x.so".into()));
        assert_eq!((elsewhere.yes, elsewhere.path), (false, None));
        std::fs::remove_dir_all(dir).unwrap();
    }
}
