// Tree reduction in LDS, one atomic a block.
#include "check.h"
__global__ void reduce(const unsigned *a, unsigned long long *out, unsigned n) {
  __shared__ unsigned s[256];
  unsigned l = threadIdx.x, i = blockIdx.x * 256 + l;
  s[l] = i < n ? a[i] : 0;
  __syncthreads();
  for (unsigned d = 128; d > 0; d >>= 1) {
    if (l < d) s[l] += s[l + d];
    __syncthreads();
  }
  if (l == 0) atomicAdd(out, (unsigned long long)s[0]);
}
int main() {
  unsigned n = 300001;
  std::vector<unsigned> a(n);
  unsigned long long want = 0, zero = 0;
  uint32_t s = 3;
  for (auto &x : a) want += x = next_random(s) & 0xffff;
  unsigned *da = upload(a);
  unsigned long long *out;
  CHECK(hipMalloc(&out, 8));
  CHECK(hipMemcpy(out, &zero, 8, hipMemcpyHostToDevice));
  reduce<<<(n + 255) / 256, 256>>>(da, out, n);
  CHECK(hipDeviceSynchronize());
  return finish("reduce", download(out, 1)[0] != want);
}
