// A wrong HIP program for each failure, named by its argument.
#include "kernels.hip"
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <hsa/hsa_ext_amd.h>

#define CHECK(call)                                                                                   \
  do {                                                                                                \
    hipError_t e_ = (call);                                                                           \
    if (e_ != hipSuccess) {                                                                           \
      std::printf("program: %s: %s\n", #call, hipGetErrorString(e_));                       \
      std::exit(1);                                                                                   \
    }                                                                                                 \
  } while (0)

static int *allocate(size_t bytes) {
  int *p;
  CHECK(hipMalloc(&p, bytes));
  CHECK(hipMemset(p, 0, bytes));
  return p;
}

// libdrm maps everything writable, whatever ROCr asks for; this one obeys.
extern "C" int amdgpu_bo_va_op_raw(void *, void *, uint64_t, uint64_t, uint64_t, uint64_t, uint32_t);
extern "C" int amdgpu_bo_va_op(void *bo, uint64_t offset, uint64_t size, uint64_t va, uint64_t flags, uint32_t op) {
  void *device = ((void **)bo)[1];
  return amdgpu_bo_va_op_raw(device, bo, offset, size, va, flags, op);
}

// Memory that the GPU may only read.
static int *read_only() {
  hipMemAllocationProp prop = {};
  prop.type = hipMemAllocationTypePinned;
  prop.location.type = hipMemLocationTypeDevice;
  size_t size;
  CHECK(hipMemGetAllocationGranularity(&size, &prop, hipMemAllocationGranularityMinimum));
  hipMemGenericAllocationHandle_t handle;
  void *p;
  CHECK(hipMemCreate(&handle, size, &prop, 0));
  CHECK(hipMemAddressReserve(&p, size, 0, nullptr, 0));
  CHECK(hipMemMap(p, size, 0, handle, 0));
  hipMemAccessDesc access = {};
  access.location = prop.location;
  access.flags = hipMemAccessFlagsProtRead;
  CHECK(hipMemSetAccess(p, size, &access, 1));
  return (int *)p;
}

int main(int argc, char **argv) {
  std::string what = argc > 1 ? argv[1] : "";
  if (what == "null") {
    null_write<<<1, 64>>>(nullptr);
  } else if (what == "past") {
    one_past<<<9, 128>>>(allocate(4096), 1024);
  } else if (what == "before") {
    fill<<<1, 64>>>(allocate(4096) - 64);
  } else if (what == "freed") {
    int *p = allocate(8192), *q = allocate(4096);
    CHECK(hipFree(p));
    sum<int><<<2, 64>>>(p + 1024, q);
  } else if (what == "running") {
    int *p = allocate(16384), *flag;
    CHECK(hipHostMalloc(&flag, 4096, 0));
    *flag = 0;
    read_for_ever<<<1, 64>>>(p, flag);
    while (!*(volatile int *)flag) std::this_thread::yield();
    // hipFree would wait for the kernel.
    if (hsa_amd_memory_pool_free(p) != HSA_STATUS_SUCCESS) std::printf("program: not freed\n");
  } else if (what == "readonly") {
    fill<<<1, 64>>>(read_only());
  } else if (what == "ldsgeneric") {
    lds_generic<<<1, 128>>>(allocate(4096), 100000);
  } else if (what == "ldsdirect") {
    lds_direct<<<1, 128>>>(allocate(4096), 100000);
  } else if (what == "misaligned") {
    misaligned<<<1, 64>>>(allocate(4096));
  } else if (what == "jump") {
    jump<<<1, 64>>>(allocate(4096));
  } else if (what == "illegal") {
    illegal<<<1, 64>>>();
  } else if (what == "abort") {
    stop<<<2, 128>>>(70);
  } else if (what == "spin") {
    spin<<<2, 128>>>(allocate(4096));
  } else if (what == "deadlock") {
    deadlock<<<1, 256>>>(allocate(4096));
  } else {
    return 2;
  }
  CHECK(hipDeviceSynchronize());
  std::printf("program: went on\n");
  return 0;
}
