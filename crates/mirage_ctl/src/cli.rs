//! The command line. docs/cli.md is checked against it by a test.

use clap::{Args, Parser, Subcommand};
use std::ffi::OsString;
use std::path::PathBuf;

/// Run ROCm programs on an emulated AMD GPU.
#[derive(Debug, Parser)]
#[command(name = "mirage", version, max_term_width = 100, propagate_version = false)]
pub struct Cli {
    /// Print one JSON document on standard output instead of text
    #[arg(long, global = true)]
    pub json: bool,
    /// Say what is done, on standard error
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    pub verbose: u8,
    /// What to do
    #[command(subcommand)]
    pub verb: Verb,
}

/// Verbs.
#[derive(Debug, Subcommand)]
pub enum Verb {
    /// Run a program on an emulated GPU
    Run(RunArgs),
    /// See an emulated GPU at work; needs no ROCm and no other program
    Demo(DemoArgs),
    /// Show the backends that can run GPU code
    Emulators(LongArgs),
    /// Show where mirage keeps its files
    Paths(LongArgs),
    /// Look at GPU code and run single kernels, with no ROCm
    Kernel(KernelArgs),
}

/// `run`.
#[derive(Debug, Args)]
pub struct RunArgs {
    /// GPU to emulate, by any of its names: mi300x, MI300X, gfx942 [default: mi350x]
    #[arg(long, value_name = "NAME")]
    pub profile: Option<String>,
    /// Backend that runs GPU code; `mirage emulators` lists them
    #[arg(long, value_name = "NAME")]
    pub emulator: Option<String>,
    /// Set a variable in the program's environment
    #[arg(long, value_name = "KEY=VALUE", value_parser = key_value)]
    pub env: Vec<(OsString, OsString)>,
    /// Directory to start the program in
    #[arg(long, value_name = "DIR")]
    pub workdir: Option<PathBuf>,
    /// Host threads that execute GPU code [default: the CPUs this process may use]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub cpu_thread_budget: Option<u32>,
    /// End the program if none of a running kernel's work-groups ends for so long; says where its waves are
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u32).range(1..))]
    pub watchdog: Option<u32>,
    /// Keep a trace of faults, of kernel launches too, or of queues and memory too; its path is told at the end
    #[arg(long, value_name = "LEVEL", value_parser = ["fault", "launch", "all"])]
    pub trace_level: Option<String>,
    /// The program and its arguments
    #[arg(last = true, required = true, value_name = "COMMAND")]
    pub command: Vec<OsString>,
}

/// `demo`.
#[derive(Debug, Args)]
pub struct DemoArgs {
    /// GPU to emulate, by any of its names; the demo has code for gfx942 and gfx90a [default: mi300x]
    #[arg(long, value_name = "NAME")]
    pub profile: Option<String>,
    /// Host threads that execute GPU code [default: the CPUs this process may use]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub cpu_thread_budget: Option<u32>,
    /// Be the program that the demo runs
    #[arg(long, hide = true)]
    pub client: bool,
}

/// `emulators` and `paths`.
#[derive(Debug, Args)]
pub struct LongArgs {
    /// Show more
    #[arg(short, long)]
    pub long: bool,
}

/// `kernel`.
#[derive(Debug, Args)]
pub struct KernelArgs {
    /// What to do
    #[command(subcommand)]
    pub verb: KernelVerb,
}

/// Verbs of `kernel`.
#[derive(Debug, Subcommand)]
pub enum KernelVerb {
    /// List a file's kernels with their arguments, registers and memory
    List(KernelListArgs),
    /// Print a file's GPU code as assembly
    Disasm(KernelDisasmArgs),
    /// Run one kernel of a file
    Run(KernelRunArgs),
}

/// A file with GPU code.
#[derive(Debug, Args)]
pub struct FileArgs {
    /// Program, library, offload bundle (compressed or not) or code object
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Only the code for this GPU, by any of its names: mi300x, gfx942
    #[arg(long, value_name = "NAME")]
    pub profile: Option<String>,
}

/// `kernel list`.
#[derive(Debug, Args)]
pub struct KernelListArgs {
    /// The file
    #[command(flatten)]
    pub file: FileArgs,
}

/// `kernel disasm`.
#[derive(Debug, Args)]
pub struct KernelDisasmArgs {
    /// The file
    #[command(flatten)]
    pub file: FileArgs,
    /// Only this kernel or function
    #[arg(long, value_name = "NAME")]
    pub kernel: Option<String>,
}

/// `kernel run`.
#[derive(Debug, Args)]
#[command(after_help = ARGUMENTS)]
pub struct KernelRunArgs {
    /// The file
    #[command(flatten)]
    pub file: FileArgs,
    /// Kernel to run; needed if the file has several
    #[arg(long, value_name = "NAME")]
    pub kernel: Option<String>,
    /// Work-groups in each dimension
    #[arg(long, value_name = "X[,Y,Z]", value_parser = three, default_value = "1")]
    pub grid: Three,
    /// Work-items of a work-group in each dimension
    #[arg(long, value_name = "X[,Y,Z]", value_parser = three, default_value = "1")]
    pub block: Three,
    /// One of the kernel's arguments, in order
    #[arg(long = "arg", value_name = "ARG", allow_hyphen_values = true)]
    pub args: Vec<String>,
    /// Bytes of dynamic LDS
    #[arg(long, value_name = "BYTES", default_value_t = 0)]
    pub dynamic_lds: u32,
    /// How printed buffers are shown: hex, u8, i32, u32, i64, u64, f32, f64
    #[arg(long, value_name = "TYPE", default_value = "hex")]
    pub format: String,
    /// Host threads that execute GPU code [default: the CPUs this process may use]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub cpu_thread_budget: Option<u32>,
}

const ARGUMENTS: &str = "\
Arguments:
  5, -1, 0x10       an integer of the argument's size
  1.5, 1e-3         a floating-point number of the argument's size
  f32:5  i64:-1     a number of that type: i8 i16 i32 i64 u8 u16 u32 u64 f16 f32 f64
  hex:00ff…         bytes, for structs passed by value
  buf:SIZE          a buffer of zeros; SIZE in bytes, or with K, M, G
  buf:@FILE         a buffer with a file's bytes
  buf:f32:1,2,3     a buffer with these numbers
  out:SIZE          a buffer of zeros that is printed afterwards
  out:SIZE:FILE     a buffer of zeros that is stored in FILE afterwards
  inout:@FILE[:FILE]  a buffer with a file's bytes that is printed or stored afterwards
  null              a pointer to nothing";

/// Three sizes and how many of them were given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Three {
    /// The sizes; those not given are 1.
    pub sizes: [u32; 3],
    /// How many were given, 1 to 3.
    pub dims: u8,
}

fn three(text: &str) -> Result<Three, String> {
    let parts: Vec<_> = text.split([',', 'x']).collect();
    if parts.len() > 3 {
        return Err("at most three sizes".into());
    }
    let mut sizes = [1; 3];
    for (size, part) in sizes.iter_mut().zip(&parts) {
        *size = part.parse().ok().filter(|&n| n > 0).ok_or_else(|| format!("'{part}' is no size from 1 up"))?;
    }
    Ok(Three { sizes, dims: parts.len() as u8 })
}

fn key_value(text: &str) -> Result<(OsString, OsString), String> {
    match text.split_once('=') {
        Some(("", _)) | None => Err("write it as KEY=VALUE".into()),
        Some((key, value)) => Ok((key.into(), value.into())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_sound() {
        Cli::command().debug_assert();
    }

    #[test]
    fn sizes_are_one_to_three_numbers() {
        assert_eq!(three("4"), Ok(Three { sizes: [4, 1, 1], dims: 1 }));
        assert_eq!(three("4,5,6"), Ok(Three { sizes: [4, 5, 6], dims: 3 }));
        for bad in ["", "0", "1,2,3,4", "a", "-1"] {
            assert!(three(bad).is_err(), "{bad}");
        }
    }
}
