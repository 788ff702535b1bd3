//! A session's directory: built whole under a temporary name, renamed into place, removed at the end.
//!
//! The layout is docs/state-layout.md. The holder of `node/0/lock` is the only writer.

use crate::defs::{
    Command, EmulatorDef, ExecDef, ExecStatus, NodeStatus, ProfileDef, SessionDef, SessionHealth, State,
};
use crate::files::{Lock, make_dir, make_private_dir, to_json, write_atomic, write_json, write_unseen};
use crate::time::Utc;
use crate::{Error, Roots, ids};
use std::ffi::OsString;
use std::io::ErrorKind;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// What a transient session is made of.
#[derive(Clone, Debug)]
pub struct Request<'a> {
    /// Name of the profile that it resolves.
    pub profile: &'a str,
    /// The resolved emulator.
    pub emulator: EmulatorDef,
    /// Where its commands start.
    pub workdir: &'a Path,
    /// The command, program first.
    pub argv: &'a [OsString],
}

/// A live session whose host is this process, with its one exec.
#[derive(Debug)]
pub struct Session {
    /// Its definition.
    pub def: SessionDef,
    dir: PathBuf,
    _locks: [Lock; 3],
}

impl Session {
    /// Creates a transient session with one exec in it. `fill` writes the emulator's own files; it gets the
    /// directory as it is now (for writing) and as it will be (for paths inside the files).
    pub fn create(
        roots: &Roots,
        request: &Request<'_>,
        fill: impl FnOnce(&Path, &Path) -> Result<(), Error>,
    ) -> Result<Session, Error> {
        make_private_dir(&roots.runtime)?;
        let sessions = roots.sessions();
        make_dir(&sessions)?;
        // Sweepers take this lock exclusively before they judge a half-built directory.
        let build = sessions.join(".build");
        let guard = std::fs::OpenOptions::new().append(true).create(true).open(&build);
        let guard = guard.map_err(|e| Error::io("open", &build, e))?;
        guard.lock_shared().map_err(|e| Error::io("lock", &build, e))?;

        let new = temporary(&sessions)?;
        let built = Session::build(&new, &sessions, request, fill);
        if built.is_err() {
            let _ = std::fs::remove_dir_all(&new);
        }
        built
    }

    fn build(
        new: &Path,
        sessions: &Path,
        request: &Request<'_>,
        fill: impl FnOnce(&Path, &Path) -> Result<(), Error>,
    ) -> Result<Session, Error> {
        let exec = ids::exec(0);
        let node = format!("exec/{exec}/node/0");
        for dir in ["node", "node/0", "rocjitsu", "exec", &format!("exec/{exec}"), &format!("exec/{exec}/node"), &node]
        {
            make_dir(&new.join(dir))?;
        }
        make_dir(&new.join(&node).join("gpu"))?;
        let locks = [
            Lock::born_held(&new.join("lease"))?,
            Lock::born_held(&new.join("node/0/lock"))?,
            Lock::born_held(&new.join(&node).join("lock"))?,
        ];
        let id = loop {
            let id = ids::session();
            if !sessions.join(&id).exists() {
                break id;
            }
        };
        let dir = sessions.join(&id);
        let profile = ProfileDef { name: request.profile.into(), emulator: request.emulator.clone() };
        let workdir = request.workdir.display().to_string();
        let def = SessionDef { id, key: ids::key(), profile, workdir, created_at: Utc::now().rfc3339() };
        write_unseen(&new.join("def.json"), &to_json(&def)?)?;
        write_unseen(&new.join("health.json"), &to_json(&SessionHealth::now(State::Ready))?)?;
        write_unseen(&new.join("node/0/pid"), format!("{}\n", std::process::id()).as_bytes())?;
        fill(&new.join("rocjitsu"), &dir.join("rocjitsu"))?;
        write_unseen(&new.join("exec/next"), b"1\n")?;
        exec_files(&new.join("exec").join(&exec), &def, request.argv)?;

        // A directory of that name is in the way only if another session drew the same id in this second.
        std::fs::rename(new, &dir).map_err(|e| Error::io("create the session's directory", &dir, e))?;
        Ok(Session { def, dir, _locks: locks })
    }

    /// The session's directory.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// The emulator's own directory: ROCJITSU_RUNTIME_DIR.
    pub fn emulator_dir(&self) -> PathBuf {
        self.dir.join("rocjitsu")
    }

    /// The exec's directory of rank 0.
    pub fn node_dir(&self) -> PathBuf {
        self.exec_dir().join("node/0")
    }

    fn exec_dir(&self) -> PathBuf {
        self.dir.join("exec").join(ids::exec(0))
    }

    /// Writes that the command has a process.
    pub fn started(&mut self, pid: i32) -> Result<(), Error> {
        let nodes = [("0".to_string(), NodeStatus { pid: Some(pid), exit_code: None })].into();
        let started_at = Some(Utc::now().rfc3339());
        let status = ExecStatus { started: true, started_at, nodes, ..ExecStatus::default() };
        write_atomic(&self.node_dir().join("pid"), format!("{pid}\n").as_bytes())?;
        write_json(&self.exec_dir().join("status.json"), &status)
    }

    /// Writes that the command was waited for. status.json stays as it is: the directory is about to go, and readers
    /// compute the status from `lock` and `exit_code`.
    pub fn ended(&mut self, code: i32) -> Result<(), Error> {
        write_atomic(&self.node_dir().join("exit_code"), format!("{code}\n").as_bytes())
    }

    /// Removes the directory. What cannot be removed is an error that names it.
    pub fn remove(self) -> Result<(), Error> {
        remove_tree(&self.dir)
    }
}

/// Removes a directory with all in it; one that is gone already is fine.
pub(crate) fn remove_tree(dir: &Path) -> Result<(), Error> {
    for _ in 0..3 {
        match std::fs::remove_dir_all(dir) {
            Err(e) if e.kind() == ErrorKind::NotFound => return Ok(()),
            // A process of the session that is just ending may have written once more.
            Err(e) if e.kind() == ErrorKind::DirectoryNotEmpty => continue,
            other => return other.map_err(|e| Error::io("remove", dir, e)),
        }
    }
    std::fs::remove_dir_all(dir).map_err(|e| Error::io("remove", dir, e))
}

fn temporary(sessions: &Path) -> Result<PathBuf, Error> {
    let pid = std::process::id();
    let mut path = sessions.join(format!(".new-{pid}"));
    // The same id in another pid namespace, or left by a process that died here.
    for n in 1..1000 {
        if make_dir(&path)? {
            return Ok(path);
        }
        path = sessions.join(format!(".new-{pid}-{n}"));
    }
    Err(Error::new("session-create", format!("too many half-built sessions in {}", sessions.display())))
}

fn exec_files(dir: &Path, def: &SessionDef, argv: &[OsString]) -> Result<(), Error> {
    let mut bytes = Vec::new();
    for a in argv {
        bytes.extend_from_slice(a.as_bytes());
        bytes.push(0);
    }
    write_unseen(&dir.join("argv"), &bytes)?;
    let mut words = argv.iter().map(|a| a.to_string_lossy().into_owned());
    let exec = ExecDef {
        timestamp: def.created_at.clone(),
        session: def.id.clone(),
        exec: Command {
            command: words.next().unwrap_or_default(),
            args: words.collect(),
            workdir: def.workdir.clone(),
        },
        streams: "inherited".into(),
        keep: false,
    };
    write_unseen(&dir.join("def.json"), &to_json(&exec)?)
}
