// c = a + b over a length that no block size divides.
#include "check.h"
__global__ void vadd(const float *a, const float *b, float *c, unsigned n) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}
int main() {
  unsigned n = 1000003;
  std::vector<float> a(n), b(n);
  for (unsigned i = 0; i < n; i++) a[i] = i * 0.5f, b[i] = i * 0.25f;
  float *da = upload(a), *db = upload(b), *dc;
  CHECK(hipMalloc(&dc, n * 4));
  vadd<<<(n + 255) / 256, 256>>>(da, db, dc, n);
  CHECK(hipGetLastError());
  CHECK(hipDeviceSynchronize());
  std::vector<float> c = download(dc, n);
  long bad = 0;
  for (unsigned i = 0; i < n; i++) bad += c[i] != a[i] + b[i];
  return finish("vadd", bad);
}
