//! Which paths could be ours, decided on the text of a path alone. No system call, no allocation.

/// Roots that the driver owns whole: whatever lies below is the driver's or does not exist.
pub const OWNED: &[&[u8]] = &[
    b"/dev/kfd",
    b"/dev/dri",
    b"/sys/class/kfd",
    b"/sys/class/drm",
    b"/sys/devices/virtual/kfd",
    b"/sys/module/amdgpu",
    b"/sys/bus/pci/devices",
    b"/proc/modules",
];

/// Owned by the beginning of its last component.
pub const OWNED_BY_START: &[u8] = b"/sys/dev/char/226:";

/// Places where the configured GPUs may own something, known only once there is a configuration.
const MAYBE: &[&[u8]] = &[b"/sys/devices/pci", b"/sys/bus/pci", b"/sys/class", b"/sys/module", b"/sys/devices/virtual"];

/// The path of the root that owns `path`, its length in the normal form, and the rest of the path as written.
///
/// `..` is taken lexically up to the root and left to the kernel below it, where links matter.
pub struct Match {
    buf: [u8; 4096],
    len: usize,
}

impl Match {
    /// The normal form: root, then the rest as the program wrote it.
    pub fn path(&self) -> &[u8] {
        &self.buf[..self.len]
    }

    fn push(&mut self, bytes: &[u8]) -> bool {
        let Some(room) = self.buf.get_mut(self.len..self.len + bytes.len()) else { return false };
        room.copy_from_slice(bytes);
        self.len += bytes.len();
        true
    }
}

/// This absolute path is worth asking the configuration about.
#[inline]
pub fn candidate(path: &[u8]) -> bool {
    // Most paths end here.
    if path.first() != Some(&b'/') {
        return false;
    }
    let at = path.iter().position(|&c| c != b'/').unwrap_or(0);
    let rest = &path[at..];
    if ![&b"dev"[..], b"sys", b"proc", b"."].iter().any(|s| rest.starts_with(s)) {
        return false;
    }
    find(path, |p| {
        OWNED.contains(&p) || p.starts_with(OWNED_BY_START) || MAYBE.contains(&p) || p.starts_with(b"/sys/devices/pci")
    })
    .is_some()
}

/// Walks `path` component by component until `owned` accepts the part walked so far.
pub fn find(path: &[u8], owned: impl Fn(&[u8]) -> bool) -> Option<Match> {
    if path.first() != Some(&b'/') {
        return None;
    }
    let mut m = Match { buf: [0; 4096], len: 0 };
    let mut at = 0;
    while at < path.len() {
        let end = path[at + 1..].iter().position(|&c| c == b'/').map_or(path.len(), |n| at + 1 + n);
        match &path[at + 1..end] {
            b"" | b"." => {}
            b".." => m.len = m.buf[..m.len].iter().rposition(|&c| c == b'/').unwrap_or(0),
            name => {
                if !m.push(b"/") || !m.push(name) {
                    return None;
                }
                if owned(m.path()) {
                    return m.push(&path[end..]).then_some(m);
                }
            }
        }
        at = end;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn owner(p: &[u8]) -> bool {
        OWNED.contains(&p) || p.starts_with(OWNED_BY_START)
    }

    #[test]
    fn spellings_of_a_claimed_path_are_recognised() {
        let cases: [(&[u8], &[u8]); 7] = [
            (b"/dev/kfd", b"/dev/kfd"),
            (b"//dev/./kfd", b"/dev/kfd"),
            (b"/dev/../dev/kfd", b"/dev/kfd"),
            (b"/../dev/kfd", b"/dev/kfd"),
            (b"/dev/dri/", b"/dev/dri/"),
            (b"/sys/class/drm/card0/device/../x", b"/sys/class/drm/card0/device/../x"),
            (b"/sys/dev/char/226:128/device/drm", b"/sys/dev/char/226:128/device/drm"),
        ];
        for (path, normal) in cases {
            assert!(candidate(path), "{}", path.escape_ascii());
            assert_eq!(find(path, owner).unwrap().path(), normal);
        }
    }

    #[test]
    fn other_paths_are_left_alone() {
        let cases: [&[u8]; 9] = [
            b"/dev/kfdx",
            b"/dev/null",
            b"/dev/driver",
            b"/proc/modules2",
            b"/sys/dev/char/22:1",
            b"kfd",
            b"",
            b"/",
            b"/sys/devices/system/cpu/online",
        ];
        for path in cases {
            assert!(find(path, owner).is_none(), "{}", path.escape_ascii());
            assert!(!candidate(path), "{}", path.escape_ascii());
        }
    }
}
