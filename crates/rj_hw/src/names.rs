//! Finding a GPU by what a user types. Every spelling of a name reaches the same entry; nothing is guessed.

use crate::{Gpu, all};

/// Letters and digits in lower case; what follows a colon (`gfx942:sramecc+`) and all punctuation is dropped.
fn normal(name: &str) -> String {
    let name = name.split_once(':').map_or(name, |(head, _)| head);
    name.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect()
}

impl Gpu {
    /// Every name of this GPU as it is written, the best one first.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        [self.agent.as_str(), &self.key, self.target.name(), &self.marketing_name]
            .into_iter()
            .chain(self.aliases.iter().map(String::as_str))
    }
}

/// The GPU of that name, in any spelling: `mi210`, `MI210`, `gfx90a`, `gfx90a_mi210_kmd`, `strix halo`,
/// `AMD Instinct MI210`.
pub fn find(name: &str) -> Option<&'static Gpu> {
    let wanted = normal(name);
    if wanted.is_empty() {
        return None;
    }
    all().iter().find(|g| g.names().any(|n| normal(n) == wanted))
}

/// The name that a user who typed `name` most likely meant, as it is written in the table.
///
/// None when `name` is known already, or when nothing is near enough: at most a third of the letters may differ.
pub fn suggest(name: &str) -> Option<&'static str> {
    let wanted = normal(name);
    if wanted.is_empty() || wanted.len() > 64 || find(name).is_some() {
        return None;
    }
    all()
        .iter()
        .flat_map(Gpu::names)
        .map(|n| (distance(&wanted, &normal(n)), n))
        .filter(|&(d, n)| d * 3 <= normal(n).len().max(wanted.len()))
        .min_by_key(|&(d, _)| d)
        .map(|(_, n)| n)
}

/// Edit distance: insertions, deletions, replacements and swaps of neighbours each count one.
fn distance(a: &str, b: &str) -> usize {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let mut before_last: Vec<usize> = vec![0; b.len() + 1];
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i; b.len() + 1];
        for j in 1..=b.len() {
            let change = usize::from(a[i - 1] != b[j - 1]);
            row[j] = (last[j] + 1).min(row[j - 1] + 1).min(last[j - 1] + change);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                row[j] = row[j].min(before_last[j - 2] + 1);
            }
        }
        before_last = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}
