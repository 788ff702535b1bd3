// hipMalloc3D and copies of boxes: pitch, offsets inside both sides, slices, and what lies outside stays.
#include "check.h"
#include <cstring>
__global__ void number(hipPitchedPtr v, unsigned w, unsigned h, unsigned d) {
  unsigned x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y, z = blockIdx.z;
  if (x < w && y < h && z < d) ((unsigned *)((char *)v.ptr + v.pitch * (z * h + y)))[x] = x | y << 10 | z << 20;
}
int main() {
  const unsigned w = 45, h = 21, d = 9;
  long bad = 0;
  hipPitchedPtr a, b;
  CHECK(hipMalloc3D(&a, make_hipExtent(w * 4, h, d)));
  CHECK(hipMalloc3D(&b, make_hipExtent(w * 4, h, d)));
  bad += a.pitch < w * 4 || a.pitch % 4;
  number<<<dim3(1, h, d), 64>>>(a, w, h, d);
  CHECK(hipMemset3D(b, 0xee, make_hipExtent(w * 4, h, d)));
  // Device to host, whole, into an unpitched volume.
  std::vector<unsigned> host(w * h * d, 1);
  hipMemcpy3DParms p = {};
  p.srcPtr = a;
  p.dstPtr = make_hipPitchedPtr(host.data(), w * 4, w, h);
  p.extent = make_hipExtent(w * 4, h, d);
  p.kind = hipMemcpyDeviceToHost;
  CHECK(hipMemcpy3D(&p));
  for (unsigned z = 0; z < d; z++)
    for (unsigned y = 0; y < h; y++)
      for (unsigned x = 0; x < w; x++) bad += host[(z * h + y) * w + x] != (x | y << 10 | z << 20);
  // A box from (5,3,2) of a to (11,7,1) of b, on the device, asynchronously.
  const unsigned bw = 17, bh = 6, bd = 4;
  hipStream_t s;
  CHECK(hipStreamCreate(&s));
  p = {};
  p.srcPtr = a;
  p.srcPos = make_hipPos(5 * 4, 3, 2);
  p.dstPtr = b;
  p.dstPos = make_hipPos(11 * 4, 7, 1);
  p.extent = make_hipExtent(bw * 4, bh, bd);
  p.kind = hipMemcpyDeviceToDevice;
  CHECK(hipDeviceSynchronize());
  CHECK(hipMemcpy3DAsync(&p, s));
  CHECK(hipStreamSynchronize(s));
  p = {};
  p.srcPtr = b;
  p.dstPtr = make_hipPitchedPtr(host.data(), w * 4, w, h);
  p.extent = make_hipExtent(w * 4, h, d);
  p.kind = hipMemcpyDeviceToHost;
  CHECK(hipMemcpy3D(&p));
  for (unsigned z = 0; z < d; z++)
    for (unsigned y = 0; y < h; y++)
      for (unsigned x = 0; x < w; x++) {
        bool in = x >= 11 && x < 11 + bw && y >= 7 && y < 7 + bh && z >= 1 && z < 1 + bd;
        unsigned want = in ? ((x - 6) | (y - 4) << 10 | (z + 1) << 20) : 0xeeeeeeee;
        bad += host[(z * h + y) * w + x] != want;
      }
  // Host to device, a box, from pinned memory.
  unsigned *pin;
  CHECK(hipHostMalloc(&pin, w * h * d * 4));
  for (unsigned i = 0; i < w * h * d; i++) pin[i] = i * 7 + 1;
  p = {};
  p.srcPtr = make_hipPitchedPtr(pin, w * 4, w, h);
  p.srcPos = make_hipPos(4, 1, 1);
  p.dstPtr = b;
  p.extent = make_hipExtent((w - 1) * 4, h - 1, d - 1);
  p.kind = hipMemcpyHostToDevice;
  CHECK(hipMemcpy3D(&p));
  // Into other memory than before: libhsakmt cannot tell two pins with one start and two sizes apart.
  std::vector<unsigned> other(w * h * d);
  p = {};
  p.srcPtr = b;
  p.dstPtr = make_hipPitchedPtr(other.data(), w * 4, w, h);
  p.extent = make_hipExtent((w - 1) * 4, h - 1, d - 1);
  p.kind = hipMemcpyDeviceToHost;
  CHECK(hipMemcpy3D(&p));
  for (unsigned z = 0; z < d - 1; z++)
    for (unsigned y = 0; y < h - 1; y++)
      for (unsigned x = 0; x < w - 1; x++)
        bad += other[(z * h + y) * w + x] != (((z + 1) * h + y + 1) * w + x + 1) * 7 + 1;
  // Rows of pitched memory, and a fill of a part of them.
  char *rows;
  size_t pitch;
  CHECK(hipMallocPitch((void **)&rows, &pitch, 100, 30));
  CHECK(hipMemset2D(rows, pitch, 1, 100, 30));
  CHECK(hipMemset2D(rows + 3 * pitch + 7, pitch, 2, 50, 20));
  std::vector<char> got(100 * 30);
  CHECK(hipMemcpy2D(got.data(), 100, rows, pitch, 100, 30, hipMemcpyDeviceToHost));
  for (unsigned y = 0; y < 30; y++)
    for (unsigned x = 0; x < 100; x++) bad += got[y * 100 + x] != (x >= 7 && x < 57 && y >= 3 && y < 23 ? 2 : 1);
  CHECK(hipFree(a.ptr));
  CHECK(hipFree(b.ptr));
  CHECK(hipFree(rows));
  CHECK(hipHostFree(pin));
  CHECK(hipStreamDestroy(s));
  return finish("volumes", bad);
}
