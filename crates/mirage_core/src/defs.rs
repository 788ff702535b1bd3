//! The documents of a session, as they stand on disk. Readers tolerate keys that they do not know.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A session: `def.json`, never changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionDef {
    /// Id, also the directory's name.
    pub id: String,
    /// 128 random bits that every process of the session carries as MIRAGE_KEY.
    pub key: String,
    /// The profile, resolved and frozen.
    pub profile: ProfileDef,
    /// Where its commands start.
    pub workdir: String,
    /// RFC 3339, UTC.
    pub created_at: String,
}

/// A profile.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProfileDef {
    /// Name.
    pub name: String,
    /// What runs GPU code, and on what machine.
    pub emulator: EmulatorDef,
}

/// Which backend, and its settings.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EmulatorDef {
    /// Backend's name.
    pub emulator: String,
    /// Options of the backend.
    pub options: BTreeMap<String, serde_json::Value>,
    /// Nodes and GPUs.
    pub topology: TopologyDef,
}

/// Nodes and GPUs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TopologyDef {
    /// Nodes.
    pub num_nodes: u32,
    /// GPUs of each node.
    pub gpus_per_node: u32,
    /// The GPU, by its agent's name.
    pub agent: String,
}

/// State of a session: `health.json`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionHealth {
    /// When it was written.
    pub timestamp: String,
    /// Whether execs can start.
    pub healthy: bool,
    /// State.
    pub state: State,
    /// Nothing will change any more.
    pub terminal: bool,
    /// What went wrong, or what it waits for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

/// States of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// Execs can start.
    Ready,
    /// Ending.
    Stopping,
}

impl SessionHealth {
    /// The state as of now.
    pub fn now(state: State) -> SessionHealth {
        let timestamp = crate::time::Utc::now().rfc3339();
        SessionHealth { timestamp, healthy: state == State::Ready, state, terminal: false, message: None }
    }
}

/// A command in a session: `exec/<id>/def.json`. Its environment is not in it: secrets stay off the disk.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExecDef {
    /// When it was asked for.
    pub timestamp: String,
    /// Session's id.
    pub session: String,
    /// The command.
    pub exec: Command,
    /// How its streams are wired: `inherited` is the caller's own files.
    pub streams: String,
    /// Whether its directory outlives it.
    pub keep: bool,
}

/// A command line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Command {
    /// Program as it was named.
    pub command: String,
    /// Arguments after it.
    pub args: Vec<String>,
    /// Where it starts.
    pub workdir: String,
}

/// Progress of an exec: `exec/<id>/status.json`, a copy for people.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExecStatus {
    /// It has a process.
    pub started: bool,
    /// It has ended.
    pub ended: bool,
    /// Exit code, 128 + signal for a killed process.
    pub exit_code: Option<i32>,
    /// RFC 3339, UTC.
    pub started_at: Option<String>,
    /// RFC 3339, UTC.
    pub ended_at: Option<String>,
    /// By rank.
    pub nodes: BTreeMap<String, NodeStatus>,
}

/// One rank's part of an exec.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeStatus {
    /// Process id of its first process.
    pub pid: Option<i32>,
    /// Its exit code.
    pub exit_code: Option<i32>,
}
