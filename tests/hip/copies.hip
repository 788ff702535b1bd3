// memset and copies of 1 B to 256 MB: pageable, pinned, registered, async, on the device, 2D.
#include "check.h"
#include <cstring>
static long differ(const unsigned char *p, const unsigned char *q, size_t n) { return std::memcmp(p, q, n) != 0; }
int main() {
  const size_t sizes[] = {1, 3, 4, 15, 64, 255, 4096, 4097, 65536, 1000003, 16 << 20, 256u << 20};
  const size_t most = 256u << 20;
  std::vector<unsigned char> src(most), dst(most);
  uint32_t s = 9;
  for (size_t i = 0; i < most; i += 4) {
    uint32_t r = next_random(s);
    std::memcpy(&src[i], &r, 4);
  }
  unsigned char *a, *b, *pinned;
  CHECK(hipMalloc(&a, most));
  CHECK(hipMalloc(&b, most));
  CHECK(hipHostMalloc(&pinned, 16 << 20, 0));
  hipStream_t stream;
  CHECK(hipStreamCreate(&stream));
  long bad = 0;
  for (size_t n : sizes) {
    CHECK(hipMemset(a, 0x5a, n));
    CHECK(hipMemcpy(dst.data(), a, n, hipMemcpyDeviceToHost));
    for (size_t i = 0; i < n; i++) bad += dst[i] != 0x5a;
    CHECK(hipMemcpy(a, src.data(), n, hipMemcpyHostToDevice));
    CHECK(hipMemcpy(b, a, n, hipMemcpyDeviceToDevice));
    CHECK(hipMemcpy(dst.data(), b, n, hipMemcpyDeviceToHost));
    bad += differ(src.data(), dst.data(), n);
    if (n > (16 << 20)) continue;
    std::memcpy(pinned, src.data() + 1, n);
    CHECK(hipMemcpyAsync(a, pinned, n, hipMemcpyHostToDevice, stream));
    CHECK(hipMemcpyAsync(b, a, n, hipMemcpyDeviceToDevice, stream));
    CHECK(hipStreamSynchronize(stream));
    std::memset(pinned, 0, n);
    CHECK(hipMemcpyAsync(pinned, b, n, hipMemcpyDeviceToHost, stream));
    CHECK(hipStreamSynchronize(stream));
    bad += differ(src.data() + 1, pinned, n);
  }
  size_t n = 3 << 20;
  CHECK(hipHostRegister(dst.data(), n, hipHostRegisterDefault));
  CHECK(hipMemcpy(a, src.data(), n, hipMemcpyHostToDevice));
  CHECK(hipMemcpyAsync(dst.data(), a, n, hipMemcpyDeviceToHost, stream));
  CHECK(hipStreamSynchronize(stream));
  CHECK(hipHostUnregister(dst.data()));
  bad += differ(src.data(), dst.data(), n);
  // 100 rows of 300 bytes between pitches of 512 and 640.
  CHECK(hipMemset(a, 0, 1 << 20));
  CHECK(hipMemcpy2D(a, 512, src.data(), 640, 300, 100, hipMemcpyHostToDevice));
  CHECK(hipMemcpy2D(dst.data(), 640, a, 512, 300, 100, hipMemcpyDeviceToHost));
  for (int y = 0; y < 100; y++) bad += differ(&src[640 * y], &dst[640 * y], 300);
  return finish("copies", bad);
}
