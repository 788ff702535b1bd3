// Vector add, checked against the host; prints "vadd ok".
#include <hip/hip_runtime.h>

#include <cstdio>
#include <vector>

#define CHECK(call)                                                       \
    do {                                                                  \
        hipError_t error = (call);                                        \
        if (error != hipSuccess) {                                        \
            std::printf("%s: %s\n", #call, hipGetErrorString(error));     \
            return 1;                                                     \
        }                                                                 \
    } while (0)

__global__ void vadd(const float *a, const float *b, float *c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
}

int main() {
    const int n = 100003;
    const size_t bytes = n * sizeof(float);
    std::vector<float> a(n), b(n), c(n);
    for (int i = 0; i < n; i++) {
        a[i] = float(i);
        b[i] = 0.5f * float(i);
    }
    float *x, *y, *z;
    CHECK(hipMalloc(&x, bytes));
    CHECK(hipMalloc(&y, bytes));
    CHECK(hipMalloc(&z, bytes));
    CHECK(hipMemcpy(x, a.data(), bytes, hipMemcpyHostToDevice));
    CHECK(hipMemcpy(y, b.data(), bytes, hipMemcpyHostToDevice));
    vadd<<<(n + 255) / 256, 256>>>(x, y, z, n);
    CHECK(hipGetLastError());
    CHECK(hipMemcpy(c.data(), z, bytes, hipMemcpyDeviceToHost));
    for (int i = 0; i < n; i++) {
        if (c[i] != a[i] + b[i]) {
            std::printf("element %d is %g, not %g\n", i, c[i], a[i] + b[i]);
            return 1;
        }
    }
    CHECK(hipFree(x));
    CHECK(hipFree(y));
    CHECK(hipFree(z));
    std::puts("vadd ok");
    return 0;
}
