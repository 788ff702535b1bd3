// A managed variable has one address on the host and on the device, and its initial value on both.
#include "check.h"
__managed__ int value[64] = {1, 2, 3};
__managed__ int *link = nullptr;
__global__ void bump() {
  atomicAdd_system(&value[threadIdx.x], 5);
  if (threadIdx.x == 0) link = value + 7;
}
int main() {
  long bad = value[0] != 1 || value[2] != 3 || value[3] != 0;
  value[1] = 20;
  bump<<<1, 64>>>();
  CHECK(hipDeviceSynchronize());
  bad += value[0] != 6 || value[1] != 25 || value[2] != 8 || value[63] != 5 || link != value + 7;
  value[1] = 100;
  bump<<<1, 64>>>();
  CHECK(hipDeviceSynchronize());
  bad += value[0] != 11 || value[1] != 105;
  return finish("managed_variable", bad);
}
