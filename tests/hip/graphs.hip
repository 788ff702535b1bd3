// Graphs: captured from streams (with a fork and a join) and built by hand, launched again and again, changed in
// between.
#include "check.h"
__global__ void step(unsigned *v, unsigned n, unsigned mul, unsigned add) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) v[i] = v[i] * mul + add;
}
__global__ void sum(unsigned *to, const unsigned *a, const unsigned *b, unsigned n) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) to[i] = a[i] + b[i];
}
static void count(void *p) { ++*(unsigned *)p; }
static long differs(const std::vector<unsigned> &got, const std::vector<unsigned> &want) {
  long bad = 0;
  for (size_t i = 0; i < got.size(); i++) bad += got[i] != want[i];
  return bad;
}
int main() {
  const unsigned n = 8192, bytes = n * 4;
  long bad = 0;
  std::vector<unsigned> a(n), b(n), want(n);
  for (unsigned i = 0; i < n; i++) a[i] = i, b[i] = 3 * i + 1;
  unsigned *da = upload(a), *db = upload(b), *dc = upload(a), calls = 0;
  hipStream_t s, t;
  hipEvent_t fork, join;
  CHECK(hipStreamCreate(&s));
  CHECK(hipStreamCreate(&t));
  CHECK(hipEventCreateWithFlags(&fork, hipEventDisableTiming));
  CHECK(hipEventCreateWithFlags(&join, hipEventDisableTiming));
  // Captured: two branches, a join, a host function.
  hipGraph_t graph;
  hipGraphExec_t exec;
  CHECK(hipStreamBeginCapture(s, hipStreamCaptureModeGlobal));
  CHECK(hipEventRecord(fork, s));
  CHECK(hipStreamWaitEvent(t, fork, 0));
  step<<<n / 256, 256, 0, s>>>(da, n, 3, 1);
  step<<<n / 256, 256, 0, s>>>(da, n, 1, 5);
  step<<<n / 256, 256, 0, t>>>(db, n, 5, 2);
  CHECK(hipEventRecord(join, t));
  CHECK(hipStreamWaitEvent(s, join, 0));
  sum<<<n / 256, 256, 0, s>>>(dc, da, db, n);
  CHECK(hipLaunchHostFunc(s, count, &calls));
  CHECK(hipStreamEndCapture(s, &graph));
  size_t nodes = 0;
  CHECK(hipGraphGetNodes(graph, nullptr, &nodes));
  bad += nodes != 5;
  CHECK(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
  for (int r = 0; r < 10; r++) {
    CHECK(hipGraphLaunch(exec, s));
    for (unsigned i = 0; i < n; i++) {
      a[i] = a[i] * 3 + 6;
      b[i] = b[i] * 5 + 2;
      want[i] = a[i] + b[i];
    }
  }
  CHECK(hipStreamSynchronize(s));
  bad += differs(download(dc, n), want) + (calls != 10);
  CHECK(hipGraphExecDestroy(exec));
  CHECK(hipGraphDestroy(graph));
  // By hand: fill, copy in, kernel, copy out.
  std::vector<unsigned> out(n);
  CHECK(hipGraphCreate(&graph, 0));
  hipGraphNode_t in, fill, kernel, back;
  hipMemsetParams ms = {};
  ms.dst = db;
  ms.value = 0x01010101;
  ms.elementSize = 4;
  ms.width = n;
  ms.height = 1;
  CHECK(hipGraphAddMemsetNode(&fill, graph, nullptr, 0, &ms));
  CHECK(hipGraphAddMemcpyNode1D(&in, graph, nullptr, 0, da, a.data(), bytes, hipMemcpyHostToDevice));
  unsigned count_n = n;
  void *args[] = {&dc, &da, &db, &count_n};
  hipKernelNodeParams kp = {};
  kp.func = (void *)sum;
  kp.gridDim = dim3(n / 256);
  kp.blockDim = dim3(256);
  kp.kernelParams = args;
  hipGraphNode_t before[] = {in, fill};
  CHECK(hipGraphAddKernelNode(&kernel, graph, before, 2, &kp));
  CHECK(hipGraphAddMemcpyNode1D(&back, graph, &kernel, 1, out.data(), dc, bytes, hipMemcpyDeviceToHost));
  CHECK(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
  for (unsigned r = 0; r < 5; r++) {
    for (unsigned i = 0; i < n; i++) a[i] = i * r + 9;
    CHECK(hipGraphLaunch(exec, s));
    CHECK(hipStreamSynchronize(s));
    for (unsigned i = 0; i < n; i++) bad += out[i] != a[i] + 0x01010101;
  }
  // Other arguments in the made graph.
  void *changed[] = {&dc, &db, &db, &count_n};
  kp.kernelParams = changed;
  CHECK(hipGraphExecKernelNodeSetParams(exec, kernel, &kp));
  CHECK(hipGraphLaunch(exec, s));
  CHECK(hipStreamSynchronize(s));
  for (unsigned x : out) bad += x != 0x02020202;
  CHECK(hipGraphExecDestroy(exec));
  CHECK(hipGraphDestroy(graph));
  CHECK(hipFree(da));
  CHECK(hipFree(db));
  CHECK(hipFree(dc));
  CHECK(hipStreamDestroy(s));
  CHECK(hipStreamDestroy(t));
  return finish("graphs", bad);
}
