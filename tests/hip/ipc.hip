// hipIpc: a second process opens this one's device memory by its handle, reads and writes it, and closes it; an
// inter-process event orders them.
#include "check.h"
#include <string>
#include <sys/wait.h>
#include <unistd.h>
__global__ void fill(int *p, int n, int a) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) p[i] = a + i;
}
static long differs(const std::vector<int> &v, int a) {
  long bad = 0;
  for (size_t i = 0; i < v.size(); i++) bad += v[i] != a + (int)i;
  return bad;
}
static const int n = 1 << 16;
static int child(int from, int to) {
  hipIpcMemHandle_t h[2];
  hipIpcEventHandle_t eh;
  if (read(from, h, sizeof h) != sizeof h || read(from, &eh, sizeof eh) != sizeof eh) return 2;
  int *p, *q;
  CHECK(hipIpcOpenMemHandle((void **)&p, h[0], hipIpcMemLazyEnablePeerAccess));
  CHECK(hipIpcOpenMemHandle((void **)&q, h[1], hipIpcMemLazyEnablePeerAccess));
  hipEvent_t e;
  CHECK(hipIpcOpenEventHandle(&e, eh));
  CHECK(hipStreamWaitEvent(0, e, 0));
  long bad = differs(download(p, n), 7) + differs(download(q, n / 4), 70);
  fill<<<n / 256, 256>>>(p, n, 100);
  fill<<<n / 1024, 256>>>(q, n / 4, 200);
  CHECK(hipDeviceSynchronize());
  CHECK(hipIpcCloseMemHandle(p));
  CHECK(hipIpcCloseMemHandle(q));
  CHECK(hipEventDestroy(e));
  if (bad) std::printf("child: %ld values are wrong\n", bad);
  char done = bad ? 1 : 0;
  return write(to, &done, 1) != 1 || bad;
}
int main(int argc, char **argv) {
  if (argc > 2) return child(std::atoi(argv[1]), std::atoi(argv[2]));
  int down[2], up[2];
  if (pipe(down) || pipe(up)) return 2;
  // Before any HIP call: the child is a process of its own from the start.
  pid_t pid = fork();
  if (!pid) {
    std::string a = std::to_string(down[0]), b = std::to_string(up[1]);
    execl("/proc/self/exe", argv[0], a.c_str(), b.c_str(), (char *)nullptr);
    _exit(9);
  }
  // Two objects of one driver allocation: handles carry offsets.
  int *p, *q;
  CHECK(hipMalloc(&p, n * 4));
  CHECK(hipMalloc(&q, n));
  hipIpcMemHandle_t h[2];
  hipIpcEventHandle_t eh;
  hipEvent_t e;
  CHECK(hipIpcGetMemHandle(&h[0], p));
  CHECK(hipIpcGetMemHandle(&h[1], q));
  CHECK(hipEventCreateWithFlags(&e, hipEventDisableTiming | hipEventInterprocess));
  CHECK(hipIpcGetEventHandle(&eh, e));
  fill<<<n / 256, 256>>>(p, n, 7);
  fill<<<n / 1024, 256>>>(q, n / 4, 70);
  CHECK(hipEventRecord(e, 0));
  if (write(down[1], h, sizeof h) != sizeof h || write(down[1], &eh, sizeof eh) != sizeof eh) return 2;
  char wrong = 1;
  int status;
  close(up[1]);
  bool told = read(up[0], &wrong, 1) == 1;
  if (waitpid(pid, &status, 0) != pid || status || !told || wrong) {
    std::printf("the child ended with status %x\n", status);
    return 1;
  }
  long bad = differs(download(p, n), 100) + differs(download(q, n / 4), 200);
  CHECK(hipEventDestroy(e));
  CHECK(hipFree(p));
  CHECK(hipFree(q));
  return finish("ipc", bad);
}
