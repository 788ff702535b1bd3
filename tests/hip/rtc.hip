// Code made at run time: hiprtc compiles for the GPU at hand, the module's kernels and globals are found by name,
// and errors in the source come back as text.
#include "check.h"
#include <cstring>
#include <hip/hiprtc.h>
#include <string>
#define RTC(call)                                                                       \
  do {                                                                                  \
    hiprtcResult r_ = (call);                                                           \
    if (r_ != HIPRTC_SUCCESS) {                                                         \
      std::printf("%s:%d: %s: %s\n", __FILE__, __LINE__, #call, hiprtcGetErrorString(r_)); \
      std::exit(1);                                                                     \
    }                                                                                   \
  } while (0)
static const char source[] = R"(
__constant__ float scale;
__device__ unsigned calls;
template <class T> __global__ void axpy(T *y, const T *x, T a, unsigned n) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] += a * x[i] * T(scale);
  if (i == 0) atomicAdd(&calls, 1u);
}
extern "C" __global__ void twice(int *p) { p[threadIdx.x] *= FACTOR; }
)";
int main() {
  long bad = 0;
  hipDeviceProp_t prop;
  CHECK(hipGetDeviceProperties(&prop, 0));
  std::string arch = std::string("--offload-arch=") + prop.gcnArchName;
  hiprtcProgram program;
  RTC(hiprtcCreateProgram(&program, source, "axpy.hip", 0, nullptr, nullptr));
  RTC(hiprtcAddNameExpression(program, "axpy<float>"));
  RTC(hiprtcAddNameExpression(program, "axpy<double>"));
  const char *options[] = {arch.c_str(), "-DFACTOR=2", "-O2"};
  hiprtcResult compiled = hiprtcCompileProgram(program, 3, options);
  if (compiled != HIPRTC_SUCCESS) {
    size_t size = 0;
    RTC(hiprtcGetProgramLogSize(program, &size));
    std::string log(size, 0);
    RTC(hiprtcGetProgramLog(program, &log[0]));
    std::printf("hiprtc: %s\n", log.c_str());
    return 1;
  }
  const char *f32, *f64;
  RTC(hiprtcGetLoweredName(program, "axpy<float>", &f32));
  RTC(hiprtcGetLoweredName(program, "axpy<double>", &f64));
  std::string f32name = f32, f64name = f64;
  size_t size;
  RTC(hiprtcGetCodeSize(program, &size));
  std::vector<char> code(size);
  RTC(hiprtcGetCode(program, code.data()));
  RTC(hiprtcDestroyProgram(&program));
  hipModule_t module;
  hipFunction_t kf, kd, twice;
  CHECK(hipModuleLoadData(&module, code.data()));
  CHECK(hipModuleGetFunction(&kf, module, f32name.c_str()));
  CHECK(hipModuleGetFunction(&kd, module, f64name.c_str()));
  CHECK(hipModuleGetFunction(&twice, module, "twice"));
  hipDeviceptr_t scale, calls;
  CHECK(hipModuleGetGlobal(&scale, &size, module, "scale"));
  bad += size != 4;
  CHECK(hipModuleGetGlobal(&calls, &size, module, "calls"));
  float two = 2;
  CHECK(hipMemcpyHtoD(scale, &two, 4));
  unsigned n = 1000;
  std::vector<float> x(n), y(n);
  std::vector<double> dx(n), dy(n);
  for (unsigned i = 0; i < n; i++) x[i] = dx[i] = i, y[i] = dy[i] = i * 0.5f;
  float *fx = upload(x), *fy = upload(y), fa = 3;
  double *gx = upload(dx), *gy = upload(dy), da = -1;
  void *fargs[] = {&fy, &fx, &fa, &n}, *dargs[] = {&gy, &gx, &da, &n};
  CHECK(hipModuleLaunchKernel(kf, (n + 63) / 64, 1, 1, 64, 1, 1, 0, 0, fargs, nullptr));
  CHECK(hipModuleLaunchKernel(kd, (n + 63) / 64, 1, 1, 64, 1, 1, 0, 0, dargs, nullptr));
  y = download(fy, n);
  dy = download(gy, n);
  for (unsigned i = 0; i < n; i++) bad += y[i] != i * 6.5f || dy[i] != i * -1.5;
  unsigned times;
  CHECK(hipMemcpyDtoH(&times, calls, 4));
  bad += times != 2;
  std::vector<int> v(32, 21);
  int *dv = upload(v);
  // Arguments as one buffer.
  size_t bytes = sizeof dv;
  void *extra[] = {HIP_LAUNCH_PARAM_BUFFER_POINTER, &dv, HIP_LAUNCH_PARAM_BUFFER_SIZE, &bytes, HIP_LAUNCH_PARAM_END};
  CHECK(hipModuleLaunchKernel(twice, 1, 1, 1, 32, 1, 1, 0, 0, nullptr, extra));
  for (int z : download(dv, 32)) bad += z != 42;
  hipFunction_t none;
  bad += hipModuleGetFunction(&none, module, "no_such_kernel") != hipErrorNotFound;
  CHECK(hipModuleUnload(module));
  // A second load after the unload.
  CHECK(hipModuleLoadData(&module, code.data()));
  CHECK(hipModuleGetFunction(&twice, module, "twice"));
  CHECK(hipModuleLaunchKernel(twice, 1, 1, 1, 32, 1, 1, 0, 0, nullptr, extra));
  for (int z : download(dv, 32)) bad += z != 84;
  CHECK(hipModuleUnload(module));
  RTC(hiprtcCreateProgram(&program, "__global__ void k() { nonsense; }", "bad.hip", 0, nullptr, nullptr));
  bad += hiprtcCompileProgram(program, 1, options) != HIPRTC_ERROR_COMPILATION;
  RTC(hiprtcGetProgramLogSize(program, &size));
  std::string log(size, 0);
  RTC(hiprtcGetProgramLog(program, &log[0]));
  bad += log.find("nonsense") == std::string::npos;
  RTC(hiprtcDestroyProgram(&program));
  return finish("rtc", bad);
}
