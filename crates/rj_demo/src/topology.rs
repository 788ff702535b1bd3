//! The GPU as /sys tells it. It reads files, as every ROCm program does, and opens nothing.

use std::fs;
use std::path::Path;

const NODES: &str = "/sys/class/kfd/kfd/topology/nodes";

/// A GPU.
#[derive(Clone, Debug)]
pub struct Gpu {
    /// Its name, for people.
    pub name: String,
    /// The driver's number for it.
    pub id: u32,
    /// Minor number of its render node.
    pub render: u32,
    /// Compute units.
    pub cus: u32,
    /// Device memory, bytes.
    pub memory: u64,
    /// Its instruction set: `gfx942`.
    pub target: String,
}

/// The first GPU.
pub fn first() -> Result<Gpu, String> {
    let mut nodes: Vec<_> = fs::read_dir(NODES)
        .map_err(|e| format!("{NODES}: {e}; no AMD GPU driver"))?
        .flatten()
        .filter_map(|e| e.file_name().to_str()?.parse::<u32>().ok())
        .collect();
    nodes.sort_unstable();
    for n in nodes {
        let dir = Path::new(NODES).join(n.to_string());
        let id = text(&dir.join("gpu_id"))?.trim().parse().unwrap_or(0);
        if id == 0 {
            continue;
        }
        let properties = text(&dir.join("properties"))?;
        let get = |key: &str| number(&properties, key).ok_or_else(|| format!("{}: no {key}", dir.display()));
        let version = get("gfx_target_version")?;
        let (major, minor, step) = (version / 10_000, version / 100 % 100, version % 100);
        let bank = text(&dir.join("mem_banks/0/properties"))?;
        let render = get("drm_render_minor")? as u32;
        // The product's name where its board tells it, else the driver's code name.
        let product = text(Path::new(&format!("/sys/class/drm/renderD{render}/device/product_name")));
        return Ok(Gpu {
            name: product.or_else(|_| text(&dir.join("name")))?.trim().into(),
            id,
            render,
            cus: (get("simd_count")? / get("simd_per_cu")?.max(1)) as u32,
            memory: number(&bank, "size_in_bytes").unwrap_or(0),
            target: format!("gfx{major}{minor:x}{step:x}"),
        });
    }
    Err(format!("{NODES}: no GPU"))
}

fn text(path: &Path) -> Result<String, String> {
    fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))
}

fn number(properties: &str, key: &str) -> Option<u64> {
    let line = properties.lines().find_map(|l| l.strip_prefix(key)?.strip_prefix(' '))?;
    line.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_found_whole_only() {
        let text = "simd_count 912\nsimd_per_cu 4\n";
        assert_eq!(number(text, "simd_per_cu"), Some(4));
        assert_eq!(number(text, "simd"), None);
    }
}
