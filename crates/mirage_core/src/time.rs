//! Times as mirage's documents write them: UTC, RFC 3339, whole seconds.

use std::time::{SystemTime, UNIX_EPOCH};

/// A moment, UTC, split into civil fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Utc {
    /// Year, month, day.
    pub date: (u64, u64, u64),
    /// Hour, minute, second.
    pub clock: (u64, u64, u64),
}

impl Utc {
    /// Now.
    pub fn now() -> Utc {
        Utc::from_unix(SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_secs()))
    }

    /// From seconds since 1970. Days to a date by the era arithmetic of the proleptic Gregorian calendar, in years
    /// that begin in March.
    pub fn from_unix(seconds: u64) -> Utc {
        let (days, s) = (seconds / 86_400 + 719_468, seconds % 86_400);
        let (era, day_of_era) = (days / 146_097, days % 146_097);
        let year = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
        let day_of_year = day_of_era - (365 * year + year / 4 - year / 100);
        let shifted = (5 * day_of_year + 2) / 153;
        let day = day_of_year - (153 * shifted + 2) / 5 + 1;
        let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
        Utc { date: (year + era * 400 + u64::from(month <= 2), month, day), clock: (s / 3600, s / 60 % 60, s % 60) }
    }

    /// `2026-06-16T19:16:36Z`.
    pub fn rfc3339(&self) -> String {
        let ((y, mo, d), (h, m, s)) = (self.date, self.clock);
        format!("{y:04}-{mo:02}-{d:02}T{h:02}:{m:02}:{s:02}Z")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unix_seconds_become_dates() {
        assert_eq!(Utc::from_unix(0).rfc3339(), "1970-01-01T00:00:00Z");
        assert_eq!(Utc::from_unix(951_826_154).rfc3339(), "2000-02-29T12:09:14Z");
        assert_eq!(Utc::from_unix(1_781_637_396).rfc3339(), "2026-06-16T19:16:36Z");
    }
}
