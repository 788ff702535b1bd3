// Two GPUs: each runs its own kernels, copies go across, one GPU reads and writes the other's memory.
#include "check.h"
__global__ void fill(unsigned *p, unsigned n, unsigned a) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) p[i] = a + i;
}
__global__ void add(unsigned *to, const unsigned *from, unsigned n) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) to[i] += from[i];
}
int main() {
  const unsigned n = 1 << 15;
  long bad = 0;
  int count = 0, can = 0;
  CHECK(hipGetDeviceCount(&count));
  if (count != 2) return finish("peers", 1);
  unsigned *d[2], *m;
  for (int g = 0; g < 2; g++) {
    CHECK(hipSetDevice(g));
    CHECK(hipMalloc(&d[g], n * 4));
    fill<<<n / 256, 256>>>(d[g], n, 1000 * (g + 1));
    CHECK(hipDeviceSynchronize());
  }
  CHECK(hipDeviceCanAccessPeer(&can, 0, 1));
  bad += can != 1;
  CHECK(hipSetDevice(0));
  CHECK(hipDeviceEnablePeerAccess(1, 0));
  add<<<n / 256, 256>>>(d[0], d[1], n);
  CHECK(hipDeviceSynchronize());
  std::vector<unsigned> v = download(d[0], n);
  for (unsigned i = 0; i < n; i++) bad += v[i] != 3000 + 2 * i;
  CHECK(hipMemcpyPeer(d[1], 1, d[0], 0, n * 4));
  CHECK(hipSetDevice(1));
  v = download(d[1], n);
  for (unsigned i = 0; i < n; i++) bad += v[i] != 3000 + 2 * i;
  // Managed memory between both.
  CHECK(hipMallocManaged((void **)&m, n * 4));
  for (unsigned i = 0; i < n; i++) m[i] = 1;
  for (int g = 0; g < 2; g++) {
    CHECK(hipSetDevice(g));
    add<<<n / 256, 256>>>(m, d[g], n);
    CHECK(hipDeviceSynchronize());
  }
  for (unsigned i = 0; i < n; i++) bad += m[i] != 6001 + 4 * i;
  // Events of one GPU order streams of the other.
  hipStream_t s[2];
  hipEvent_t e;
  for (int g = 0; g < 2; g++) {
    CHECK(hipSetDevice(g));
    CHECK(hipStreamCreate(&s[g]));
  }
  CHECK(hipSetDevice(0));
  CHECK(hipEventCreateWithFlags(&e, hipEventDisableTiming));
  fill<<<n / 256, 256, 0, s[0]>>>(d[0], n, 5);
  CHECK(hipEventRecord(e, s[0]));
  CHECK(hipSetDevice(1));
  CHECK(hipStreamWaitEvent(s[1], e, 0));
  CHECK(hipMemcpyPeerAsync(d[1], 1, d[0], 0, n * 4, s[1]));
  CHECK(hipStreamSynchronize(s[1]));
  v = download(d[1], n);
  for (unsigned i = 0; i < n; i++) bad += v[i] != 5 + i;
  CHECK(hipFree(m));
  return finish("peers", bad);
}
