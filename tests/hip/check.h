// What every program here shares: checking a HIP call, and the closing line that the tests look for.
#pragma once
#include <hip/hip_runtime.h>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK(call)                                                                                   \
  do {                                                                                                \
    hipError_t e_ = (call);                                                                           \
    if (e_ != hipSuccess) {                                                                           \
      std::printf("%s:%d: %s: %s\n", __FILE__, __LINE__, #call, hipGetErrorString(e_));               \
      std::exit(1);                                                                                   \
    }                                                                                                 \
  } while (0)

static int finish(const char *name, long bad) {
  if (bad) std::printf("%s: %ld values are wrong\n", name, bad);
  else std::printf("%s OK\n", name);
  return bad != 0;
}

static uint32_t next_random(uint32_t &s) { return (s = s * 1664525u + 1013904223u) >> 8; }

template <class T> static T *upload(const std::vector<T> &v) {
  T *d;
  CHECK(hipMalloc(&d, v.size() * sizeof(T)));
  CHECK(hipMemcpy(d, v.data(), v.size() * sizeof(T), hipMemcpyHostToDevice));
  return d;
}

template <class T> static std::vector<T> download(const T *d, size_t n) {
  std::vector<T> v(n);
  CHECK(hipMemcpy(v.data(), d, n * sizeof(T), hipMemcpyDeviceToHost));
  return v;
}
