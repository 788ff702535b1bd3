//! Compiled kernels give right results on MI210 and MI300X, with no queue: `bench/kernels.cl`, built by clang 22 with
//! `-x cl -cl-std=CL2.0 -O2 -target amdgcn-amd-amdhsa -mcpu=TARGET -nogpulib -include bench/amd_shim.h`;
//! `kernels16` with `-DWGX(d)=16`, for groups of 16 x 16.

use object::{Object, ObjectSegment, ObjectSymbol};
use rj_isa::Target;
use rj_vm::GpuConfig;
use rj_vm::offline::{OfflineRun, run_kernel};

const GPUS: [Target; 2] = [Target::Gfx90a, Target::Gfx942];

/// Runs a kernel: 64-bit pointers to buffers first, then scalars.
fn run(t: Target, name: &str, grid: [u32; 3], block: [u32; 3], buffers: Vec<Vec<u8>>, scalars: &[u32]) -> Vec<Vec<u8>> {
    let kind = if block[1] > 1 { "kernels16" } else { "kernels" };
    let path = format!("{}/tests/data/{kind}-{}.co", env!("CARGO_MANIFEST_DIR"), t.name());
    let bytes = std::fs::read(path).unwrap();
    let elf = object::File::parse(&*bytes).unwrap();
    let end = elf.segments().map(|s| s.address() + s.size()).max().unwrap();
    let mut image = vec![0u8; end as usize];
    for s in elf.segments() {
        let d = s.data().unwrap();
        image[s.address() as usize..s.address() as usize + d.len()].copy_from_slice(d);
    }
    let kd = elf.symbols().find(|s| s.name() == Ok(&format!("{name}.kd"))).unwrap().address();
    let lds = u32::from_le_bytes(image[kd as usize..kd as usize + 4].try_into().unwrap());
    let mut kernarg = vec![0u8; 8 * buffers.len()];
    for s in scalars {
        kernarg.extend(s.to_le_bytes());
    }
    kernarg.resize(kernarg.len() + 256, 0);
    let base = 0x7000_0000_0000u64;
    let gpu = GpuConfig {
        target: t,
        gpu_id: 1,
        xccs: 1,
        cus: 104,
        simds_per_cu: 4,
        waves_per_simd: 8,
        lds_bytes: 65536,
        vgprs: 512,
    };
    let out = run_kernel(OfflineRun {
        gpu,
        image,
        image_va: base,
        descriptor_va: base + kd,
        name: name.into(),
        dims: if grid[1] > 1 { 2 } else { 1 },
        grid,
        block,
        kernarg,
        references: (0..buffers.len()).map(|i| (8 * i, i, 0)).collect(),
        buffers,
        lds,
        private: 0,
        threads: 2,
    });
    match out {
        Ok(r) => r.buffers,
        Err(e) => panic!("{name} on {}: {e}", t.name()),
    }
}

fn bytes<T: Copy, const N: usize>(v: &[T], f: impl Fn(T) -> [u8; N]) -> Vec<u8> {
    v.iter().flat_map(|x| f(*x)).collect()
}
fn floats(b: &[u8]) -> Vec<f32> {
    b.chunks(4).map(|c| f32::from_le_bytes(c.try_into().unwrap())).collect()
}
fn words(b: &[u8]) -> Vec<u32> {
    b.chunks(4).map(|c| u32::from_le_bytes(c.try_into().unwrap())).collect()
}

#[test]
fn vector_add_and_saxpy() {
    let n = 10_007u32;
    let a: Vec<f32> = (0..n).map(|i| i as f32 * 0.5).collect();
    let b: Vec<f32> = (0..n).map(|i| i as f32 * 0.125 - 7.0).collect();
    for t in GPUS {
        let grid = [n.next_multiple_of(256), 1, 1];
        let (ab, bb) = (bytes(&a, f32::to_le_bytes), bytes(&b, f32::to_le_bytes));
        let r = run(t, "vadd", grid, [256, 1, 1], vec![ab.clone(), bb.clone(), vec![0; 4 * n as usize]], &[n]);
        let want: Vec<f32> = a.iter().zip(&b).map(|(a, b)| a + b).collect();
        assert_eq!(floats(&r[2]), want, "{}", t.name());
        let r = run(t, "saxpy", grid, [256, 1, 1], vec![ab, bb], &[2.5f32.to_bits(), n]);
        let got = floats(&r[1]);
        for i in 0..n as usize {
            let (fused, twice) = (2.5f32.mul_add(a[i], b[i]), 2.5 * a[i] + b[i]);
            assert!(got[i] == fused || got[i] == twice, "{} element {i}: {}", t.name(), got[i]);
        }
    }
}

#[test]
fn matrix_multiply_plain_and_tiled() {
    let n = 64usize;
    let a: Vec<f32> = (0..n * n).map(|i| (i * 7 % 13) as f32 - 6.0).collect();
    let b: Vec<f32> = (0..n * n).map(|i| (i * 5 % 11) as f32 - 5.0).collect();
    let mut want = vec![0f32; n * n];
    for i in 0..n {
        for k in 0..n {
            for j in 0..n {
                want[i * n + j] += a[i * n + k] * b[k * n + j];
            }
        }
    }
    for t in GPUS {
        for kernel in ["matmul_naive", "matmul_tiled"] {
            let buffers = vec![bytes(&a, f32::to_le_bytes), bytes(&b, f32::to_le_bytes), vec![0; 4 * n * n]];
            let r = run(t, kernel, [n as u32, n as u32, 1], [16, 16, 1], buffers, &[n as u32]);
            assert_eq!(floats(&r[2]), want, "{kernel} on {}", t.name());
        }
    }
}

#[test]
fn reduction_histograms_and_divergence() {
    let n = 4096u32;
    let a: Vec<f32> = (0..n).map(|i| (i % 29) as f32).collect();
    let u: Vec<u32> = (0..n).map(|i| i.wrapping_mul(2_654_435_761) >> 7).collect();
    let mut hist = vec![0u32; 256];
    u.iter().for_each(|x| hist[(*x & 255) as usize] += 1);
    for t in GPUS {
        let r = run(
            t,
            "reduce",
            [n, 1, 1],
            [256, 1, 1],
            vec![bytes(&a, f32::to_le_bytes), vec![0; 4 * (n / 256) as usize]],
            &[n],
        );
        let want: Vec<f32> = a.chunks(256).map(|c| c.iter().sum()).collect();
        assert_eq!(floats(&r[1]), want, "{}", t.name());
        for (kernel, groups, extra) in [("hist_global", n / 256, vec![n]), ("hist_local", 4, vec![n, 4])] {
            let r = run(
                t,
                kernel,
                [groups * 256, 1, 1],
                [256, 1, 1],
                vec![bytes(&u, u32::to_le_bytes), vec![0; 1024]],
                &extra,
            );
            assert_eq!(words(&r[1]), hist, "{kernel} on {}", t.name());
        }
        let r = run(t, "collatz", [1024, 1, 1], [256, 1, 1], vec![vec![0; 4096]], &[1000]);
        let want: Vec<u32> = (1..=1024u32)
            .map(|i| {
                if i > 1000 {
                    0
                } else {
                    std::iter::successors(Some(i), |x| (*x != 1).then(|| if x & 1 == 1 { 3 * x + 1 } else { x / 2 }))
                        .count() as u32
                        - 1
                }
            })
            .collect();
        assert_eq!(words(&r[0]), want, "collatz on {}", t.name());
    }
}

#[test]
fn chains_of_fused_multiply_adds() {
    let iters = 50u32;
    for t in GPUS {
        let r = run(t, "fma_peak", [256, 1, 1], [256, 1, 1], vec![vec![0; 1024]], &[iters]);
        let want: Vec<f32> = (0..256)
            .map(|i| {
                let (x, y) = (i as f32 * 1e-7, 0.999f32);
                let mut r: Vec<f32> = (0..8).map(|k| x + k as f32).collect();
                for _ in 0..iters {
                    r.iter_mut().for_each(|r| *r = r.mul_add(y, x));
                }
                r[0] + r[1] + r[2] + r[3] + r[4] + r[5] + r[6] + r[7]
            })
            .collect();
        let got = floats(&r[0]);
        for i in 0..256 {
            assert!((got[i] - want[i]).abs() <= want[i].abs() * 1e-5, "{} {i}: {} {}", t.name(), got[i], want[i]);
        }
    }
}
