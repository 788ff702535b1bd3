// Wrong kernels, one failure each.
#include <hip/hip_runtime.h>

extern "C" __global__ void null_write(int *p) { p[threadIdx.x] = 1; }

// The last work-item of the grid is one too many.
__global__ void one_past(int *p, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i <= n) p[i] = i;
}

template <class T> __device__ T load(const T *p) { return p[threadIdx.x]; }
// Reads through an inlined function.
template <class T> __global__ void sum(const T *p, T *out) { *out = load(p) + load(p + 1); }

// Reads until the memory is gone; says that it runs.
__global__ void read_for_ever(volatile int *p, int *running) {
  for (;;) {
    int x = p[threadIdx.x];
    __hip_atomic_store(running, 1 + x, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_SYSTEM);
  }
}

__global__ void fill(int *p) { p[blockIdx.x * blockDim.x + threadIdx.x] = 7; }

// The compiler must not see where the pointer points: a generic access past the group's LDS.
__global__ void lds_generic(int *out, int n) {
  __shared__ int a[128];
  int *p = a;
  a[threadIdx.x] = n;
  asm volatile("" : "+v"(p));
  *out = p[n + threadIdx.x];
}

// The same as an LDS instruction, which reads zeros there.
__global__ void lds_direct(int *out, int n) {
  __shared__ int a[128];
  a[threadIdx.x] = n;
  __syncthreads();
  out[threadIdx.x] = a[n + threadIdx.x];
}

__global__ void misaligned(int *p) { atomicAdd((int *)((char *)p + 2), 1); }

__global__ void jump(int *p) {
  void (*f)() = (void (*)())p;
  asm volatile("" : "+s"(f));
  f();
}

__global__ void illegal() { asm volatile(".long 0xffffffff"); }

__global__ void stop(int n) {
  if (threadIdx.x == n) abort();
}

__global__ void spin(volatile int *p) {
  while (*p == 0) {
  }
}

// One wave waits for the others at a barrier, the others for it.
__global__ void deadlock(volatile int *p) {
  if (threadIdx.x >= 64) {
    __syncthreads();
    *p = 1;
  } else {
    while (*p == 0) {
    }
    __syncthreads();
  }
}
