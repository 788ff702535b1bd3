// For `cargo xtask bench`: an empty kernel launched and waited for, in turn with a futex round trip between two
// threads; then what eight open queues cost while nothing runs. Prints medians.
#include "check.h"
#include <algorithm>
#include <atomic>
#include <ctime>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <thread>
#include <unistd.h>
__global__ void empty() {}
static std::atomic<int> there{0}, back{0};
static void wait_past(std::atomic<int> &word, int value) {
  while (word == value) syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, value, nullptr, nullptr, 0);
}
static void step(std::atomic<int> &word) {
  word++;
  syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
}
static double seconds(clockid_t clock) {
  timespec t;
  clock_gettime(clock, &t);
  return t.tv_sec + t.tv_nsec * 1e-9;
}
static double median(std::vector<double> v) {
  std::sort(v.begin(), v.end());
  return v[v.size() / 2] * 1e6;
}
int main() {
  const int pairs = 2000;
  hipStream_t s[8];
  for (hipStream_t &x : s) {
    CHECK(hipStreamCreate(&x));
    empty<<<1, 64, 0, x>>>();
  }
  empty<<<1, 64>>>();
  CHECK(hipDeviceSynchronize());
  std::vector<double> trips, launches;
  std::thread other([&] {
    for (int i = 0; i < pairs; i++) {
      wait_past(there, i);
      step(back);
    }
  });
  for (int i = 0; i < pairs; i++) {
    double begin = seconds(CLOCK_MONOTONIC);
    step(there);
    wait_past(back, i);
    trips.push_back(seconds(CLOCK_MONOTONIC) - begin);
    begin = seconds(CLOCK_MONOTONIC);
    empty<<<1, 64>>>();
    CHECK(hipDeviceSynchronize());
    launches.push_back(seconds(CLOCK_MONOTONIC) - begin);
  }
  other.join();
  usleep(100000);
  double wall = seconds(CLOCK_MONOTONIC), cpu = seconds(CLOCK_PROCESS_CPUTIME_ID);
  sleep(4);
  cpu = (seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu) / (seconds(CLOCK_MONOTONIC) - wall);
  std::printf("futex round trip %.2f us, launch and wait %.2f us, idle %.3f percent\n", median(trips), median(launches),
              cpu * 100);
  return finish("launch", 0);
}
