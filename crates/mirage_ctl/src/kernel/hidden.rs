//! Hidden arguments: what a runtime would fill in (docs: the code object metadata's `hidden_*` kinds).

use crate::cli::Three;
use rj_code::{Hidden, KernelMetadata, ValueKind};

/// Where a grid synchronisation's state lies in its buffer: the counter, then the number of groups (device libs).
const SYNC_GROUPS: usize = 40;
/// Bytes of that buffer.
const SYNC_BYTES: usize = 64;

/// What the hidden arguments need beside their bytes.
#[derive(Debug, Default)]
pub(crate) struct Filled {
    /// A buffer for grid synchronisation, and the argument's offset.
    pub sync: Option<(usize, Vec<u8>)>,
    /// Services that the kernel may ask for and nobody gives here.
    pub missing: Vec<&'static str>,
}

/// Writes the hidden arguments into `kernarg`; a whole number of groups is launched, so there are no partial ones.
pub(crate) fn fill(
    kernarg: &mut [u8],
    metadata: &KernelMetadata,
    grid: Three,
    block: Three,
    dynamic_lds: u32,
) -> Result<Filled, String> {
    let mut filled = Filled::default();
    for arg in metadata.args.iter().filter(|a| a.is_hidden()) {
        let ValueKind::Hidden(kind) = arg.kind else {
            filled.missing.push("an unknown hidden argument");
            continue;
        };
        let (g, b) = (grid.sizes, block.sizes);
        let value: u64 = match kind {
            Hidden::BlockCountX => g[0].into(),
            Hidden::BlockCountY => g[1].into(),
            Hidden::BlockCountZ => g[2].into(),
            Hidden::GroupSizeX => b[0].into(),
            Hidden::GroupSizeY => b[1].into(),
            Hidden::GroupSizeZ => b[2].into(),
            Hidden::GridDims => u64::from(grid.dims.max(block.dims)),
            Hidden::DynamicLdsSize => dynamic_lds.into(),
            // The high halves of the apertures of every target that has them.
            Hidden::SharedBase => 0x10000,
            Hidden::PrivateBase => 0x20000,
            Hidden::MultigridSyncArg => {
                let groups: u64 = g.iter().map(|&n| u64::from(n)).product();
                let mut state = vec![0; SYNC_BYTES];
                let groups = u32::try_from(groups).unwrap_or(u32::MAX);
                state[SYNC_GROUPS..SYNC_GROUPS + 4].copy_from_slice(&groups.to_le_bytes());
                filled.sync = Some((arg.offset as usize, state));
                0
            }
            Hidden::HostcallBuffer | Hidden::PrintfBuffer => {
                filled.missing.push("printf and other host calls");
                0
            }
            Hidden::HeapV1 => {
                filled.missing.push("malloc");
                0
            }
            Hidden::DefaultQueue | Hidden::CompletionAction => {
                filled.missing.push("queues of its own");
                0
            }
            Hidden::GlobalOffsetX | Hidden::GlobalOffsetY | Hidden::GlobalOffsetZ => 0,
            Hidden::RemainderX | Hidden::RemainderY | Hidden::RemainderZ => 0,
            Hidden::None | Hidden::QueuePtr => 0,
        };
        let (at, size) = (arg.offset as usize, (arg.size as usize).min(8));
        let place = kernarg.get_mut(at..at + size);
        let place = place.ok_or_else(|| format!("its hidden argument at {at} lies outside its arguments"))?;
        place.copy_from_slice(&value.to_le_bytes()[..size]);
    }
    filled.missing.dedup();
    Ok(filled)
}
