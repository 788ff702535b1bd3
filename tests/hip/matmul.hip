// Matrix multiply, plain and tiled through LDS; small integers, so that every order of summing is exact.
#include "check.h"
constexpr int N = 192, TILE = 16;
__global__ void plain(const float *a, const float *b, float *c) {
  int col = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
  float acc = 0;
  for (int k = 0; k < N; k++) acc += a[row * N + k] * b[k * N + col];
  c[row * N + col] = acc;
}
__global__ void tiled(const float *a, const float *b, float *c) {
  __shared__ float ta[TILE][TILE], tb[TILE][TILE];
  int x = threadIdx.x, y = threadIdx.y, col = blockIdx.x * TILE + x, row = blockIdx.y * TILE + y;
  float acc = 0;
  for (int t = 0; t < N; t += TILE) {
    ta[y][x] = a[row * N + t + x];
    tb[y][x] = b[(t + y) * N + col];
    __syncthreads();
    for (int k = 0; k < TILE; k++) acc += ta[y][k] * tb[k][x];
    __syncthreads();
  }
  c[row * N + col] = acc;
}
int main() {
  std::vector<float> a(N * N), b(N * N), want(N * N);
  uint32_t s = 7;
  for (auto &x : a) x = float(next_random(s) % 17) - 8;
  for (auto &x : b) x = float(next_random(s) % 17) - 8;
  for (int i = 0; i < N; i++)
    for (int k = 0; k < N; k++)
      for (int j = 0; j < N; j++) want[i * N + j] += a[i * N + k] * b[k * N + j];
  float *da = upload(a), *db = upload(b), *dc;
  CHECK(hipMalloc(&dc, N * N * 4));
  long bad = 0;
  for (int which = 0; which < 2; which++) {
    CHECK(hipMemset(dc, 0xff, N * N * 4));
    dim3 grid(N / TILE, N / TILE), block(TILE, TILE);
    if (which) tiled<<<grid, block>>>(da, db, dc); else plain<<<grid, block>>>(da, db, dc);
    CHECK(hipDeviceSynchronize());
    std::vector<float> c = download(dc, N * N);
    for (int i = 0; i < N * N; i++) bad += c[i] != want[i];
  }
  return finish("matmul", bad);
}
