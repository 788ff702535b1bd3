// Managed memory: host and device touch the same addresses in turn, advice and prefetch change no value, and
// host and device atomics meet in one counter.
#include "check.h"
__global__ void step(int *p, int n, int a) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) p[i] = p[i] * 2 + a;
}
__global__ void count(unsigned *c) { atomicAdd_system(c, 1u); }
struct Node {
  int value;
  Node *next;
};
__global__ void walk(const Node *n, int *sum) {
  int s = 0;
  for (; n; n = n->next) s += n->value;
  *sum = s;
}
int main() {
  const int n = 100000;
  long bad = 0;
  int device, managed = 0, concurrent = 0;
  CHECK(hipGetDevice(&device));
  CHECK(hipDeviceGetAttribute(&managed, hipDeviceAttributeManagedMemory, device));
  CHECK(hipDeviceGetAttribute(&concurrent, hipDeviceAttributeConcurrentManagedAccess, device));
  bad += managed != 1 || concurrent != 1;
  int *p;
  CHECK(hipMallocManaged((void **)&p, n * 4));
  for (int i = 0; i < n; i++) p[i] = i;
  CHECK(hipMemAdvise(p, n * 4, hipMemAdviseSetPreferredLocation, device));
  int preferred = -100;
  CHECK(hipMemRangeGetAttribute(&preferred, sizeof preferred, hipMemRangeAttributePreferredLocation, p, n * 4));
  bad += preferred != device;
  CHECK(hipMemPrefetchAsync(p, n * 4, device, 0));
  for (int round = 0; round < 4; round++) {
    step<<<(n + 255) / 256, 256>>>(p, n, round);
    CHECK(hipDeviceSynchronize());
    for (int i = 0; i < n; i += 97) p[i] += 1;
    CHECK(hipMemPrefetchAsync(p, n * 4, round % 2 ? device : hipCpuDeviceId, 0));
  }
  CHECK(hipDeviceSynchronize());
  for (int i = 0; i < n; i++) {
    int x = i;
    for (int round = 0; round < 4; round++) x = x * 2 + round + (i % 97 == 0);
    bad += p[i] != x;
  }
  // Pointers inside managed memory mean the same to both.
  Node *nodes;
  int *sum;
  CHECK(hipMallocManaged((void **)&nodes, 100 * sizeof(Node)));
  CHECK(hipMallocManaged((void **)&sum, 4));
  for (int i = 0; i < 100; i++) nodes[i] = {i, i < 99 ? &nodes[i + 1] : nullptr};
  walk<<<1, 1>>>(nodes, sum);
  CHECK(hipDeviceSynchronize());
  bad += *sum != 4950;
  // Host threads' and device atomics on one word, at the same time.
  unsigned *c;
  CHECK(hipMallocManaged((void **)&c, 4));
  *c = 0;
  count<<<64, 64>>>(c);
  for (int i = 0; i < 10000; i++) __atomic_fetch_add(c, 1u, __ATOMIC_SEQ_CST);
  CHECK(hipDeviceSynchronize());
  bad += *c != 64 * 64 + 10000;
  // Given back and had again, many times.
  for (int round = 0; round < 50; round++) {
    int *q;
    CHECK(hipMallocManaged((void **)&q, (1 + round % 7) * 1000000));
    q[0] = round;
    step<<<1, 64>>>(q, 1, 1);
    CHECK(hipDeviceSynchronize());
    bad += q[0] != round * 2 + 1;
    CHECK(hipFree(q));
  }
  CHECK(hipFree(c));
  CHECK(hipFree(sum));
  CHECK(hipFree(nodes));
  CHECK(hipFree(p));
  return finish("managed", bad);
}
