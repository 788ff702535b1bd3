// Operations across the lanes of a wave through builtins, against their written meaning; with some lanes off, too.
#include "check.h"
constexpr int ROWS = 64;
struct Out { unsigned *at; __device__ void put(unsigned v) { *at = v; at += 64; } };

__global__ void votes(const unsigned *in, unsigned long long *out, unsigned long long on) {
  unsigned l = threadIdx.x, v = in[l];
  if (!(on >> l & 1)) return;
  unsigned long long b = __ballot(v & 1), e = __ballot(v > 0x800000);
  unsigned long long *o = out + l;
  *o = b, o += 64;
  *o = e, o += 64;
  *o = __any(v & 1) | __all(v & 1) << 1 | __any(v == 1u << 31) << 2 | __all(v != 1u << 31) << 3, o += 64;
  *o = __popcll(b) | __popc(v) << 8 | __ffsll((long long)e) << 16 | __clzll(b) << 24, o += 64;
  *o = __builtin_amdgcn_mbcnt_hi(e >> 32, __builtin_amdgcn_mbcnt_lo(unsigned(e), 1000)), o += 64;
  *o = __builtin_amdgcn_read_exec(), o += 64;
  *o = __activemask(), o += 64;
  *o = __lane_id() | (unsigned long long)__brevll(b) << 8, o += 64;
  *o = __builtin_amdgcn_readfirstlane(v), o += 64;
  *o = __builtin_amdgcn_readlane(v, 37), o += 64;
  *o = __builtin_amdgcn_inverse_ballot_w64(on & 0x0f0ff00ff3c3c5a5) , o += 64;
}

template <int CTRL, int ROW = 15, int BANK = 15, bool BC = false> __device__ void dpp(Out &o, unsigned v) {
  o.put(__builtin_amdgcn_update_dpp(v ^ 0xdead0000, v, CTRL, ROW, BANK, BC));
}
__global__ void moves(const unsigned *in, unsigned *out, unsigned long long on) {
  unsigned l = threadIdx.x, v = in[l];
  Out o{out + l};
  if (!(on >> l & 1)) return;
  dpp<0x1b>(o, v);          // quad_perm 3 2 1 0
  dpp<0x39>(o, v);          // quad_perm 1 2 3 0
  dpp<0x101>(o, v);         // row_shl 1
  dpp<0x107, 15, 15, true>(o, v);
  dpp<0x111>(o, v);         // row_shr 1
  dpp<0x118, 15, 15, true>(o, v);
  dpp<0x121>(o, v);         // row_ror 1
  dpp<0x12f>(o, v);
  dpp<0x130>(o, v);         // wave_shl
  dpp<0x134>(o, v);         // wave_rol
  dpp<0x138>(o, v);         // wave_shr
  dpp<0x13c>(o, v);         // wave_ror
  dpp<0x140>(o, v);         // row_mirror
  dpp<0x141>(o, v);         // row_half_mirror
  dpp<0x142, 0xa>(o, v);    // row_bcast 15
  dpp<0x143, 0xc>(o, v);    // row_bcast 31
  dpp<0x111, 5, 15>(o, v);
  dpp<0x111, 15, 6, true>(o, v);
  dpp<0x155>(o, v);         // row_newbcast 5
  o.put(__builtin_amdgcn_ds_bpermute(((l * 13 + 5) & 255) * 4, v));
  o.put(__builtin_amdgcn_ds_permute(((l * 13 + 5) & 63) * 4, v));
  o.put(__builtin_amdgcn_ds_swizzle(v, 0x041f)); // xor 1
  o.put(__builtin_amdgcn_ds_swizzle(v, 0x7c1f)); // xor 31
  o.put(__builtin_amdgcn_ds_swizzle(v, 0x00e3)); // and 3, or 7
  o.put(__builtin_amdgcn_ds_swizzle(v, 0x801b)); // quad_perm 3 2 1 0
  o.put(__builtin_amdgcn_ds_swizzle(v, 0xc080)); // rotate left by 4
  unsigned w = v;
  asm volatile("v_writelane_b32 %0, %1, 21" : "+v"(w) : "s"(0x12345678));
  o.put(w);
  o.put(__builtin_amdgcn_mov_dpp(v, 0xb1, 15, 15, true));
}
__device__ unsigned wave_sum(unsigned v) {
  v += __builtin_amdgcn_update_dpp(0, v, 0x111, 15, 15, true);
  v += __builtin_amdgcn_update_dpp(0, v, 0x112, 15, 15, true);
  v += __builtin_amdgcn_update_dpp(0, v, 0x114, 15, 15, true);
  v += __builtin_amdgcn_update_dpp(0, v, 0x118, 15, 15, true);
  v += __builtin_amdgcn_update_dpp(0, v, 0x142, 0xa, 15, false);
  v += __builtin_amdgcn_update_dpp(0, v, 0x143, 0xc, 15, false);
  return v;
}
__global__ void sums(const unsigned *in, unsigned *out) {
  unsigned v = in[threadIdx.x], o = wave_sum(v);
  out[threadIdx.x] = o;
  float f = float(v & 1023);
  for (int d = 32; d; d >>= 1) f += __shfl_xor(f, d);
  out[64 + threadIdx.x] = unsigned(f);
  double g = v * 3.0;
  for (int d = 32; d; d >>= 1) g += __shfl_down(g, d);
  out[128 + threadIdx.x] = unsigned(__shfl(g, 0) / 3.0);
  out[192 + threadIdx.x] = __reduce_add_sync(~0ull, v & 7) | __reduce_max_sync(~0ull, v & 0xffff) << 16;
  out[256 + threadIdx.x] = unsigned(__match_any_sync(~0ull, v & 3)) ^ unsigned(__match_any_sync(~0ull, v & 3) >> 32);
}

int main() {
  std::vector<unsigned> a(64);
  uint32_t s = 9;
  for (auto &x : a) x = next_random(s);
  unsigned *in = upload(a), *out;
  unsigned long long *wide;
  CHECK(hipMalloc(&out, ROWS * 256));
  CHECK(hipMalloc(&wide, ROWS * 512));
  long bad = 0;
  for (unsigned long long on : {~0ull, 0xfffffffffffffffeull, 0x5555aaaaf0f0ff00ull, 0x8000000000000001ull}) {
    auto is = [&](int l) { return l >= 0 && l < 64 && (on >> l & 1); };
    CHECK(hipMemset(wide, 0, ROWS * 512));
    votes<<<1, 64>>>(in, wide, on);
    auto w = download(wide, ROWS * 64);
    unsigned long long b = 0, e = 0;
    int first = __builtin_ctzll(on);
    for (int l = 0; l < 64; l++)
      if (is(l)) b |= (unsigned long long)(a[l] & 1) << l, e |= (unsigned long long)(a[l] > 0x800000) << l;
    unsigned long long reversed = 0;
    for (int i = 0; i < 64; i++) reversed |= (b >> i & 1) << (63 - i);
    for (int l = 0; l < 64; l++) {
      if (!is(l)) continue;
      unsigned long long want[] = {b, e, (b != 0) | (unsigned long long)(b == on) << 1 | 8,
        (unsigned long long)((long long)(__builtin_popcountll(b) | __builtin_popcount(a[l]) << 8 | __builtin_ffsll(e) << 16 | (b ? __builtin_clzll(b) : 64) << 24)),
        1000ull + __builtin_popcountll(e & ((1ull << l) - 1)), on, on, l | reversed << 8, a[first], a[37], (on & 0x0f0ff00ff3c3c5a5) >> l & 1};
      for (int k = 0; k < 11; k++)
        if (!(k == 9 && !is(37)) && w[k * 64 + l] != want[k]) {
          if (bad++ < 20) std::printf("votes %016llx row %d lane %d: %llx, not %llx\n", on, k, l, w[k * 64 + l], want[k]);
        }
    }
    CHECK(hipMemset(out, 0, ROWS * 256));
    moves<<<1, 64>>>(in, out, on);
    auto got = download(out, ROWS * 64);
    int row = 0;
    // from: the lane read, or -1 when there is none.
    auto dpp = [&](auto from, int rows = 15, int banks = 15, bool bc = false) {
      for (int l = 0; l < 64; l++) {
        if (!is(l)) continue;
        int f = from(l);
        bool enabled = (rows >> l / 16 & 1) && (banks >> (l / 4 & 3) & 1);
        // A lane that is outside or off reads 0 with bound_ctrl, else the old value stays.
        unsigned want = !enabled || (!is(f) && !bc) ? a[l] ^ 0xdead0000 : is(f) ? a[f] : 0;
        if (got[row * 64 + l] != want && bad++ < 20) std::printf("dpp %016llx row %d lane %d: %x, not %x\n", on, row, l, got[row * 64 + l], want);
      }
      row++;
    };
    auto in_row = [](int l, int f) { return l / 16 == (f + 16) / 16 - 1 ? f : -1; };
    dpp([](int l) { return l ^ 3; });
    dpp([](int l) { return (l & ~3) | ((l + 1) & 3); });
    dpp([&](int l) { return in_row(l, l + 1); });
    dpp([&](int l) { return in_row(l, l + 7); }, 15, 15, true);
    dpp([&](int l) { return in_row(l, l - 1); });
    dpp([&](int l) { return in_row(l, l - 8); }, 15, 15, true);
    dpp([](int l) { return (l & ~15) | ((l - 1) & 15); });
    dpp([](int l) { return (l & ~15) | ((l - 15) & 15); });
    dpp([](int l) { return l + 1; });
    dpp([](int l) { return (l + 1) & 63; });
    dpp([](int l) { return l - 1; });
    dpp([](int l) { return (l - 1) & 63; });
    dpp([](int l) { return l ^ 15; });
    dpp([](int l) { return l ^ 7; });
    dpp([](int l) { return l / 16 * 16 - 1; }, 0xa);
    dpp([](int l) { return 31; }, 0xc);
    dpp([&](int l) { return in_row(l, l - 1); }, 5, 15);
    dpp([&](int l) { return in_row(l, l - 1); }, 15, 6, true);
    dpp([](int l) { return (l & ~15) | 5; });
    auto plain = [&](auto f) {
      for (int l = 0; l < 64; l++)
        if (is(l)) {
          unsigned want = f(l);
          if (got[row * 64 + l] != want && bad++ < 20) std::printf("move %016llx row %d lane %d: %x, not %x\n", on, row, l, got[row * 64 + l], want);
        }
      row++;
    };
    auto or0 = [&](int f) { return is(f) ? a[f] : 0; };
    plain([&](int l) { return or0((l * 13 + 5) & 63); });
    plain([&](int l) {
      unsigned v = 0;
      for (int f = 0; f < 64; f++) if (is(f) && ((f * 13 + 5) & 63) == l) v = a[f];
      return v;
    });
    plain([&](int l) { return or0(l ^ 1); });
    plain([&](int l) { return or0(l ^ 31); });
    plain([&](int l) { return or0((l & 32) | (((l & 31) & 3) | 7)); });
    plain([&](int l) { return or0(l ^ 3); });
    plain([&](int l) { return or0((l & 32) | ((l + 4) & 31)); });
    plain([&](int l) { return l == 21 ? 0x12345678 : a[l]; });
    plain([&](int l) { return or0(l ^ 1); });
  }
  sums<<<1, 64>>>(in, out);
  CHECK(hipDeviceSynchronize());
  auto got = download(out, 320);
  unsigned sum = 0, low = 0, add = 0, most = 0;
  for (int l = 0; l < 64; l++) low += a[l] & 1023, add += a[l] & 7, most = std::max(most, a[l] & 0xffff);
  unsigned whole = 0;
  for (auto x : a) whole += x;
  for (int l = 0; l < 64; l++) {
    sum += a[l];
    unsigned long long same = 0;
    for (int k = 0; k < 64; k++) same |= (unsigned long long)((a[k] & 3) == (a[l] & 3)) << k;
    unsigned want[] = {sum, low, whole, add | most << 16, unsigned(same) ^ unsigned(same >> 32)};
    for (int k = 0; k < 5; k++)
      if (got[k * 64 + l] != want[k] && bad++ < 20) std::printf("sums row %d lane %d: %x, not %x\n", k, l, got[k * 64 + l], want[k]);
  }
  return finish("lanes", bad);
}
