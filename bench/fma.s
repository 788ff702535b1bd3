// A loop of 64 independent-in-fours v_fma_f32 on registers, 20,000 rounds: what the interpreter can do at most.
// Built by: clang-22 -x assembler -target amdgcn-amd-amdhsa -mcpu=gfx942 -o fma-gfx942.co fma.s
	.amdgcn_target "amdgcn-amd-amdhsa--gfx942"
	.text
	.globl fma
	.p2align 8
	.type fma,@function
fma:
	s_movk_i32 s2, 20000
loop:
	.rept 4
	.irp d, 1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16
	v_fma_f32 v[\d], v[\d+16], v[\d+32], v[\d+48]
	.endr
	.endr
	s_sub_u32 s2, s2, 1
	s_cmp_lg_u32 s2, 0
	s_cbranch_scc1 loop
	s_endpgm
	.size fma, .-fma

	.rodata
	.p2align 6
	.amdhsa_kernel fma
		.amdhsa_next_free_vgpr 68
		.amdhsa_next_free_sgpr 8
		.amdhsa_accum_offset 68
	.end_amdhsa_kernel

	.amdgpu_metadata
---
amdhsa.version: [ 1, 2 ]
amdhsa.kernels:
  - .name: fma
    .symbol: fma.kd
    .kernarg_segment_size: 0
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 0
    .kernarg_segment_align: 4
    .wavefront_size: 64
    .sgpr_count: 8
    .vgpr_count: 68
    .max_flat_workgroup_size: 256
    .args: []
...
	.end_amdgpu_metadata
