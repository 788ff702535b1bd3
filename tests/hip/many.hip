// Four thousand live allocations, of many sizes, all of which a kernel reaches; none overlaps another.
#include "check.h"
__global__ void stamp(unsigned *const *all, const unsigned *words, unsigned count) {
  unsigned k = blockIdx.x * blockDim.x + threadIdx.x;
  if (k < count) {
    all[k][0] = k;
    all[k][words[k] - 1] += k;
  }
}
int main() {
  const unsigned count = 4000;
  long bad = 0;
  uint32_t seed = 5;
  std::vector<unsigned *> all(count);
  std::vector<unsigned> words(count);
  for (unsigned k = 0; k < count; k++) {
    // Mostly small, some of several megabytes (objects of the driver's own).
    words[k] = 2 + next_random(seed) % 5000;
    if (k % 40 == 0) words[k] = (3u << 20) / 4 + next_random(seed) % 4096;
    CHECK(hipMalloc(&all[k], words[k] * 4ull));
    CHECK(hipMemsetAsync(all[k] + words[k] - 1, 0, 4));
  }
  unsigned **d = upload(all);
  unsigned *w = upload(words);
  stamp<<<(count + 255) / 256, 256>>>(d, w, count);
  CHECK(hipDeviceSynchronize());
  for (unsigned k = 0; k < count; k += 7) {
    unsigned first, last;
    CHECK(hipMemcpy(&first, all[k], 4, hipMemcpyDeviceToHost));
    CHECK(hipMemcpy(&last, all[k] + words[k] - 1, 4, hipMemcpyDeviceToHost));
    bad += first != k || last != k;
  }
  for (unsigned k = 0; k < count; k++) CHECK(hipFree(all[(k * 1237ull) % count]));
  CHECK(hipFree(d));
  CHECK(hipFree(w));
  return finish("many", bad);
}
