//! Random bytes from a fixed seed, raw and beginning as real encodings do. RJ_FUZZ_SEED and RJ_FUZZ_ROUNDS choose
//! others.

use rj_isa::fuzz_one;

/// xorshift64*: any good-enough generator, the same everywhere.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }
}

#[test]
fn any_bytes_decode_encode_and_decode_to_the_same_instruction() {
    let number =
        |name: &str, default: u64| -> u64 { std::env::var(name).map_or(default, |v| v.parse().expect("a number")) };
    let mut r = Random(number("RJ_FUZZ_SEED", 0x9e37_79b9_7f4a_7c15));
    let rounds = number("RJ_FUZZ_ROUNDS", 400_000) as u32;
    let mut instructions = 0;
    for i in 0..rounds {
        let mut data = [0u8; 21];
        for chunk in data.chunks_mut(8) {
            chunk.copy_from_slice(&r.next().to_le_bytes()[..chunk.len()]);
        }
        data[0] = (i % 7) as u8;
        // Every other time an encoding prefix of vector, memory or scalar instructions.
        if i % 2 == 1 {
            const TOPS: [u8; 16] =
                [0xd1, 0xd3, 0xd5, 0xcc, 0xc8, 0xdc, 0xe0, 0xbf, 0xbe, 0x7e, 0x7c, 0xd8, 0xf0, 0xf4, 0xee, 0xc4];
            data[4] = TOPS[(r.next() % 16) as usize];
        }
        // And sometimes a source that asks for a literal, DPP or SDWA.
        if i % 5 == 0 {
            data[1] = [0xff, 0xfe, 0xfa, 0xf9, 0xe9, 0xea][(r.next() % 6) as usize];
        }
        instructions += u32::from(fuzz_one(&data));
    }
    println!("{instructions} of {rounds} were instructions");
    assert!(instructions > rounds / 4);
}
