#include <hip/hip_runtime.h>
extern "C" __global__ void vadd(const float* a, const float* b, float* c, int n) { int i = blockIdx.x*blockDim.x+threadIdx.x; if (i<n) c[i]=a[i]+b[i]; }
extern "C" __global__ void saxpy(float a, const float* x, float* y, unsigned long n) { __shared__ float t[64]; t[threadIdx.x&63]=x[0]; __syncthreads(); size_t i = blockIdx.x*blockDim.x+threadIdx.x; if (i<n) y[i]+=a*x[i]+0*t[3]; }
__device__ int counter = 3;
__device__ int* where = &counter;
template<typename T> __global__ void bump(T* p) { p[0] += *where; }
template __global__ void bump<int>(int*);
int main(){ return 0; }
