// More memory than there is: a clean error each time, and everything goes on afterwards.
#include "check.h"
#include <unistd.h>
__global__ void fill(unsigned *p, unsigned n) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) p[i] = i;
}
static long works() {
  unsigned *p, n = 10000;
  CHECK(hipMalloc(&p, n * 4));
  fill<<<(n + 255) / 256, 256>>>(p, n);
  std::vector<unsigned> v = download(p, n);
  CHECK(hipFree(p));
  long bad = 0;
  for (unsigned i = 0; i < n; i++) bad += v[i] != i;
  return bad;
}
int main() {
  long bad = 0;
  size_t free_bytes, total;
  CHECK(hipMemGetInfo(&free_bytes, &total));
  void *p = &bad;
  bad += hipMalloc(&p, total + (1ull << 30)) != hipErrorOutOfMemory;
  (void)hipGetLastError();
  bad += hipMalloc(&p, 1ull << 60) != hipErrorOutOfMemory;
  (void)hipGetLastError();
  bad += works();
  // Piece by piece until nothing is left.
  std::vector<void *> pieces;
  hipError_t e;
  const size_t piece = 2ull << 30;
  while ((e = hipMalloc(&p, piece)) == hipSuccess && pieces.size() * piece <= total) pieces.push_back(p);
  bad += e != hipErrorOutOfMemory || pieces.size() < total / piece / 10 * 9;
  if (e != hipErrorOutOfMemory) std::printf("after %zu pieces: %s\n", pieces.size(), hipGetErrorString(e));
  (void)hipGetLastError();
  for (void *x : pieces) CHECK(hipFree(x));
  bad += works();
  // Pinned host memory, at once and piece by piece: less than the host has is to be had.
  const size_t host = (size_t)sysconf(_SC_PHYS_PAGES) * 4096;
  bad += hipHostMalloc(&p, host) != hipErrorOutOfMemory;
  (void)hipGetLastError();
  pieces.clear();
  while ((e = hipHostMalloc(&p, host / 16)) == hipSuccess && pieces.size() < 16) pieces.push_back(p);
  bad += e != hipErrorOutOfMemory || pieces.size() < 4;
  (void)hipGetLastError();
  for (void *x : pieces) CHECK(hipHostFree(x));
  bad += works();
  return finish("oom", bad);
}
