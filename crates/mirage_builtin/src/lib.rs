//! The builtin profiles: one for each GPU of the hardware table. Derived, never listed a second time.
#![forbid(unsafe_code)]

use mirage_core::Error;
use rj_hw::Gpu;

/// The profile of a run that names none.
pub const DEFAULT_PROFILE: &str = "mi350x";

/// The GPU of a builtin profile, by any spelling of its name.
pub fn gpu(name: &str) -> Result<&'static Gpu, Error> {
    rj_hw::find(name).ok_or_else(|| {
        let error = Error::new("profile-unknown", format!("no profile '{name}' and no GPU of that name"));
        match rj_hw::suggest(name) {
            Some(near) => error.hint(format!("did you mean '{near}'?")),
            None => {
                let known: Vec<_> = rj_hw::all().iter().map(|g| g.key.as_str()).collect();
                error.hint(format!("builtin profiles: {}", known.join(", ")))
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_spelling_reaches_the_profile_and_a_near_miss_is_named() {
        for name in ["mi300x", "MI300X", "gfx942", "gfx942:sramecc+"] {
            assert_eq!(gpu(name).unwrap().key, "mi300x");
        }
        assert!(gpu(DEFAULT_PROFILE).is_ok());
        assert!(gpu("mi30x").unwrap_err().hint.unwrap().starts_with("did you mean"));
        assert!(gpu("voodoo").unwrap_err().hint.unwrap().contains("mi350x"));
    }
}
