// Transpose through a padded LDS tile; neither side is a multiple of the tile.
#include "check.h"
__global__ void transpose(const int *a, int *b, int w, int h) {
  __shared__ int t[32][33];
  int x = blockIdx.x * 32 + threadIdx.x;
  for (int j = threadIdx.y; j < 32; j += 8) {
    int y = blockIdx.y * 32 + j;
    if (x < w && y < h) t[j][threadIdx.x] = a[y * w + x];
  }
  __syncthreads();
  int u = blockIdx.y * 32 + threadIdx.x;
  for (int j = threadIdx.y; j < 32; j += 8) {
    int v = blockIdx.x * 32 + j;
    if (u < h && v < w) b[v * h + u] = t[threadIdx.x][j];
  }
}
int main() {
  int w = 333, h = 201;
  std::vector<int> a(w * h);
  for (int i = 0; i < w * h; i++) a[i] = i * 2654435761u;
  int *da = upload(a), *db;
  CHECK(hipMalloc(&db, w * h * 4));
  transpose<<<dim3((w + 31) / 32, (h + 31) / 32), dim3(32, 8)>>>(da, db, w, h);
  CHECK(hipDeviceSynchronize());
  std::vector<int> b = download(db, w * h);
  long bad = 0;
  for (int y = 0; y < h; y++)
    for (int x = 0; x < w; x++) bad += b[x * h + y] != a[y * w + x];
  return finish("transpose", bad);
}
