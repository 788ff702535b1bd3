//! HIP programs that use the runtime's breadth: pools, managed memory, streams, graphs, sharing between processes,
//! limits. Each program checks itself.
#![cfg(feature = "rootfs")]

use rj_e2e::{Rocm, Setup, emulate_with, hipcc, text};

fn check(gpu: &str, program: &str, options: &str) {
    check_with(gpu, program, options, Setup::default());
}

fn check_with(gpu: &str, program: &str, options: &str, setup: Setup<'_>) {
    let exe = hipcc(Rocm::V7, program, &format!("{options} --offload-arch=gfx90a --offload-arch=gfx942"));
    let o = emulate_with(Rocm::V7, gpu, &exe, "", setup);
    let said = text(&o);
    assert!(o.status.success() && said.contains(&format!("{program} OK")), "{program} on {gpu}: {}\n{said}", o.status);
}

#[test]
fn peers_of_one_machine() {
    for gpu in ["mi300x", "mi210"] {
        check_with(gpu, "peers", "-O2", Setup { config: "\"num_gpus\": 2", ..Setup::default() });
    }
}

macro_rules! programs {
    ($($name:ident $options:literal)*) => {$(
        mod $name {
            #[test]
            fn mi300x() {
                super::check("mi300x", stringify!($name), $options);
            }
            #[test]
            fn mi210() {
                super::check("mi210", stringify!($name), $options);
            }
        }
    )*};
}

programs! {
    pools "-O2"
    volumes "-O2"
    managed "-O2"
    managed_variable "-O2"
    order "-O0"
    vmm "-O2"
    graphs "-O2"
    coop "-O2"
    rtc "-O2 -lhiprtc"
    ipc "-O2"
    many "-O2"
    sparse "-O2"
    oom "-O2"
    churn "-O2"
    idle "-O2"
}
