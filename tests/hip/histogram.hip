// Histograms with global atomics, and with LDS atomics that are merged at the end.
#include "check.h"
__global__ void global_hist(const unsigned *a, unsigned *h, unsigned n) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&h[a[i] & 255], 1u);
}
__global__ void local_hist(const unsigned *a, unsigned *h, unsigned n) {
  __shared__ unsigned s[256];
  s[threadIdx.x] = 0;
  __syncthreads();
  for (unsigned i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256) atomicAdd(&s[a[i] & 255], 1u);
  __syncthreads();
  atomicAdd(&h[threadIdx.x], s[threadIdx.x]);
}
int main() {
  unsigned n = 100003;
  std::vector<unsigned> a(n), want(256);
  uint32_t s = 5;
  for (auto &x : a) want[(x = next_random(s)) & 255]++;
  unsigned *da = upload(a), *h;
  CHECK(hipMalloc(&h, 1024));
  long bad = 0;
  for (int which = 0; which < 2; which++) {
    CHECK(hipMemset(h, 0, 1024));
    if (which) local_hist<<<13, 256>>>(da, h, n); else global_hist<<<(n + 255) / 256, 256>>>(da, h, n);
    CHECK(hipDeviceSynchronize());
    std::vector<unsigned> got = download(h, 256);
    for (int i = 0; i < 256; i++) bad += got[i] != want[i];
  }
  return finish("histogram", bad);
}
