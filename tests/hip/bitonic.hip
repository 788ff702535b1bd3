// Bitonic sort: a block in LDS, the larger strides through memory; keys with values; 32-bit, 64-bit and float keys.
#include "check.h"
#include <algorithm>
template <class K> __device__ void exchange(K &a, K &b, unsigned &x, unsigned &y, bool up) {
  if ((a > b) == up && a != b) {
    K k = a; a = b; b = k;
    unsigned v = x; x = y; y = v;
  }
}
template <class K> __global__ void in_block(K *key, unsigned *val, unsigned first, unsigned last) {
  __shared__ K k[512];
  __shared__ unsigned v[512];
  unsigned t = threadIdx.x, base = blockIdx.x * 512;
  for (unsigned i = t; i < 512; i += 256) k[i] = key[base + i], v[i] = val[base + i];
  __syncthreads();
  for (unsigned size = first; size <= last; size <<= 1)
    for (unsigned d = size / 2 > 256 ? 256 : size / 2; d; d >>= 1) {
      unsigned i = 2 * t - (t & (d - 1));
      exchange(k[i], k[i + d], v[i], v[i + d], ((base + i) & size) == 0);
      __syncthreads();
    }
  for (unsigned i = t; i < 512; i += 256) key[base + i] = k[i], val[base + i] = v[i];
}
template <class K> __global__ void across(K *key, unsigned *val, unsigned size, unsigned d) {
  unsigned t = blockIdx.x * blockDim.x + threadIdx.x, i = 2 * t - (t & (d - 1));
  exchange(key[i], key[i + d], val[i], val[i + d], (i & size) == 0);
}
template <class K> long sort(unsigned n, K (*make)(uint32_t &)) {
  std::vector<K> a(n);
  std::vector<unsigned> v(n), seen(n);
  uint32_t s = 11;
  for (unsigned i = 0; i < n; i++) a[i] = make(s), v[i] = i;
  K *key = upload(a);
  unsigned *val = upload(v);
  in_block<<<n / 512, 256>>>(key, val, 2, 512);
  for (unsigned size = 1024; size <= n; size <<= 1) {
    for (unsigned d = size / 2; d > 256; d >>= 1) across<<<n / 512, 256>>>(key, val, size, d);
    in_block<<<n / 512, 256>>>(key, val, size, size);
  }
  CHECK(hipDeviceSynchronize());
  auto got = download(key, n);
  auto from = download(val, n);
  std::vector<K> want = a;
  std::sort(want.begin(), want.end());
  long bad = 0;
  for (unsigned i = 0; i < n; i++) {
    bad += got[i] != want[i] || from[i] >= n || a[from[i]] != got[i];
    if (from[i] < n) bad += seen[from[i]]++ != 0;
  }
  return bad;
}
int main() {
  long bad = sort<unsigned>(8192, [](uint32_t &s) { return next_random(s) << 8 ^ next_random(s); });
  bad += sort<int>(4096, [](uint32_t &s) { return int(next_random(s) << 8); });
  bad += sort<long long>(4096, [](uint32_t &s) { return (long long)((uint64_t)next_random(s) << 40 ^ next_random(s)); });
  bad += sort<float>(4096, [](uint32_t &s) { return float(next_random(s)) - 8e6f; });
  bad += sort<double>(2048, [](uint32_t &s) { return (double(next_random(s)) - 8e6) / 7; });
  bad += sort<unsigned short>(2048, [](uint32_t &s) { return (unsigned short)next_random(s); });
  bad += sort<signed char>(1024, [](uint32_t &s) { return (signed char)next_random(s); });
  return finish("bitonic", bad);
}
