// Writes through a null pointer: the runtime must report a memory access fault and abort.
#include "check.h"
__global__ void bad(int *p) { p[threadIdx.x] = 1; }
int main() {
  bad<<<1, 64>>>(nullptr);
  CHECK(hipDeviceSynchronize());
  std::printf("went on\n");
  return 0;
}
