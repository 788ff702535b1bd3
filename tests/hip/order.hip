// Order within streams: callbacks and host functions run in their place, priorities and null-stream rules hold, and
// eight host threads with streams of their own do not disturb one another.
#include "check.h"
#include <atomic>
#include <thread>
__global__ void times(unsigned *v, unsigned n, unsigned mul, unsigned add) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) v[i] = v[i] * mul + add;
}
struct Seen {
  unsigned *pinned;
  std::atomic<unsigned> calls;
  unsigned first, second;
};
static void host_function(void *data) {
  Seen *s = (Seen *)data;
  s->first = s->pinned[5];
  s->pinned[5] = 1000;
  s->calls++;
}
static void callback(hipStream_t, hipError_t status, void *data) {
  Seen *s = (Seen *)data;
  s->second = status == hipSuccess ? s->pinned[5] : 0;
  s->calls++;
}
static long one_thread(unsigned k) {
  const unsigned n = 3000;
  std::vector<unsigned> a(n), got(n);
  for (unsigned i = 0; i < n; i++) a[i] = i ^ k;
  hipStream_t s;
  CHECK(hipStreamCreate(&s));
  unsigned *d;
  CHECK(hipMalloc(&d, n * 4));
  long bad = 0;
  for (unsigned round = 0; round < 5; round++) {
    CHECK(hipMemcpyAsync(d, a.data(), n * 4, hipMemcpyHostToDevice, s));
    for (unsigned j = 0; j < 6; j++) times<<<(n + 127) / 128, 128, 0, s>>>(d, n, 3 + k, j);
    CHECK(hipMemcpyAsync(got.data(), d, n * 4, hipMemcpyDeviceToHost, s));
    CHECK(hipStreamSynchronize(s));
    for (unsigned i = 0; i < n; i++) {
      unsigned x = a[i];
      for (unsigned j = 0; j < 6; j++) x = x * (3 + k) + j;
      bad += got[i] != x;
    }
  }
  CHECK(hipFree(d));
  CHECK(hipStreamDestroy(s));
  return bad;
}
int main() {
  const unsigned n = 4096;
  long bad = 0;
  unsigned *pin;
  CHECK(hipHostMalloc(&pin, n * 4));
  hipStream_t s;
  CHECK(hipStreamCreate(&s));
  // A host function sees what came before it; what comes after sees what it wrote.
  for (unsigned round = 0; round < 10; round++) {
    for (unsigned i = 0; i < n; i++) pin[i] = i;
    Seen seen = {pin, {0}, 0, 0};
    times<<<n / 64, 64, 0, s>>>(pin, n, 2, 1);
    CHECK(hipLaunchHostFunc(s, host_function, &seen));
    times<<<n / 64, 64, 0, s>>>(pin, n, 3, 0);
    CHECK(hipStreamAddCallback(s, callback, &seen, 0));
    times<<<n / 64, 64, 0, s>>>(pin, n, 1, 7);
    CHECK(hipStreamSynchronize(s));
    bad += seen.calls != 2 || seen.first != 11 || seen.second != 3000 || pin[5] != 3007 || pin[6] != 46;
  }
  // Priorities: streams of each, all give right results.
  int least, greatest;
  CHECK(hipDeviceGetStreamPriorityRange(&least, &greatest));
  bad += least < greatest;
  std::vector<hipStream_t> streams;
  std::vector<unsigned *> data;
  for (int p = greatest; p <= least; p++) {
    hipStream_t t;
    int got;
    unsigned *d;
    CHECK(hipStreamCreateWithPriority(&t, hipStreamNonBlocking, p));
    CHECK(hipStreamGetPriority(t, &got));
    bad += got != p;
    CHECK(hipMalloc(&d, n * 4));
    CHECK(hipMemsetAsync(d, 0, n * 4, t));
    for (unsigned j = 0; j < 20; j++) times<<<n / 64, 64, 0, t>>>(d, n, 1, j);
    streams.push_back(t);
    data.push_back(d);
  }
  for (size_t k = 0; k < streams.size(); k++) {
    CHECK(hipStreamSynchronize(streams[k]));
    for (unsigned x : download(data[k], n)) bad += x != 190;
    CHECK(hipFree(data[k]));
    CHECK(hipStreamDestroy(streams[k]));
  }
  // The null stream waits for blocking streams, and they for it.
  unsigned *d;
  CHECK(hipMalloc(&d, n * 4));
  CHECK(hipMemset(d, 0, n * 4));
  for (unsigned j = 0; j < 5; j++) {
    times<<<n / 64, 64, 0, s>>>(d, n, 2, 1);
    times<<<n / 64, 64>>>(d, n, 3, 0);
  }
  unsigned want = 0;
  for (unsigned j = 0; j < 5; j++) want = (want * 2 + 1) * 3;
  CHECK(hipDeviceSynchronize());
  for (unsigned x : download(d, n)) bad += x != want;
  // An event is not complete before its stream is, and a query says so truthfully.
  hipEvent_t e;
  CHECK(hipEventCreate(&e));
  times<<<n / 64, 64, 0, s>>>(d, n, 1, 1);
  CHECK(hipEventRecord(e, s));
  hipError_t q;
  while ((q = hipEventQuery(e)) == hipErrorNotReady) std::this_thread::yield();
  CHECK(q);
  CHECK(hipStreamQuery(s));
  for (unsigned x : download(d, n)) bad += x != want + 1;
  std::atomic<long> wrong{0};
  std::vector<std::thread> threads;
  for (unsigned k = 0; k < 8; k++) threads.emplace_back([&wrong, k] { wrong += one_thread(k); });
  for (auto &t : threads) t.join();
  bad += wrong;
  CHECK(hipEventDestroy(e));
  CHECK(hipStreamDestroy(s));
  CHECK(hipFree(d));
  CHECK(hipHostFree(pin));
  return finish("order", bad);
}
