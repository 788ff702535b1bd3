.text:
	s_mov_b32 m0, 0  // 0000: BEFC0080
	v_mov_b32_e32 v2, 7  // 0004: 7E040287
	s_cmp_lg_u32 s2, 0  // 0008: BF078002
	s_cbranch_scc1 wait  // 000C: BF850007
	ds_gws_init v2 gds  // 0010: D9330000 00000002
	s_waitcnt lgkmcnt(0)  // 0018: BF8CC07F
	v_mov_b32_e32 v0, 1  // 001C: 7E000281
	v_mov_b32_e32 v1, 0  // 0020: 7E020280
	global_store_dword v1, v0, s[0:1]  // 0024: DC708000 00000001
wait:
	v_mov_b32_e32 v1, 0  // 002C: 7E020280
	global_load_dword v0, v1, s[0:1] glc  // 0030: DC518000 00000001
	s_waitcnt vmcnt(0)  // 0038: BF8C0F70
	v_readfirstlane_b32 s4, v0  // 003C: 7E080500
	s_cmp_eq_u32 s4, 0  // 0040: BF068004
	s_cbranch_scc1 wait  // 0044: BF85FFF9
	s_movk_i32 s7, 0x32  // 0048: B0070032
round:
	s_lshl_b32 s5, s2, 2  // 004C: 8E058202
	s_add_u32 s5, s5, 16  // 0050: 80059005
	v_mov_b32_e32 v3, s5  // 0054: 7E060205
	v_mov_b32_e32 v4, s7  // 0058: 7E080207
	global_store_dword v3, v4, s[0:1]  // 005C: DC708000 00000403
	ds_gws_barrier v2 gds  // 0064: D93B0000 00000002
	s_waitcnt lgkmcnt(0)  // 006C: BF8CC07F
	v_mov_b32_e32 v1, 0  // 0070: 7E020280
	s_mov_b32 s6, 8  // 0074: BE860088
	s_mov_b32 s5, 16  // 0078: BE850090
check:
	v_mov_b32_e32 v3, s5  // 007C: 7E060205
	global_load_dword v5, v3, s[0:1] glc  // 0080: DC518000 05000003
	s_waitcnt vmcnt(0)  // 0088: BF8C0F70
	v_cmp_ne_u32_e32 vcc, v5, v4  // 008C: 7D9A0905
	s_cbranch_vccz good  // 0090: BF860004
	v_mov_b32_e32 v6, 1  // 0094: 7E0C0281
	v_mov_b32_e32 v1, 4  // 0098: 7E020284
	global_atomic_add v1, v6, s[0:1]  // 009C: DD088000 00000601
good:
	s_add_u32 s5, s5, 4  // 00A4: 80058405
	s_sub_u32 s6, s6, 1  // 00A8: 80868106
	s_cmp_lg_u32 s6, 0  // 00AC: BF078006
	s_cbranch_scc1 check  // 00B0: BF85FFF2
	ds_gws_barrier v2 gds  // 00B4: D93B0000 00000002
	s_waitcnt lgkmcnt(0)  // 00BC: BF8CC07F
	s_sub_u32 s7, s7, 1  // 00C0: 80878107
	s_cmp_lg_u32 s7, 0  // 00C4: BF078007
	s_cbranch_scc1 round  // 00C8: BF85FFE0
	v_mov_b32_e32 v6, 1  // 00CC: 7E0C0281
	v_mov_b32_e32 v1, 8  // 00D0: 7E020288
	global_atomic_add v1, v6, s[0:1]  // 00D4: DD088000 00000601
	s_endpgm  // 00DC: BF810000
