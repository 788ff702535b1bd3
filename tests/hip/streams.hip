// Four streams with events between them: each step must see what the one before it wrote.
#include "check.h"
__global__ void step(unsigned *v, unsigned n, unsigned mul, unsigned add) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) v[i] = v[i] * mul + add;
}
int main() {
  unsigned n = 5000;
  std::vector<unsigned> a(n);
  for (unsigned i = 0; i < n; i++) a[i] = i;
  unsigned *d = upload(a);
  hipStream_t s[4];
  hipEvent_t e[4], begin, end;
  for (int i = 0; i < 4; i++) {
    CHECK(hipStreamCreate(&s[i]));
    CHECK(hipEventCreateWithFlags(&e[i], hipEventDisableTiming));
  }
  CHECK(hipEventCreate(&begin));
  CHECK(hipEventCreate(&end));
  CHECK(hipEventRecord(begin, s[0]));
  for (int k = 0; k < 20; k++) {
    int i = k % 4;
    if (k) CHECK(hipStreamWaitEvent(s[i], e[(k + 3) % 4], 0));
    step<<<(n + 63) / 64, 64, 0, s[i]>>>(d, n, 3, k + 1);
    CHECK(hipEventRecord(e[i], s[i]));
  }
  CHECK(hipEventRecord(end, s[3]));
  CHECK(hipEventSynchronize(end));
  float ms = -1;
  CHECK(hipEventElapsedTime(&ms, begin, end));
  CHECK(hipDeviceSynchronize());
  std::vector<unsigned> got = download(d, n);
  long bad = !(ms >= 0);
  for (unsigned i = 0; i < n; i++) {
    unsigned x = i;
    for (int k = 0; k < 20; k++) x = x * 3 + k + 1;
    bad += got[i] != x;
  }
  return finish("streams", bad);
}
