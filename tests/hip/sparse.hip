// 64 GB of device memory, of which little is touched: the host pays for what is touched alone.
#include "check.h"
#include <cstring>
__global__ void touch(char *p, size_t stride, unsigned n, unsigned a) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) *(unsigned *)(p + i * stride) = a + i;
}
static long kib(const char *what) {
  char line[256];
  long n = -1;
  FILE *f = std::fopen("/proc/self/status", "r");
  while (f && std::fgets(line, sizeof line, f))
    if (!std::strncmp(line, what, std::strlen(what))) n = std::atol(line + std::strlen(what));
  if (f) std::fclose(f);
  return n;
}
int main() {
  const size_t part = 16000000000;
  const unsigned n = 512;
  long bad = 0;
  CHECK(hipFree(nullptr));
  long before = kib("VmRSS:") + kib("RssShmem:");
  char *p[4];
  for (char *&x : p) CHECK(hipMalloc((void **)&x, part));
  size_t free_bytes, total;
  CHECK(hipMemGetInfo(&free_bytes, &total));
  bad += total - free_bytes < 4 * part;
  for (unsigned k = 0; k < 4; k++) touch<<<n / 64, 64>>>(p[k], part / n / 4096 * 4096, n, k * 1000);
  CHECK(hipDeviceSynchronize());
  for (unsigned k = 0; k < 4; k++)
    for (unsigned i = 0; i < n; i += 37) {
      unsigned x;
      CHECK(hipMemcpy(&x, p[k] + i * (part / n / 4096 * 4096), 4, hipMemcpyDeviceToHost));
      bad += x != k * 1000 + i;
    }
  // Untouched memory reads as zero, up to its last byte.
  char last = 1;
  CHECK(hipMemcpy(&last, p[3] + part - 1, 1, hipMemcpyDeviceToHost));
  bad += last != 0;
  long grown = kib("VmRSS:") + kib("RssShmem:") - before;
  if (grown > 200 * 1024) {
    std::printf("resident memory grew by %ld KiB\n", grown);
    bad++;
  }
  for (char *x : p) CHECK(hipFree(x));
  size_t again;
  CHECK(hipMemGetInfo(&again, &total));
  // But for what the runtime has taken for itself meanwhile.
  bad += again < free_bytes + 4 * part - (1u << 30);
  return finish("sparse", bad);
}
