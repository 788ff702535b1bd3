// Stream-ordered allocation: memory is good from the next command of its stream on, comes back after hipFreeAsync,
// and a pool gives back what it does not use.
#include "check.h"
__global__ void fill(unsigned *p, unsigned n, unsigned a) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) p[i] = a + i * 3;
}
__global__ void add(unsigned *to, const unsigned *from, unsigned n) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) to[i] += from[i];
}
static long wrong(const std::vector<unsigned> &v, unsigned mul, unsigned a) {
  long bad = 0;
  for (size_t i = 0; i < v.size(); i++) bad += v[i] != mul * (a + (unsigned)i * 3);
  return bad;
}
int main() {
  const unsigned n = 1 << 14, bytes = n * 4;
  long bad = 0;
  int supported = 0;
  CHECK(hipDeviceGetAttribute(&supported, hipDeviceAttributeMemoryPoolsSupported, 0));
  bad += supported != 1;
  hipStream_t s, t;
  CHECK(hipStreamCreate(&s));
  CHECK(hipStreamCreateWithFlags(&t, hipStreamNonBlocking));
  // The default pool, again and again.
  std::vector<unsigned> h(n);
  for (unsigned r = 0; r < 8; r++) {
    unsigned *p, *q;
    CHECK(hipMallocAsync((void **)&p, bytes, s));
    CHECK(hipMallocAsync((void **)&q, bytes, s));
    fill<<<n / 256, 256, 0, s>>>(p, n, r);
    fill<<<n / 256, 256, 0, s>>>(q, n, r);
    add<<<n / 256, 256, 0, s>>>(p, q, n);
    CHECK(hipMemcpyAsync(h.data(), p, bytes, hipMemcpyDeviceToHost, s));
    CHECK(hipFreeAsync(q, s));
    CHECK(hipFreeAsync(p, s));
    CHECK(hipStreamSynchronize(s));
    bad += wrong(h, 2, r);
  }
  // Allocated on one stream, used on another after an event, freed there.
  unsigned *p;
  hipEvent_t e;
  CHECK(hipEventCreateWithFlags(&e, hipEventDisableTiming));
  CHECK(hipMallocAsync((void **)&p, bytes, s));
  fill<<<n / 256, 256, 0, s>>>(p, n, 77);
  CHECK(hipEventRecord(e, s));
  CHECK(hipStreamWaitEvent(t, e, 0));
  CHECK(hipMemcpyAsync(h.data(), p, bytes, hipMemcpyDeviceToHost, t));
  CHECK(hipFreeAsync(p, t));
  CHECK(hipStreamSynchronize(t));
  bad += wrong(h, 1, 77);
  // A pool of its own, with a threshold and its counters.
  hipMemPoolProps props = {};
  props.allocType = hipMemAllocationTypePinned;
  props.location.type = hipMemLocationTypeDevice;
  hipMemPool_t pool;
  CHECK(hipMemPoolCreate(&pool, &props));
  uint64_t keep = 1 << 20, used = 1, high = 0, reserved = 0;
  CHECK(hipMemPoolSetAttribute(pool, hipMemPoolAttrReleaseThreshold, &keep));
  std::vector<unsigned *> some(16);
  for (auto &x : some) CHECK(hipMallocFromPoolAsync((void **)&x, bytes, pool, s));
  for (unsigned i = 0; i < some.size(); i++) fill<<<n / 256, 256, 0, s>>>(some[i], n, i * 1000);
  CHECK(hipStreamSynchronize(s));
  CHECK(hipMemPoolGetAttribute(pool, hipMemPoolAttrUsedMemCurrent, &used));
  bad += used < 16ull * bytes;
  for (unsigned i = 0; i < some.size(); i++) bad += wrong(download(some[i], n), 1, i * 1000);
  for (auto x : some) CHECK(hipFreeAsync(x, s));
  CHECK(hipStreamSynchronize(s));
  CHECK(hipMemPoolGetAttribute(pool, hipMemPoolAttrUsedMemCurrent, &used));
  CHECK(hipMemPoolGetAttribute(pool, hipMemPoolAttrUsedMemHigh, &high));
  bad += used != 0 || high < 16ull * bytes;
  CHECK(hipMemPoolTrimTo(pool, 0));
  CHECK(hipMemPoolGetAttribute(pool, hipMemPoolAttrReservedMemCurrent, &reserved));
  bad += reserved != 0;
  CHECK(hipMemPoolDestroy(pool));
  CHECK(hipEventDestroy(e));
  CHECK(hipStreamDestroy(s));
  CHECK(hipStreamDestroy(t));
  return finish("pools", bad);
}
