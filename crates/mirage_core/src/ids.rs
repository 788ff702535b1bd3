//! Ids of sessions and execs, and the key that marks a session's processes.

use crate::time::Utc;
use rustix::rand::{GetRandomFlags, getrandom};

/// A new session id: `s-YYYYMMDD-HHMMSS-xxxx`. The caller makes it unique by creating its directory.
pub fn session() -> String {
    let ((y, mo, d), (h, m, s)) = (Utc::now().date, Utc::now().clock);
    let [a, b] = random();
    format!("s-{y:04}{mo:02}{d:02}-{h:02}{m:02}{s:02}-{a:02x}{b:02x}")
}

/// A new key: 128 random bits in hexadecimal.
pub fn key() -> String {
    random::<16>().iter().map(|b| format!("{b:02x}")).collect()
}

/// The id of exec number `n`.
pub fn exec(n: u32) -> String {
    format!("e-{n:06}")
}

/// Whether a name may be a session's id: 1 to 64 of `[A-Za-z0-9._-]`, no leading dot.
pub fn is_session(name: &str) -> bool {
    let plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'-');
    (1..=64).contains(&name.len()) && !name.starts_with('.') && name.bytes().all(plain)
}

fn random<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    if getrandom(&mut bytes, GetRandomFlags::empty()).is_err() {
        // Kernels before 3.17 only; what the process id and the clock give is still unique on one machine.
        let t = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(0, |d| d.as_nanos());
        let mut x = t ^ u128::from(std::process::id()) << 64;
        for b in &mut bytes {
            x = x.wrapping_mul(0x2360_ed05_1fc6_5da4_4385_df64_9fcc_f645).wrapping_add(1);
            *b = (x >> 120) as u8;
        }
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_have_their_shape() {
        let id = session();
        assert!(is_session(&id) && id.len() == 22 && id.starts_with("s-20"), "{id}");
        assert_eq!(key().len(), 32);
        assert_ne!(key(), key());
        assert_eq!(exec(3), "e-000003");
        for bad in ["", ".x", "a/b", "a b", &"x".repeat(65)] {
            assert!(!is_session(bad), "{bad:?}");
        }
    }
}
