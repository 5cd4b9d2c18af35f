// SPDX-License-Identifier: Apache-2.0
// Queries, keys and values. Queries: 16 columns at a time with a loop over the rows inside, tails
// by the reference arithmetic; about 21 instructions for 16 elements. Keys and values: 4 tokens x
// 16 columns at a time. TRN and ZIP transpose the words of keys, where the 4 inputs of a token stay
// together, and ST4 the bytes of values, where the 4 tokens of a column come together. About 90
// instructions for 64 keys, 135 for 64 values.
#include "kernels/arm/lanes_neon.hpp"
#include "kernels/variants.hpp"

namespace embert {
namespace {

// 16 values as bytes in +-127: themselves, or plane_high and plane_low.
template <size_t kPlanes>
struct Bytes {
  int8x16_t plane[kPlanes];
};
template <size_t kPlanes>
EMBERT_INLINE Bytes<kPlanes> bytes_of(int16x8x2_t v) {
  Bytes<kPlanes> bytes;
  if (kPlanes == 1) {
    bytes.plane[0] = to_bytes(v);
    return bytes;
  }
#pragma GCC unroll 2
  for (int16x8_t& half : v.val) {
    half = vmaxq_s16(vminq_s16(half, vdupq_n_s16(kValueBound)), vdupq_n_s16(-kValueBound));
  }
  bytes.plane[0] = vrshrn_high_n_s16(vrshrn_n_s16(v.val[0], 8), v.val[1], 8);
  bytes.plane[kPlanes - 1] = vmaxq_s8(
      vuzp1q_s8(vreinterpretq_s8_s16(v.val[0]), vreinterpretq_s8_s16(v.val[1])), vdupq_n_s8(-127));
  return bytes;
}

template <bool kRight>
void run_query(RequantizeQueryArgs args) {  // a copy, which no store can change
  const int32x4_t count = shift_count(args.factor);
  size_t c = 0;
  for (; c + 16 <= args.n; c += 16) {
    const int32x4x4_t m = vld1q_s32_x4(args.factor.multiplier + c);
#pragma GCC unroll 2
    for (size_t i = 0; i < args.m; ++i) {
      vst1q_s8(reinterpret_cast<int8_t*>(args.dst) + i * args.dst_stride + c,
               to_bytes(requantize16<kRight>(args.acc + i * args.acc_stride + c, m, count)));
    }
  }
  for (; c < pad_inputs(args.n); ++c) {
    for (size_t i = 0; i < args.m; ++i) {
      const int32_t* acc = args.acc + i * args.acc_stride;
      const int32_t value = c < args.n ? sat8(requantize_column(args.factor, acc, c)) : 0;
      args.dst[i * args.dst_stride + c] = static_cast<uint8_t>(value);
    }
  }
}

// Both rows of each query: (high, 0) and (low, high).
template <bool kRight>
void run_query_s8x2(RequantizeQueryArgs args) {  // a copy, which no store can change
  const int32x4_t count = shift_count(args.factor);
  const size_t k = pad_inputs(args.n);
  int8_t* dst = reinterpret_cast<int8_t*>(args.dst);
  size_t c = 0;
  for (; c + 16 <= args.n; c += 16) {
    const int32x4x4_t m = vld1q_s32_x4(args.factor.multiplier + c);
    for (size_t i = 0; i < args.m; ++i) {
      const Bytes<2> bytes =
          bytes_of<2>(requantize16<kRight>(args.acc + i * args.acc_stride + c, m, count));
      int8_t* first = dst + 2 * i * args.dst_stride + c;
      int8_t* second = first + args.dst_stride;
      vst1q_s8(first, bytes.plane[0]);
      vst1q_s8(first + k, vdupq_n_s8(0));
      vst1q_s8(second, bytes.plane[1]);
      vst1q_s8(second + k, bytes.plane[0]);
    }
  }
  for (; c < k; ++c) {
    for (size_t i = 0; i < args.m; ++i) {
      const int32_t* acc = args.acc + i * args.acc_stride;
      const int32_t v =
          c < args.n ? clamp(requantize_column(args.factor, acc, c), -kValueBound, kValueBound) : 0;
      int8_t* first = dst + 2 * i * args.dst_stride + c;
      int8_t* second = first + args.dst_stride;
      first[0] = second[k] = static_cast<int8_t>(plane_high(v));
      first[k] = 0;
      second[0] = static_cast<int8_t>(plane_low(v));
    }
  }
}

// Word v of each token in vector v.
EMBERT_INLINE int32x4x4_t transpose(const int32x4x4_t& tokens) {
  const int32x4x2_t a = vtrnq_s32(tokens.val[0], tokens.val[1]);
  const int32x4x2_t b = vtrnq_s32(tokens.val[2], tokens.val[3]);
  int32x4x4_t words;
#pragma GCC unroll 2
  for (size_t v = 0; v < 2; ++v) {
    const int64x2_t first = vreinterpretq_s64_s32(a.val[v]);
    const int64x2_t second = vreinterpretq_s64_s32(b.val[v]);
    words.val[v] = vreinterpretq_s32_s64(vzip1q_s64(first, second));
    words.val[v + 2] = vreinterpretq_s32_s64(vzip2q_s64(first, second));
  }
  return words;
}

// Keeps the first left lanes, the others become 0.
EMBERT_INLINE int8x16_t first_lanes(int8x16_t x, size_t left) {
  const uint8x16_t lane =
      vcombine_u8(vcreate_u8(0x0706050403020100), vcreate_u8(0x0f0e0d0c0b0a0908));
  const uint8x16_t first = vcltq_u8(lane, vdupq_n_u8(static_cast<uint8_t>(left)));
  return vandq_s8(x, vreinterpretq_s8_u8(first));
}

// The sums of m tokens, in some columns.
struct Tokens {
  const int32_t* acc;
  size_t stride, m;
};

// Some columns of up to 4 tokens, and where their keys go.
struct KeyColumns {
  Tokens tokens;
  int8_t* dst;
  size_t plane_bytes;
};

// 16 columns, or the last left ones, in one plane or two. In a step the 4 words of the tokens lie
// side by side; those of other tokens stay as they are.
template <bool kRight, size_t kPlanes>
EMBERT_INLINE void key_columns(const KeyColumns& columns, const int32x4x4_t& factor,
                               int32x4_t count, size_t left, int16x8_t (&sums)[4]) {
  const Tokens& tokens = columns.tokens;
  int32x4x4_t words[kPlanes];
#pragma GCC unroll 4
  for (size_t t = 0; t < 4; ++t) {
    const size_t from = t < tokens.m ? t : 0;
    Bytes<kPlanes> bytes =
        bytes_of<kPlanes>(requantize16<kRight>(tokens.acc + from * tokens.stride, factor, count));
#pragma GCC unroll 2
    for (size_t p = 0; p < kPlanes; ++p) {
      if (left < 16) bytes.plane[p] = first_lanes(bytes.plane[p], left);
      sums[t] = vpadalq_s8(sums[t], bytes.plane[p]);
      words[p].val[t] = vreinterpretq_s32_s8(bytes.plane[p]);
    }
  }
#pragma GCC unroll 2
  for (size_t p = 0; p < kPlanes; ++p) {
    const int32x4x4_t steps = transpose(words[p]);
#pragma GCC unroll 4
    for (size_t v = 0; v < 4; ++v) {
      int8_t* at = columns.dst + p * columns.plane_bytes + v * kStepBytes;
      if (4 * v >= left) break;
      store_first(at, vreinterpretq_u8_s32(steps.val[v]), 4 * tokens.m);
    }
  }
}

// Keys of up to 4 tokens.
template <bool kRight, size_t kPlanes>
EMBERT_INLINE void key_group(const RequantizeKeyArgs& args, size_t row, size_t m, int32x4_t count) {
  const size_t k = pad_inputs(args.n), token = args.row0 + row;
  KeyColumns columns = {{args.acc + row * args.acc_stride, args.acc_stride, m},
                        args.dst + n16k4_index(token, 0, kPlanes * k),
                        k * kPanelColumns};
  const int16x8_t zero = vdupq_n_s16(0);
  int16x8_t sums[4] = {zero, zero, zero, zero};
  size_t c = 0;
  for (; c + 16 <= args.n; c += 16) {
    key_columns<kRight, kPlanes>(columns, vld1q_s32_x4(args.factor.multiplier + c), count, 16,
                                 sums);
    columns.tokens.acc += 16, columns.dst += 4 * kStepBytes;
  }
  if (c < args.n) {
    key_columns<kRight, kPlanes>(columns, vld1q_s32_x4(args.factor.multiplier + c), count,
                                 args.n - c, sums);
  }
#pragma GCC unroll 4
  for (size_t t = 0; t < 4; ++t) {
    if (t < m) args.sums[token + t] = vaddlvq_s16(sums[t]);
  }
}

template <bool kRight, size_t kPlanes>
void run_key(RequantizeKeyArgs args) {
  const int32x4_t count = shift_count(args.factor);
  size_t i = 0;
  for (; i + 4 <= args.m; i += 4) key_group<kRight, kPlanes>(args, i, 4, count);
  if (i < args.m) key_group<kRight, kPlanes>(args, i, args.m - i, count);
}

// Sums of 16 columns. 16 bits hold the sums of up to 256 tokens.
constexpr size_t kSumTokens = 256;
struct Sums {
  int16x8_t low, high;
};
EMBERT_INLINE void add(Sums& sums, int8x16_t bytes) {
  sums.low = vaddw_s8(sums.low, vget_low_s8(bytes));
  sums.high = vaddw_high_s8(sums.high, bytes);
}
EMBERT_INLINE void add_sums(int32_t* dst, bool first, const Sums& sums) {
  const int16x8_t part[2] = {sums.low, sums.high};
  for (size_t v = 0; v < 2; ++v) {
    const int32x4_t zero = vdupq_n_s32(0);
    int32_t* at = dst + 8 * v;
    vst1q_s32(at, vaddw_s16(first ? zero : vld1q_s32(at), vget_low_s16(part[v])));
    vst1q_s32(at + 4, vaddw_high_s16(first ? zero : vld1q_s32(at + 4), part[v]));
  }
}

struct Plane {
  int8_t* dst;
  Sums sums;
};
// 16 columns of up to 4 tokens: plane_high is v + 128 >> 8, plane_low the low byte of v.
template <bool kRight>
EMBERT_INLINE void value_group(const Tokens& tokens, const int32x4x4_t& k, int32x4_t count,
                               Plane& high_plane, Plane& low_plane) {
  int8x16x4_t high, low;
#pragma GCC unroll 4
  for (size_t t = 0; t < 4; ++t) {
    high.val[t] = low.val[t] = vdupq_n_s8(0);
    if (t < tokens.m) {
      const Bytes<2> bytes =
          bytes_of<2>(requantize16<kRight>(tokens.acc + t * tokens.stride, k, count));
      high.val[t] = bytes.plane[0];
      low.val[t] = bytes.plane[1];
      add(high_plane.sums, high.val[t]);
      add(low_plane.sums, low.val[t]);
    }
  }
  vst4q_s8(high_plane.dst, high);
  vst4q_s8(low_plane.dst, low);
}

template <bool kRight>
void run_value(RequantizeValueArgs args) {  // a copy, which no store can change
  const int32x4_t count = shift_count(args.factor);
  const size_t columns = pad_columns(args.n);
  for (size_t c = 0; c < columns; c += 16) {
    const int32x4x4_t factor = vld1q_s32_x4(args.factor.multiplier + c);
    Plane high, low;
    high.dst = args.dst + n16k4_index(c, args.row0, args.k);
    low.dst = args.dst + n16k4_index(columns + c, args.row0, args.k);
    bool first = args.row0 == 0;
    for (size_t i = 0; i < args.m;) {
      const size_t end = args.m - i < kSumTokens ? args.m : i + kSumTokens;
      const int16x8_t zero = vdupq_n_s16(0);
      high.sums = low.sums = {zero, zero};
      for (; i < end; i += 4, high.dst += kStepBytes, low.dst += kStepBytes) {
        const int32_t* acc = args.acc + i * args.acc_stride + c;
        const size_t m = end - i;
        if (m >= 4) {
          value_group<kRight>({acc, args.acc_stride, 4}, factor, count, high, low);
        } else {
          value_group<kRight>({acc, args.acc_stride, m}, factor, count, high, low);
        }
      }
      if (args.sums != nullptr) {
        add_sums(args.sums + c, first, high.sums);
        add_sums(args.sums + columns + c, first, low.sums);
      }
      first = false;
    }
  }
}

}  // namespace

void requantize_query_neon(const RequantizeQueryArgs& args) {
  if (args.factor.right != 0) {
    run_query<true>(args);
  } else {
    run_query<false>(args);
  }
}

void requantize_key_n16k4_neon(const RequantizeKeyArgs& args) {
  if (args.factor.right != 0) {
    run_key<true, 1>(args);
  } else {
    run_key<false, 1>(args);
  }
}

void requantize_query_s8x2_neon(const RequantizeQueryArgs& args) {
  if (args.factor.right != 0) {
    run_query_s8x2<true>(args);
  } else {
    run_query_s8x2<false>(args);
  }
}

void requantize_key_s8x2_neon(const RequantizeKeyArgs& args) {
  if (args.factor.right != 0) {
    run_key<true, 2>(args);
  } else {
    run_key<false, 2>(args);
  }
}

void requantize_value_n16k4_neon(const RequantizeValueArgs& args) {
  if (args.factor.right != 0) {
    run_value<true>(args);
  } else {
    run_value<false>(args);
  }
}

}  // namespace embert
