//! The NT_AMDGPU_METADATA note: what the compiler says of each kernel (LLVM AMDGPUUsage, "Code Object Metadata").

use crate::Error;
use rmpv::Value;
use std::fmt;

/// What an argument's bytes are, as the note spells it (`.value_kind`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ValueKind {
    /// Passed by value.
    ByValue,
    /// Address of a buffer in global memory.
    GlobalBuffer,
    /// Offset in dynamic LDS.
    DynamicSharedPointer,
    /// Address of an image descriptor.
    Image,
    /// Address of a sampler descriptor.
    Sampler,
    /// Address of an OpenCL pipe.
    Pipe,
    /// OpenCL device queue.
    Queue,
    /// An argument that the runtime fills in; the rest of its name after `hidden_`.
    Hidden(Hidden),
    /// Not known to us.
    Unknown,
}

macro_rules! hidden {
    ($($(#[$doc:meta])* $name:ident = $text:literal,)*) => {
        /// Arguments that the runtime fills in.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Hidden { $($(#[$doc])* $name,)* }

        impl Hidden {
            fn parse(text: &str) -> Option<Hidden> {
                match text { $($text => Some(Hidden::$name),)* _ => None }
            }

            /// The note's word, without `hidden_`.
            pub fn name(self) -> &'static str {
                match self { $(Hidden::$name => $text,)* }
            }
        }
    };
}

hidden! {
    /// Grid's first work-item id, x.
    GlobalOffsetX = "global_offset_x",
    /// y.
    GlobalOffsetY = "global_offset_y",
    /// z.
    GlobalOffsetZ = "global_offset_z",
    /// Whole work-groups of the grid, x.
    BlockCountX = "block_count_x",
    /// y.
    BlockCountY = "block_count_y",
    /// z.
    BlockCountZ = "block_count_z",
    /// Work-items of a whole group, x.
    GroupSizeX = "group_size_x",
    /// y.
    GroupSizeY = "group_size_y",
    /// z.
    GroupSizeZ = "group_size_z",
    /// Work-items of the last, partial group, x; 0 if there is none.
    RemainderX = "remainder_x",
    /// y.
    RemainderY = "remainder_y",
    /// z.
    RemainderZ = "remainder_z",
    /// Dimensions of the grid, 1 to 3.
    GridDims = "grid_dims",
    /// Nothing.
    None = "none",
    /// OpenCL printf buffer.
    PrintfBuffer = "printf_buffer",
    /// Hostcall buffer: device printf, assert, malloc.
    HostcallBuffer = "hostcall_buffer",
    /// OpenCL default device queue.
    DefaultQueue = "default_queue",
    /// OpenCL completion action.
    CompletionAction = "completion_action",
    /// Grid and multi-grid synchronisation.
    MultigridSyncArg = "multigrid_sync_arg",
    /// Device-side heap.
    HeapV1 = "heap_v1",
    /// Bytes of dynamic LDS.
    DynamicLdsSize = "dynamic_lds_size",
    /// High half of private aperture.
    PrivateBase = "private_base",
    /// High half of shared aperture.
    SharedBase = "shared_base",
    /// Address of the queue.
    QueuePtr = "queue_ptr",
}

impl ValueKind {
    fn parse(text: &str) -> ValueKind {
        match text {
            "by_value" => ValueKind::ByValue,
            "global_buffer" => ValueKind::GlobalBuffer,
            "dynamic_shared_pointer" => ValueKind::DynamicSharedPointer,
            "image" => ValueKind::Image,
            "sampler" => ValueKind::Sampler,
            "pipe" => ValueKind::Pipe,
            "queue" => ValueKind::Queue,
            _ => text.strip_prefix("hidden_").and_then(Hidden::parse).map_or(ValueKind::Unknown, ValueKind::Hidden),
        }
    }

    /// True for what the runtime fills in, known to us or not.
    pub fn is_hidden(self) -> bool {
        matches!(self, ValueKind::Hidden(_))
    }
}

/// One kernel argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arg {
    /// Source name, if the compiler kept it.
    pub name: Option<String>,
    /// Source type (OpenCL keeps it, HIP does not).
    pub type_name: Option<String>,
    /// Byte offset in the kernel arguments.
    pub offset: u32,
    /// Bytes.
    pub size: u32,
    /// What its bytes are.
    pub kind: ValueKind,
    /// The note's own word for the kind.
    pub kind_name: String,
    /// `global`, `constant`, `local`, … for pointers.
    pub address_space: Option<String>,
}

impl Arg {
    /// True for what the runtime fills in, known to us or not.
    pub fn is_hidden(&self) -> bool {
        self.kind_name.starts_with("hidden_")
    }
}

/// What the note says of one kernel.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct KernelMetadata {
    /// Name in the source.
    pub name: String,
    /// ELF symbol of its descriptor.
    pub symbol: String,
    /// Arguments in order, hidden ones last.
    pub args: Vec<Arg>,
    /// Bytes of kernel arguments.
    pub kernarg_size: u32,
    /// LDS bytes that the code itself needs.
    pub lds: u32,
    /// Private bytes a work-item.
    pub private: u32,
    /// Scalar registers.
    pub sgprs: u32,
    /// Vector registers; where the file is unified, with the AccVGPRs.
    pub vgprs: u32,
    /// AccVGPRs, where the target has them.
    pub agprs: Option<u32>,
    /// 32 or 64.
    pub wavefront_size: u32,
    /// Work-items that a group may have at most.
    pub max_workgroup: u32,
    /// The only group size that the code is right for.
    pub reqd_workgroup: Option<[u32; 3]>,
    /// Private memory grows at run time (recursion, indirect calls).
    pub dynamic_stack: bool,
    /// Registers that were spilled to memory: scalar, vector.
    pub spills: (u32, u32),
    /// Source language, as the note says it.
    pub language: Option<String>,
}

/// The whole note.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub(crate) struct Metadata {
    pub kernels: Vec<KernelMetadata>,
}

impl Metadata {
    /// Reads the note's MessagePack.
    pub fn parse(mut bytes: &[u8]) -> Result<Metadata, Error> {
        // A depth of 64 is far more than the format has; it keeps a hostile note off our stack.
        let root = rmpv::decode::read_value_with_max_depth(&mut bytes, 64)
            .map_err(|e| Error::new(format!("the metadata note is damaged: {e}")))?;
        let mut kernels = Vec::new();
        for k in get(&root, "amdhsa.kernels").and_then(Value::as_array).into_iter().flatten() {
            kernels.push(kernel(k)?);
        }
        Ok(Metadata { kernels })
    }
}

fn kernel(k: &Value) -> Result<KernelMetadata, Error> {
    let name = text(k, ".name").ok_or_else(|| Error::new("a kernel of the metadata note has no .name"))?;
    let symbol = text(k, ".symbol").unwrap_or_else(|| format!("{name}.kd"));
    let mut args = Vec::new();
    for a in get(k, ".args").and_then(Value::as_array).into_iter().flatten() {
        args.push(arg(a).map_err(|e| e.at(format_args!("kernel {name}")))?);
    }
    let number = |key| number(k, key);
    let reqd = get(k, ".reqd_workgroup_size").and_then(Value::as_array).and_then(|a| {
        let n = |i: usize| a.get(i).and_then(Value::as_u64).and_then(|n| u32::try_from(n).ok());
        Some([n(0)?, n(1)?, n(2)?])
    });
    Ok(KernelMetadata {
        symbol,
        args,
        kernarg_size: number(".kernarg_segment_size").unwrap_or(0),
        lds: number(".group_segment_fixed_size").unwrap_or(0),
        private: number(".private_segment_fixed_size").unwrap_or(0),
        sgprs: number(".sgpr_count").unwrap_or(0),
        vgprs: number(".vgpr_count").unwrap_or(0),
        agprs: number(".agpr_count"),
        wavefront_size: number(".wavefront_size").unwrap_or(64),
        max_workgroup: number(".max_flat_workgroup_size").unwrap_or(1024),
        reqd_workgroup: reqd,
        dynamic_stack: get(k, ".uses_dynamic_stack").and_then(Value::as_bool).unwrap_or(false),
        spills: (number(".sgpr_spill_count").unwrap_or(0), number(".vgpr_spill_count").unwrap_or(0)),
        language: text(k, ".language"),
        name,
    })
}

fn arg(a: &Value) -> Result<Arg, Error> {
    let need = |key: &str| number(a, key).ok_or_else(|| Error::new(format!("an argument has no {key}")));
    let kind_name = text(a, ".value_kind").ok_or_else(|| Error::new("an argument has no .value_kind"))?;
    Ok(Arg {
        name: text(a, ".name").filter(|n| !n.is_empty()),
        type_name: text(a, ".type_name").filter(|n| !n.is_empty()),
        offset: need(".offset")?,
        size: need(".size")?,
        kind: ValueKind::parse(&kind_name),
        kind_name,
        address_space: text(a, ".address_space"),
    })
}

fn get<'a>(map: &'a Value, key: &str) -> Option<&'a Value> {
    map.as_map()?.iter().find(|(k, _)| k.as_str() == Some(key)).map(|(_, v)| v)
}

fn text(map: &Value, key: &str) -> Option<String> {
    get(map, key)?.as_str().map(str::to_string)
}

fn number(map: &Value, key: &str) -> Option<u32> {
    u32::try_from(get(map, key)?.as_u64()?).ok()
}

impl fmt::Display for Arg {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match (&self.type_name, self.kind) {
            (Some(t), _) => t.clone(),
            (None, ValueKind::ByValue) => format!("{} bytes", self.size),
            (None, ValueKind::GlobalBuffer) => {
                let space = self.address_space.as_deref().unwrap_or("global");
                format!("{space} pointer")
            }
            (None, _) => self.kind_name.replace('_', " "),
        };
        match &self.name {
            Some(n) => write!(f, "{n}: {what}"),
            None => f.write_str(&what),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_hidden_kind_is_known_by_its_word_and_strange_ones_stay_hidden() {
        assert_eq!(ValueKind::parse("hidden_block_count_x"), ValueKind::Hidden(Hidden::BlockCountX));
        assert_eq!(ValueKind::parse("hidden_of_tomorrow"), ValueKind::Unknown);
        assert_eq!(Hidden::parse(Hidden::QueuePtr.name()), Some(Hidden::QueuePtr));
    }

    #[test]
    fn a_damaged_note_is_an_error() {
        assert!(Metadata::parse(&[0x81, 0xa1]).is_err());
        assert!(Metadata::parse(&[0x91; 4000]).is_err());
    }
}
