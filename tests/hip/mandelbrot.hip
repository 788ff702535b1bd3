// Escape counts in f32 and f64, with every operation rounded as written.
#include "check.h"
template <class T> __host__ __device__ int escape(T cx, T cy, int most) {
#pragma clang fp contract(off)
  T x = 0, y = 0;
  int n = 0;
  while (n < most && x * x + y * y <= T(4)) {
    T t = x * x - y * y + cx;
    y = T(2) * x * y + cy;
    x = t;
    n++;
  }
  return n;
}
template <class T> __global__ void draw(int *out, int w, int h, int most) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < w && y < h) out[y * w + x] = escape<T>(T(-2.2) + T(x) * T(3) / T(w), T(-1.2) + T(y) * T(2.4) / T(h), most);
}
template <class T> long check(int w, int h, int most) {
  int *d;
  CHECK(hipMalloc(&d, w * h * 4));
  draw<T><<<dim3((w + 15) / 16, (h + 15) / 16), dim3(16, 16)>>>(d, w, h, most);
  CHECK(hipDeviceSynchronize());
  std::vector<int> got = download(d, w * h);
  long bad = 0;
  for (int y = 0; y < h; y++)
    for (int x = 0; x < w; x++)
      bad += got[y * w + x] != escape<T>(T(-2.2) + T(x) * T(3) / T(w), T(-1.2) + T(y) * T(2.4) / T(h), most);
  return bad;
}
int main() { return finish("mandelbrot", check<float>(150, 100, 200) + check<double>(150, 100, 200)); }
