// Cooperative launch: every group of the grid waits for every other, with more groups than the host has threads.
#include "check.h"
#include <hip/hip_cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void rotate(unsigned *a, unsigned *b, unsigned n, int rounds) {
  cg::grid_group grid = cg::this_grid();
  unsigned i = (unsigned)grid.thread_rank();
  for (int r = 0; r < rounds; r++) {
    unsigned *from = r % 2 ? b : a, *to = r % 2 ? a : b;
    if (i < n) to[i] = from[(i + 257) % n] + 1;
    grid.sync();
  }
}
int main() {
  const unsigned group = 128, groups = 96, n = group * groups;
  long bad = 0;
  int supported = 0, per_cu = 0, cus = 0;
  CHECK(hipDeviceGetAttribute(&supported, hipDeviceAttributeCooperativeLaunch, 0));
  CHECK(hipDeviceGetAttribute(&cus, hipDeviceAttributeMultiprocessorCount, 0));
  CHECK(hipOccupancyMaxActiveBlocksPerMultiprocessor(&per_cu, rotate, group, 0));
  bad += supported != 1 || per_cu < 1 || (unsigned)(per_cu * cus) < groups;
  std::vector<unsigned> a(n);
  for (unsigned i = 0; i < n; i++) a[i] = i;
  unsigned *da = upload(a), *db = upload(a), count = n;
  for (int rounds = 3; rounds <= 4; rounds++) {
    void *args[] = {&da, &db, &count, &rounds};
    CHECK(hipMemcpy(da, a.data(), n * 4, hipMemcpyHostToDevice));
    CHECK(hipLaunchCooperativeKernel((void *)rotate, dim3(groups), dim3(group), args, 0, 0));
    CHECK(hipDeviceSynchronize());
    std::vector<unsigned> got = download(rounds % 2 ? db : da, n);
    for (unsigned i = 0; i < n; i++) bad += got[i] != (i + 257u * rounds) % n + rounds;
  }
  // More groups than the device holds at once is refused.
  int rounds = 1;
  void *args[] = {&da, &db, &count, &rounds};
  hipError_t e = hipLaunchCooperativeKernel((void *)rotate, dim3(per_cu * cus + 1), dim3(group), args, 0, 0);
  bad += e != hipErrorCooperativeLaunchTooLarge;
  (void)hipGetLastError();
  CHECK(hipFree(da));
  CHECK(hipFree(db));
  return finish("coop", bad);
}
