.text:
	s_mov_b32 m0, 0x30000  // 0000: BEFC00FF 00030000
	v_mov_b32_e32 v2, 0  // 0008: 7E040280
	v_mov_b32_e32 v6, 1  // 000C: 7E0C0281
	s_cmp_lg_u32 s2, 0  // 0010: BF078002
	s_cbranch_scc1 take  // 0014: BF85002B
	ds_gws_init v2 offset:2 gds  // 0018: D9330002 00000002
	v_mov_b32_e32 v1, 0  // 0020: 7E020280
	global_store_dword v1, v6, s[0:1]  // 0024: DC708000 00000601
	ds_gws_sema_v offset:2 gds  // 002C: D9350002 00000000
	ds_gws_sema_v offset:2 gds  // 0034: D9350002 00000000
two:
	v_mov_b32_e32 v1, 4  // 003C: 7E020284
	global_load_dword v0, v1, s[0:1] glc  // 0040: DC518000 00000001
	s_waitcnt vmcnt(0)  // 0048: BF8C0F70
	v_readfirstlane_b32 s4, v0  // 004C: 7E080500
	s_cmp_lt_u32 s4, 2  // 0050: BF0A8204
	s_cbranch_scc1 two  // 0054: BF85FFF9
	v_mov_b32_e32 v1, 8  // 0058: 7E020288
	global_store_dword v1, v0, s[0:1]  // 005C: DC708000 00000001
	v_mov_b32_e32 v2, 3  // 0064: 7E040283
	ds_gws_sema_br v2 offset:2 gds  // 0068: D9370002 00000002
five:
	v_mov_b32_e32 v1, 4  // 0070: 7E020284
	global_load_dword v0, v1, s[0:1] glc  // 0074: DC518000 00000001
	s_waitcnt vmcnt(0)  // 007C: BF8C0F70
	v_readfirstlane_b32 s4, v0  // 0080: 7E080500
	s_cmp_lt_u32 s4, 5  // 0084: BF0A8504
	s_cbranch_scc1 five  // 0088: BF85FFF9
	v_mov_b32_e32 v1, 12  // 008C: 7E02028C
	global_store_dword v1, v0, s[0:1]  // 0090: DC708000 00000001
rest:
	ds_gws_sema_release_all offset:2 gds  // 0098: D9310002 00000000
	s_sleep 1  // 00A0: BF8E0001
	v_mov_b32_e32 v1, 4  // 00A4: 7E020284
	global_load_dword v0, v1, s[0:1] glc  // 00A8: DC518000 00000001
	s_waitcnt vmcnt(0)  // 00B0: BF8C0F70
	v_readfirstlane_b32 s4, v0  // 00B4: 7E080500
	s_cmp_lt_u32 s4, 7  // 00B8: BF0A8704
	s_cbranch_scc1 rest  // 00BC: BF85FFF6
	s_endpgm  // 00C0: BF810000
take:
	v_mov_b32_e32 v1, 0  // 00C4: 7E020280
	global_load_dword v0, v1, s[0:1] glc  // 00C8: DC518000 00000001
	s_waitcnt vmcnt(0)  // 00D0: BF8C0F70
	v_readfirstlane_b32 s4, v0  // 00D4: 7E080500
	s_cmp_eq_u32 s4, 0  // 00D8: BF068004
	s_cbranch_scc1 take  // 00DC: BF85FFF9
	ds_gws_sema_p offset:2 gds  // 00E0: D9390002 00000000
	s_waitcnt lgkmcnt(0)  // 00E8: BF8CC07F
	v_mov_b32_e32 v1, 4  // 00EC: 7E020284
	global_atomic_add v1, v6, s[0:1]  // 00F0: DD088000 00000601
	s_endpgm  // 00F8: BF810000
