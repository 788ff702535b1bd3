// Wrong kernels for launch.c, one failure each.
#include <hip/hip_runtime.h>
extern "C" __global__ void null_write(int *p) { p[threadIdx.x] = 1; }
