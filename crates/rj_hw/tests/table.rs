//! The table's numbers agree with each other and with the page they come from, and names find their GPU.

use rj_hw::{Gpu, all, find, suggest};
use rj_isa::Target;

#[test]
fn there_is_one_gpu_for_each_target() {
    assert_eq!(all().len(), 7);
    for t in Target::ALL {
        assert_eq!(all().iter().filter(|g| g.target == t).count(), 1, "{}", t.name());
        assert_eq!(rj_hw::of_target(t).target, t);
    }
}

#[test]
fn each_file_is_written_as_its_values_serialize() {
    for g in all() {
        let text = serde_json::to_string(g).unwrap();
        assert_eq!(&serde_json::from_str::<Gpu>(&text).unwrap(), g);
    }
}

#[test]
fn counts_of_parts_agree() {
    for g in all() {
        let (s, name) = (&g.shape, &g.key);
        assert!(s.cus <= s.arrays * s.cus_per_array, "{name}: more units than places");
        assert_eq!(s.cus % s.xcds, 0, "{name}: dies have equally many units");
        assert_eq!(s.arrays % (s.xcds * s.arrays_per_engine), 0, "{name}");
        assert_eq!(g.shader_engines() * s.arrays_per_engine, s.arrays, "{name}");
        assert_eq!(s.wave_size, if g.target.is_gfx9() { 64 } else { 32 }, "{name}");
        assert!(g.max_waves() >= s.cus * s.scratch_slots_per_cu, "{name}: scratch for waves that cannot be");
    }
}

#[test]
fn limits_memory_and_links_make_sense() {
    for g in all() {
        let name = &g.key;
        assert_eq!(g.limits.lds_bytes % g.limits.lds_granularity, 0, "{name}");
        assert_eq!(g.lds_alloc(1), Some(g.limits.lds_granularity), "{name}");
        assert_eq!(g.lds_alloc(g.limits.lds_bytes), Some(g.limits.lds_bytes), "{name}");
        assert_eq!(g.lds_alloc(g.limits.lds_bytes + 1), None, "{name}");
        assert_eq!(g.vram.bytes % 4096, 0, "{name}");
        assert!(g.sdma.engines > 0 && g.sdma.queues_per_engine > 0, "{name}");
        assert!(g.board.pci_bar_bytes.is_power_of_two(), "{name}");
        assert!(matches!(g.ids.pci_class, 0x03_0000 | 0x03_8000 | 0x12_0000), "{name}");
        assert!(g.ids.device <= 0xffff && g.ids.pci_revision <= 0xff, "{name}");
        assert!(g.ids.asic_revision <= 15, "{name}: four bits");
        for (level, c) in g.caches.levels() {
            assert!(c.kib > 0 && c.ways > 0 && c.line_bytes.is_power_of_two(), "{name} L{level}");
        }
    }
}

/// ROCr would use the alternate scratch fields from these firmware versions on, which we do not have.
#[test]
fn firmware_is_older_than_alternate_scratch() {
    assert!(rj_hw::of_target(Target::Gfx942).firmware.mec & 0x3ff < 177);
    assert!(rj_hw::of_target(Target::Gfx950).firmware.mec & 0x3ff < 24);
}

/// (name, gfx_target_version, device, PCI revision, units, SIMDs, VRAM bytes): columns of the hardware page.
#[test]
fn the_page_s_numbers_are_in_the_table() {
    let page = [
        ("MI210", 90010, 0x740f, 2, 104, 416, 68702699520u64),
        ("MI300X", 90402, 0x74a1, 0, 304, 1216, 206158430208),
        ("MI350X", 90500, 0x75a0, 0, 256, 1024, 309220868096),
        ("MI450X", 120500, 0x75c1, 1, 256, 1024, 463856467968),
        ("W7900", 110000, 0x7448, 0, 96, 192, 48301604864),
        ("STRIX-HALO", 110501, 0x1586, 0xc1, 40, 80, 55319121920),
        ("R9700", 120001, 0x7551, 0xc0, 64, 128, 32061259776),
    ];
    for (agent, version, device, revision, cus, simds, vram) in page {
        let g = find(agent).unwrap();
        assert_eq!(g.agent, agent);
        assert_eq!(
            (g.gfx_target_version(), g.ids.device, g.ids.pci_revision, g.shape.cus, g.simd_count(), g.vram.bytes),
            (version, device, revision, cus, simds, vram),
            "{agent}"
        );
    }
}

#[test]
fn every_spelling_finds_its_gpu() {
    for (typed, agent) in [
        ("mi210", "MI210"),
        ("MI210", "MI210"),
        ("gfx90a", "MI210"),
        ("gfx90a_mi210", "MI210"),
        ("gfx90a_mi210_kmd", "MI210"),
        ("AMD Instinct MI210", "MI210"),
        ("mi300x", "MI300X"),
        ("MI-300X", "MI300X"),
        ("gfx942", "MI300X"),
        ("gfx942:sramecc+:xnack-", "MI300X"),
        ("mi350x", "MI350X"),
        ("gfx950", "MI350X"),
        ("gfx1250", "MI450X"),
        ("w7900", "W7900"),
        ("gfx1100_w7900", "W7900"),
        ("STRIX-HALO", "STRIX-HALO"),
        ("strix halo", "STRIX-HALO"),
        ("strixhalo", "STRIX-HALO"),
        ("gfx1151", "STRIX-HALO"),
        ("r9700", "R9700"),
        ("gfx1201_r9700", "R9700"),
    ] {
        assert_eq!(find(typed).map(|g| g.agent.as_str()), Some(agent), "{typed}");
    }
    for unknown in ["", "-", ":", "gfx", "mi", "h100", "gfx90"] {
        assert_eq!(find(unknown).map(|g| &g.agent), None, "{unknown:?}");
    }
}

#[test]
fn no_name_belongs_to_two_gpus() {
    for g in all() {
        for n in g.names() {
            assert_eq!(find(n).map(|f| &f.key), Some(&g.key), "{n}");
        }
    }
}

#[test]
fn a_misspelt_name_gets_the_one_that_was_meant() {
    for (typed, meant) in
        [("mi310x", "MI300X"), ("mi30x", "MI300X"), ("gfx943", "gfx942"), ("strix-hallo", "STRIX-HALO")]
    {
        assert_eq!(suggest(typed), Some(meant), "{typed}");
    }
    for nothing in ["", "mi300x", "geforce", "h100"] {
        assert_eq!(suggest(nothing), None, "{nothing:?}");
    }
}
