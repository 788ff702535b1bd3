// Virtual memory management: reserved addresses, physical memory mapped into them, shared by two mappings, moved,
// made read-only, and given back.
#include "check.h"
__global__ void fill(int *p, int n, int a) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) p[i] = a + i;
}
static hipMemAllocationProp props() {
  hipMemAllocationProp p = {};
  p.type = hipMemAllocationTypePinned;
  p.location.type = hipMemLocationTypeDevice;
  return p;
}
static void grant(void *va, size_t bytes) {
  hipMemAccessDesc a = {};
  a.location.type = hipMemLocationTypeDevice;
  a.flags = hipMemAccessFlagsProtReadWrite;
  CHECK(hipMemSetAccess(va, bytes, &a, 1));
}
int main() {
  hipMemAllocationProp pr = props();
  size_t step = 0;
  long bad = 0;
  int supported = 0;
  CHECK(hipDeviceGetAttribute(&supported, hipDeviceAttributeVirtualMemoryManagementSupported, 0));
  bad += supported != 1;
  CHECK(hipMemGetAllocationGranularity(&step, &pr, hipMemAllocationGranularityMinimum));
  const size_t part = (256 * 1024 + step - 1) / step * step;
  const int n = (int)(part / 4);
  for (int round = 0; round < 3; round++) {
    // A range of four parts, filled one after the other, as a growing vector does it.
    char *va;
    hipMemGenericAllocationHandle_t h[4];
    CHECK(hipMemAddressReserve((void **)&va, 4 * part, 0, nullptr, 0));
    for (int k = 0; k < 4; k++) {
      CHECK(hipMemCreate(&h[k], part, &pr, 0));
      CHECK(hipMemMap(va + k * part, part, 0, h[k], 0));
      grant(va + k * part, part);
      fill<<<(n + 255) / 256, 256>>>((int *)(va + k * part), n, k * n);
    }
    std::vector<int> got(4 * (size_t)n);
    for (int k = 0; k < 4; k++) CHECK(hipMemcpy(got.data() + k * (size_t)n, va + k * part, part, hipMemcpyDeviceToHost));
    for (size_t i = 0; i < got.size(); i++) bad += got[i] != (int)i;
    // A part moves to another address with its content.
    CHECK(hipMemUnmap(va + part, part));
    char *other;
    CHECK(hipMemAddressReserve((void **)&other, part, 0, nullptr, 0));
    CHECK(hipMemMap(other, part, 0, h[1], 0));
    grant(other, part);
    std::vector<int> moved(n);
    CHECK(hipMemcpy(moved.data(), other, part, hipMemcpyDeviceToHost));
    for (int i = 0; i < n; i++) bad += moved[i] != n + i;
    unsigned long long flags = 0;
    hipMemLocation where = {};
    where.type = hipMemLocationTypeDevice;
    CHECK(hipMemGetAccess(&flags, &where, other));
    bad += flags != hipMemAccessFlagsProtReadWrite;
    // A handle outlives its release while it is mapped.
    CHECK(hipMemRelease(h[1]));
    fill<<<(n + 255) / 256, 256>>>((int *)other, n, 5);
    CHECK(hipMemcpy(moved.data(), other, part, hipMemcpyDeviceToHost));
    for (int i = 0; i < n; i++) bad += moved[i] != 5 + i;
    CHECK(hipMemUnmap(other, part));
    CHECK(hipMemAddressFree(other, part));
    for (int k = 0; k < 4; k++) {
      if (k == 1) continue;
      CHECK(hipMemUnmap(va + k * part, part));
      CHECK(hipMemRelease(h[k]));
    }
    CHECK(hipMemAddressFree(va, 4 * part));
  }
  // A file descriptor carries memory to another handle.
  pr.requestedHandleType = hipMemHandleTypePosixFileDescriptor;
  hipMemGenericAllocationHandle_t h, imported;
  int fd = -1;
  char *a, *b;
  CHECK(hipMemCreate(&h, part, &pr, 0));
  CHECK(hipMemExportToShareableHandle(&fd, h, hipMemHandleTypePosixFileDescriptor, 0));
  CHECK(hipMemImportFromShareableHandle(&imported, (void *)(uintptr_t)fd, hipMemHandleTypePosixFileDescriptor));
  CHECK(hipMemAddressReserve((void **)&a, part, 0, nullptr, 0));
  CHECK(hipMemAddressReserve((void **)&b, part, 0, nullptr, 0));
  CHECK(hipMemMap(a, part, 0, h, 0));
  CHECK(hipMemMap(b, part, 0, imported, 0));
  grant(a, part);
  grant(b, part);
  fill<<<(n + 255) / 256, 256>>>((int *)a, n, 9);
  std::vector<int> got(n);
  CHECK(hipMemcpy(got.data(), b, part, hipMemcpyDeviceToHost));
  for (int i = 0; i < n; i++) bad += got[i] != 9 + i;
  CHECK(hipMemUnmap(a, part));
  CHECK(hipMemUnmap(b, part));
  CHECK(hipMemRelease(imported));
  CHECK(hipMemRelease(h));
  CHECK(hipMemAddressFree(a, part));
  CHECK(hipMemAddressFree(b, part));
  return finish("vmm", bad);
}
