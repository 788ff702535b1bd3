// y = a x + y, fused.
#include "check.h"
__global__ void saxpy(float a, const float *x, float *y, unsigned n) {
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    y[i] = __builtin_fmaf(a, x[i], y[i]);
}
int main() {
  unsigned n = 200001;
  std::vector<float> x(n), y(n);
  uint32_t s = 1;
  for (unsigned i = 0; i < n; i++) x[i] = next_random(s) * 1e-3f, y[i] = next_random(s) * 1e-4f;
  float *dx = upload(x), *dy = upload(y);
  saxpy<<<64, 128>>>(2.5f, dx, dy, n);
  CHECK(hipDeviceSynchronize());
  std::vector<float> r = download(dy, n);
  long bad = 0;
  for (unsigned i = 0; i < n; i++) bad += r[i] != std::fmaf(2.5f, x[i], y[i]);
  return finish("saxpy", bad);
}
