// Open queues with nothing to do cost no CPU; the first kernel after a pause is not lost.
#include "check.h"
#include <ctime>
#include <unistd.h>
__global__ void count(unsigned *n) { atomicAdd(n, 1u); }
static double seconds(clockid_t clock) {
  timespec t;
  clock_gettime(clock, &t);
  return t.tv_sec + t.tv_nsec * 1e-9;
}
int main() {
  unsigned *n = upload(std::vector<unsigned>(1, 0));
  hipStream_t s[8];
  for (hipStream_t &x : s) {
    CHECK(hipStreamCreate(&x));
    count<<<1, 64, 0, x>>>(n);
  }
  CHECK(hipDeviceSynchronize());
  usleep(100000);
  double wall = seconds(CLOCK_MONOTONIC), cpu = seconds(CLOCK_PROCESS_CPUTIME_ID);
  usleep(2000000);
  cpu = (seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu) / (seconds(CLOCK_MONOTONIC) - wall);
  std::printf("idle: %.2f %% of a core\n", cpu * 100);
  long bad = cpu >= 0.01;
  for (unsigned k = 0; k < 80; k++) {
    if (k % 20 == 0) usleep(1000 * k);
    count<<<1, 64, 0, s[k % 8]>>>(n);
  }
  CHECK(hipDeviceSynchronize());
  bad += download(n, 1)[0] != 64 * 88;
  return finish("idle", bad);
}
