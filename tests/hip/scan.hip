// Inclusive scans with warp shuffles: within a wave, over a block, over sub-warps, and of other types.
#include "check.h"
template <class T> __device__ T wave_scan(T v) {
  for (int d = 1; d < 64; d <<= 1) {
    T o = __shfl_up(v, d);
    if (int(threadIdx.x & 63) >= d) v += o;
  }
  return v;
}
template <class T> __global__ void block_scan(const T *in, T *out, T *sums, int n) {
  __shared__ T part[16];
  int i = blockIdx.x * blockDim.x + threadIdx.x, wave = threadIdx.x / 64, lane = threadIdx.x & 63;
  T v = wave_scan(i < n ? in[i] : T(0));
  if (lane == 63) part[wave] = v;
  __syncthreads();
  if (wave == 0) {
    T p = lane < int(blockDim.x / 64) ? part[lane] : T(0);
    for (int d = 1; d < 16; d <<= 1) {
      T o = __shfl_up(p, d, 16);
      if ((lane & 15) >= d) p += o;
    }
    if (lane < int(blockDim.x / 64)) part[lane] = p;
  }
  __syncthreads();
  if (wave) v += part[wave - 1];
  if (i < n) out[i] = v;
  if (threadIdx.x == blockDim.x - 1) sums[blockIdx.x] = v;
}
template <class T> __global__ void add_sums(T *out, const T *sums, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  T before = 0;
  for (unsigned b = 0; b < blockIdx.x; b++) before += sums[b];
  if (i < n) out[i] += before;
}
__global__ void widths(const int *in, int *out) {
  int l = threadIdx.x, v = in[l];
  out += l;
  for (int w = 2; w <= 64; w <<= 1) {
    *out = __shfl_up(v, 1, w), out += 64;
    *out = __shfl_down(v, w / 2, w), out += 64;
    *out = __shfl_xor(v, w - 1, w), out += 64;
    *out = __shfl(v, l * 7 + 3, w), out += 64;
  }
}
template <class T> long scan(int n, int block) {
  std::vector<T> a(n), want(n);
  uint32_t s = 5;
  T sum = 0;
  for (int i = 0; i < n; i++) a[i] = T(next_random(s) & 15) - T(5), want[i] = sum += a[i];
  int blocks = (n + block - 1) / block;
  T *in = upload(a), *out, *sums;
  CHECK(hipMalloc(&out, n * sizeof(T)));
  CHECK(hipMalloc(&sums, blocks * sizeof(T)));
  block_scan<<<blocks, block>>>(in, out, sums, n);
  add_sums<<<blocks, block>>>(out, sums, n);
  CHECK(hipDeviceSynchronize());
  long bad = 0;
  auto got = download(out, n);
  for (int i = 0; i < n; i++) bad += got[i] != want[i];
  return bad;
}
long shuffles() {
  std::vector<int> a(64);
  for (int i = 0; i < 64; i++) a[i] = i * i * 31 + 7;
  int *in = upload(a), *out, n = 6 * 4 * 64;
  CHECK(hipMalloc(&out, n * 4));
  widths<<<1, 64>>>(in, out);
  CHECK(hipDeviceSynchronize());
  auto got = download(out, n);
  long bad = 0, at = 0;
  auto line = [&](auto from) {
    for (int l = 0; l < 64; l++) bad += got[at++] != a[from(l)];
  };
  for (int w = 2; w <= 64; w <<= 1) {
    line([&](int l) { return l % w >= 1 ? l - 1 : l; });
    line([&](int l) { return l % w + w / 2 < w ? l + w / 2 : l; });
    line([&](int l) { return l ^ (w - 1); });
    line([&](int l) { return l / w * w + ((l * 7 + 3) & (w - 1)); });
  }
  return bad;
}
int main() {
  long bad = shuffles();
  for (int block : {64, 256, 1024}) {
    bad += scan<int>(10007, block) + scan<unsigned long long>(5003, block) + scan<float>(3001, block) + scan<double>(3001, block);
  }
  return finish("scan", bad);
}
