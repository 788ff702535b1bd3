// Queues and allocations made and destroyed by the thousand leave nothing behind: fds, mappings and memory are flat.
// Arguments: rounds of 100 streams and 100 queues, rounds of 1,000 allocations (10 and 100 if left out).
#include "check.h"
#include <cstring>
#include <dirent.h>
__global__ void one(unsigned *p) { atomicAdd(p, 1u); }
struct Use {
  long fds, maps, kib;
};
static Use use() {
  Use u = {0, 0, 0};
  DIR *d = opendir("/proc/self/fd");
  while (d && readdir(d)) u.fds++;
  if (d) closedir(d);
  char line[512];
  FILE *f = std::fopen("/proc/self/maps", "r");
  while (f && std::fgets(line, sizeof line, f)) u.maps += std::strchr(line, '\n') != nullptr;
  if (f) std::fclose(f);
  f = std::fopen("/proc/self/status", "r");
  while (f && std::fgets(line, sizeof line, f))
    if (!std::strncmp(line, "VmRSS:", 6)) u.kib = std::atol(line + 6);
  if (f) std::fclose(f);
  return u;
}
static void queues(unsigned *d, unsigned count) {
  std::vector<hipStream_t> s(count);
  for (auto &x : s) {
    CHECK(hipStreamCreateWithFlags(&x, hipStreamNonBlocking));
    one<<<1, 64, 0, x>>>(d);
  }
  for (auto x : s) CHECK(hipStreamSynchronize(x));
  for (auto x : s) CHECK(hipStreamDestroy(x));
}
// Distinct hardware queues: a CU mask gives a stream a queue of its own.
static void own_queues(unsigned *d, unsigned count) {
  uint32_t mask[4] = {~0u, ~0u, ~0u, 0xff};
  for (unsigned i = 0; i < count; i++) {
    hipStream_t s;
    CHECK(hipExtStreamCreateWithCUMask(&s, 4, mask));
    one<<<1, 64, 0, s>>>(d);
    CHECK(hipStreamSynchronize(s));
    CHECK(hipStreamDestroy(s));
  }
}
static void allocations(unsigned count) {
  uint32_t seed = 3;
  std::vector<void *> live(50, nullptr);
  for (unsigned i = 0; i < count; i++) {
    void *&p = live[i % live.size()];
    if (p) CHECK(hipFree(p));
    // One in eight is an object of the driver's own.
    size_t bytes = i % 8 ? 16 + next_random(seed) % 100000 : (2 << 20) + next_random(seed) % 4000000;
    CHECK(hipMalloc(&p, bytes));
  }
  for (void *p : live) CHECK(hipFree(p));
}
int main(int argc, char **argv) {
  unsigned rounds = argc > 1 ? std::atoi(argv[1]) : 10, thousands = argc > 2 ? std::atoi(argv[2]) : 100;
  long bad = 0;
  unsigned *d = upload(std::vector<unsigned>(1, 0)), done = 0;
  // What is made once and kept comes into being here.
  queues(d, 100);
  own_queues(d, 10);
  allocations(1000);
  Use before = use();
  for (unsigned r = 0; r < rounds; r++) {
    queues(d, 100);
    own_queues(d, 100);
    done += 200;
  }
  for (unsigned r = 0; r < thousands; r++) allocations(1000);
  Use after = use();
  bad += download(d, 1)[0] != 64 * (110 + done);
  bad += after.fds > before.fds + 2 || after.maps > before.maps + 30 || after.kib > before.kib + 30 * 1024;
  std::printf("fds %ld %ld, maps %ld %ld, KiB %ld %ld\n", before.fds, after.fds, before.maps, after.maps, before.kib,
              after.kib);
  CHECK(hipFree(d));
  return finish("churn", bad);
}
