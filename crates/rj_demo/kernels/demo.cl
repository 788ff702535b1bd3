// The kernels of the demo, with no device library: work-item builtins are the compiler's own.
// Built by the command in ../tests/kernels.rs.
#define WG 256
#define lid() __builtin_amdgcn_workitem_id_x()
#define gid() __builtin_amdgcn_workgroup_id_x()
#define barrier_lds() do { \
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup"); \
    __builtin_amdgcn_s_barrier(); \
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup"); \
  } while (0)

__kernel __attribute__((reqd_work_group_size(WG, 1, 1)))
void vector_add(__global const float *a, __global const float *b, __global float *c) {
  uint i = gid() * WG + lid();
  c[i] = a[i] + b[i];
}

// A tree in LDS for each work-group, then one atomic addition to the total; another counts the groups.
__kernel __attribute__((reqd_work_group_size(WG, 1, 1)))
void reduce(__global const uint *a, __global uint *total) {
  __local uint s[WG];
  uint l = lid();
  s[l] = a[gid() * WG + l];
  barrier_lds();
  for (uint d = WG / 2; d > 0; d >>= 1) {
    if (l < d) s[l] += s[l + d];
    barrier_lds();
  }
  if (l == 0) {
    __opencl_atomic_fetch_add((volatile __global atomic_uint *)total, s[0], memory_order_relaxed, memory_scope_device);
    __opencl_atomic_fetch_add((volatile __global atomic_uint *)(total + 1), 1u, memory_order_relaxed,
                              memory_scope_device);
  }
}

typedef __attribute__((__vector_size__(4 * sizeof(_Float16)))) _Float16 half4_;
typedef __attribute__((__vector_size__(4 * sizeof(float)))) float float4_;

// C = A x B^T, all row-major, n x n. One wave makes a tile of 16 x 16 on the matrix cores: lane l brings A and B^T of
// row l % 16, columns 4 * (l / 16) on, and gets C of rows 4 * (l / 16) on, column l % 16.
__kernel __attribute__((reqd_work_group_size(64, 1, 1)))
void matrix_multiply(__global const _Float16 *a, __global const _Float16 *bt, __global float *c, uint n) {
  uint l = lid(), tiles = n / 16;
  uint row = gid() / tiles * 16, col = gid() % tiles * 16;
  uint r = l % 16, q = l / 16;
  float4_ acc = {0, 0, 0, 0};
  for (uint k = 0; k < n; k += 16) {
    half4_ x = *(__global const half4_ *)(a + (row + r) * n + k + 4 * q);
    half4_ y = *(__global const half4_ *)(bt + (col + r) * n + k + 4 * q);
    acc = __builtin_amdgcn_mfma_f32_16x16x16f16(x, y, acc, 0, 0, 0);
  }
  for (uint i = 0; i < 4; ++i) c[(row + 4 * q + i) * n + col + r] = acc[i];
}

// How many steps each point takes to leave the circle of radius 2, `most` at most. A row of the picture is a
// work-group row of `width` points, a multiple of 64.
__kernel __attribute__((reqd_work_group_size(64, 1, 1)))
void mandelbrot(__global uint *out, uint width, float x0, float y0, float dx, float dy, uint most) {
  uint i = gid() * 64 + lid();
  float cx = __builtin_fmaf((float)(i % width), dx, x0), cy = __builtin_fmaf((float)(i / width), dy, y0);
  float x = 0, y = 0;
  uint n = 0;
  while (n < most) {
    float xx = x * x, yy = y * y;
    if (xx + yy > 4.0f) break;
    y = __builtin_fmaf(2.0f * x, y, cy);
    x = xx - yy + cx;
    ++n;
  }
  out[i] = n;
}
