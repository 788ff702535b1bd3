// More memory than there is: a clean error each time, and everything goes on afterwards.
#include "check.h"
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
  // Pinned host memory beyond what the driver maps.
  e = hipHostMalloc(&p, 1ull << 46);
  bad += e != hipErrorOutOfMemory;
  (void)hipGetLastError();
  bad += works();
  return finish("oom", bad);
}
