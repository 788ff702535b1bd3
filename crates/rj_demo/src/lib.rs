//! The demo: a client of the AMD GPU driver with no ROCm. It opens the devices, makes a queue, runs its own kernels and
//! checks them against the CPU. It knows nothing of the engine: what it does, any program may do.

mod device;
mod driver;
mod topology;
mod work;

use device::Device;
use std::io::Write;

/// GPU instruction sets that the demo's kernels are built for.
pub const TARGETS: [&str; 2] = ["gfx90a", "gfx942"];

fn code(target: &str) -> Option<&'static [u8]> {
    match target {
        "gfx90a" => Some(include_bytes!("../kernels/demo-gfx90a.co")),
        "gfx942" => Some(include_bytes!("../kernels/demo-gfx942.co")),
        _ => None,
    }
}

/// Shows the first GPU of this machine at work. An error says what failed, a wrong result included.
pub fn client(out: &mut dyn Write) -> Result<(), String> {
    let gpu = topology::first()?;
    let gib = gpu.memory >> 30;
    say(out, &format!("{} ({}): {} compute units, {gib} GiB", gpu.name, gpu.target, gpu.cus))?;
    let code = code(&gpu.target).ok_or_else(|| format!("the demo has no kernels for {}", gpu.target))?;
    let device = Device::open(&gpu, code)?;
    say(out, &work::vector_add(&device)?)?;
    say(out, &work::reduce(&device)?)?;
    say(out, &work::matrix_multiply(&device)?)?;
    say(out, &work::mandelbrot(&device)?)
}

fn say(out: &mut dyn Write, text: &str) -> Result<(), String> {
    writeln!(out, "{text}").and_then(|()| out.flush()).map_err(|e| format!("cannot write: {e}"))
}
