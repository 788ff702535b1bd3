//! Files that more than one process looks at: JSON that appears whole, private directories, locks that are born held.

use crate::Error;
use rustix::fs::{Mode, mkdir};
use std::fs::{File, TryLockError};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// Writes bytes under a temporary name, then renames: readers see the old file or the new one, whole.
pub fn write_atomic(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    let mut temporary = path.as_os_str().to_owned();
    temporary.push(format!(".tmp.{}", std::process::id()));
    let temporary = PathBuf::from(temporary);
    let written = create_private(&temporary)
        .and_then(|mut f| f.write_all(bytes))
        .and_then(|()| std::fs::rename(&temporary, path));
    written.map_err(|e| {
        let _ = std::fs::remove_file(&temporary);
        Error::io("write", path, e)
    })
}

/// Writes a file that nobody looks at yet: in a directory that still has a temporary name.
pub fn write_unseen(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    create_private(path).and_then(|mut f| f.write_all(bytes)).map_err(|e| Error::io("write", path, e))
}

/// Writes a document atomically, see [`to_json`].
pub fn write_json<T: serde::Serialize>(path: &Path, document: &T) -> Result<(), Error> {
    write_atomic(path, &to_json(document)?)
}

/// A document as indented JSON with a final newline.
pub fn to_json<T: serde::Serialize>(document: &T) -> Result<Vec<u8>, Error> {
    let mut text = serde_json::to_vec_pretty(document)
        .map_err(|e| Error::new("json", format!("cannot write a document as JSON: {e}")))?;
    text.push(b'\n');
    Ok(text)
}

/// Creates a file that only its owner may read.
pub fn create_private(path: &Path) -> std::io::Result<File> {
    std::fs::OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(path)
}

/// Makes a directory, 0700. True if it is new.
pub fn make_dir(path: &Path) -> Result<bool, Error> {
    match mkdir(path, Mode::RWXU) {
        Ok(()) => Ok(true),
        Err(rustix::io::Errno::EXIST) => Ok(false),
        Err(e) => Err(Error::io("create directory", path, e)),
    }
}

/// Makes a directory and its parents, 0700 each where new.
pub fn make_dirs(path: &Path) -> Result<(), Error> {
    if path.is_dir() {
        return Ok(());
    }
    if let Some(parent) = path.parent().filter(|p| !p.as_os_str().is_empty()) {
        make_dirs(parent)?;
    }
    make_dir(path)?;
    Ok(())
}

/// Makes sure that a directory exists, is no symbolic link, is ours and closed to others.
pub fn make_private_dir(path: &Path) -> Result<(), Error> {
    if let Some(parent) = path.parent() {
        make_dirs(parent)?;
    }
    make_dir(path)?;
    let meta = std::fs::symlink_metadata(path).map_err(|e| Error::io("look at", path, e))?;
    let refuse = |why: &str| {
        Err(Error::new("runtime-unsafe", format!("{} {why}, so it cannot hold sessions", path.display()))
            .hint("name another directory with MIRAGE_RUNTIME=DIR"))
    };
    if meta.file_type().is_symlink() {
        return refuse("is a symbolic link");
    }
    if !meta.is_dir() {
        return refuse("is not a directory");
    }
    if meta.uid() != rustix::process::getuid().as_raw() {
        return refuse("belongs to another user");
    }
    if meta.mode() & 0o022 != 0 {
        return refuse("can be written by others");
    }
    Ok(())
}

/// An exclusive file lock, held until it is dropped or the process ends in whatever way.
#[derive(Debug)]
pub struct Lock {
    _file: File,
}

impl Lock {
    /// Creates `path` with the lock already held: nobody sees the file unlocked.
    pub fn born_held(path: &Path) -> Result<Lock, Error> {
        let mut new = path.as_os_str().to_owned();
        new.push(".new");
        let new = PathBuf::from(new);
        let file = create_private(&new).map_err(|e| Error::io("create", &new, e))?;
        file.lock().map_err(|e| Error::io("lock", &new, e))?;
        std::fs::rename(&new, path).map_err(|e| Error::io("rename", &new, e))?;
        Ok(Lock { _file: file })
    }
}

/// What a lock file says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LockState {
    /// There is no such file.
    Absent,
    /// Its holder lives.
    Held,
    /// Its holder is gone.
    Free,
}

/// Asks a lock file whether its holder lives.
pub fn lock_state(path: &Path) -> Result<LockState, Error> {
    let file = match File::open(path) {
        Ok(f) => f,
        Err(e) if matches!(e.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => return Ok(LockState::Absent),
        Err(e) => return Err(Error::io("open", path, e)),
    };
    match file.try_lock_shared() {
        Ok(()) => Ok(LockState::Free),
        Err(TryLockError::WouldBlock) => Ok(LockState::Held),
        Err(TryLockError::Error(e)) => Err(Error::io("test the lock", path, e)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn directory(name: &str) -> PathBuf {
        let dir = std::env::temp_dir().join(format!("mirage-files-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&dir);
        make_private_dir(&dir).unwrap();
        dir
    }

    #[test]
    fn a_lock_is_held_while_its_holder_lives() {
        let dir = directory("lock");
        let path = dir.join("lock");
        assert_eq!(lock_state(&path).unwrap(), LockState::Absent);
        let lock = Lock::born_held(&path).unwrap();
        assert_eq!(lock_state(&path).unwrap(), LockState::Held);
        drop(lock);
        assert_eq!(lock_state(&path).unwrap(), LockState::Free);
        std::fs::remove_dir_all(dir).unwrap();
    }

    #[test]
    fn documents_appear_whole_and_leave_no_temporary_file() {
        let dir = directory("json");
        write_json(&dir.join("a.json"), &serde_json::json!({"x": 1})).unwrap();
        write_json(&dir.join("a.json"), &serde_json::json!({"x": 2})).unwrap();
        let names: Vec<_> = std::fs::read_dir(&dir).unwrap().map(|e| e.unwrap().file_name()).collect();
        assert_eq!(names, ["a.json"]);
        let e = write_json(&dir.join("no/a.json"), &1).unwrap_err();
        assert!(e.message.starts_with("cannot write"), "{e}");
        std::fs::remove_dir_all(dir).unwrap();
    }

    #[test]
    fn a_runtime_directory_that_others_could_change_is_refused() {
        let dir = directory("private");
        let link = dir.join("link");
        std::os::unix::fs::symlink(&dir, &link).unwrap();
        assert!(make_private_dir(&link).unwrap_err().message.contains("symbolic link"));
        let open = dir.join("open");
        std::fs::create_dir(&open).unwrap();
        std::fs::set_permissions(&open, std::os::unix::fs::PermissionsExt::from_mode(0o777)).unwrap();
        assert!(make_private_dir(&open).unwrap_err().message.contains("written by others"));
        std::fs::remove_dir_all(dir).unwrap();
    }
}
