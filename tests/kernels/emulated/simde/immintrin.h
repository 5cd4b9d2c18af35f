// SPDX-License-Identifier: Apache-2.0
// <immintrin.h> of the emulated kernels: AVX-512 and AVX-VNNI in SIMDe's portable C, and AMX, on
// any x86-64 processor. This folder stands first in the include path, so the kernels' sources are
// compiled unchanged. SIMDe 0.7.4 lacks the intrinsics below or has them wrong; each is a loop over
// lanes here. Operations: Intel Intrinsics Guide.
#pragma once

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <array>
#include <bit>
#include <type_traits>

// The build defines these for the sources, which check their flags. SIMDe would take them as leave
// to use the instructions.
#undef __AVX2__
#undef __AVXVNNI__
#undef __AVX512VNNI__
#define SIMDE_ENABLE_NATIVE_ALIASES
#include <simde/x86/avx2.h>
#include <simde/x86/avx512.h>
#include <simde/x86/sse4.2.h>

using __mmask8 = simde__mmask8;
using __mmask16 = simde__mmask16;
using __mmask32 = simde__mmask32;
using __mmask64 = simde__mmask64;

namespace {

/// The lanes of a vector register, lowest first.
template <typename T, typename Register>
std::array<T, sizeof(Register) / sizeof(T)> lanes(Register x) {
  return std::bit_cast<std::array<T, sizeof(Register) / sizeof(T)>>(x);
}

/// A register of the lanes operation(0), operation(1), ...
template <typename T, typename Register = __m512i, typename Operation>
Register from_lanes(Operation operation) {
  std::array<T, sizeof(Register) / sizeof(T)> x = {};
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<T>(operation(i));
  return std::bit_cast<Register>(x);
}

/// Lane i of memory where bit i of the mask is set, otherwise 0: memory is not read.
template <typename T, typename Register>
Register load_masked(uint64_t mask, const void* from) {
  return from_lanes<T, Register>([=](size_t i) {
    T lane = 0;
    if ((mask >> i & 1) != 0) memcpy(&lane, static_cast<const T*>(from) + i, sizeof lane);
    return lane;
  });
}

template <typename T, typename Register>
void store_masked(void* to, uint64_t mask, Register x) {
  const auto from = lanes<T>(x);
  for (size_t i = 0; i < from.size(); ++i) {
    if ((mask >> i & 1) != 0) memcpy(static_cast<T*>(to) + i, &from[i], sizeof(T));
  }
}

/// Arithmetic shift: a count beyond the lane leaves the sign.
template <typename T>
T shift_right(T value, uint64_t count) {
  return static_cast<T>(value >> (count < 8 * sizeof(T) ? count : 8 * sizeof(T) - 1));
}

template <typename T>
__m512i shift_all_right(__m512i x, uint64_t count) {
  return from_lanes<T>([x = lanes<T>(x), count](size_t i) { return shift_right(x[i], count); });
}

template <typename T>
__m512i shift_each_right(__m512i x, __m512i counts) {
  return from_lanes<T>([x = lanes<T>(x), counts = lanes<std::make_unsigned_t<T>>(counts)](
                           size_t i) { return shift_right(x[i], counts[i]); });
}

template <typename From, typename Register>
__m512i widen(Register x) {
  return from_lanes<int32_t>([x = lanes<From>(x)](size_t i) { return x[i]; });
}

/// The sum of all lanes, which wraps.
template <typename T>
T sum_of(__m512i x) {
  std::make_unsigned_t<T> sum = 0;
  for (const auto lane : lanes<std::make_unsigned_t<T>>(x)) sum += lane;
  return static_cast<T>(sum);
}

/// Bit i is test(i).
template <typename Mask, typename Test>
Mask mask_of(size_t count, Test test) {
  uint64_t mask = 0;
  for (size_t i = 0; i < count; ++i) mask |= static_cast<uint64_t>(test(i)) << i;
  return static_cast<Mask>(mask);
}

}  // namespace

// Loads and stores with a mask.
#undef _mm_maskz_loadu_epi8
#undef _mm256_maskz_loadu_epi16
#undef _mm512_maskz_loadu_epi8
#undef _mm512_maskz_loadu_epi16
#undef _mm512_maskz_loadu_epi32
#undef _mm_mask_storeu_epi32
#undef _mm256_mask_storeu_epi16
#undef _mm512_mask_storeu_epi16
#undef _mm512_mask_storeu_epi32
#undef _mm512_mask_i32gather_epi32
static inline __m128i _mm_maskz_loadu_epi8(__mmask16 mask, const void* from) {
  return load_masked<int8_t, __m128i>(mask, from);
}
static inline __m256i _mm256_maskz_loadu_epi16(__mmask16 mask, const void* from) {
  return load_masked<int16_t, __m256i>(mask, from);
}
static inline __m512i _mm512_maskz_loadu_epi8(__mmask64 mask, const void* from) {
  return load_masked<int8_t, __m512i>(mask, from);
}
static inline __m512i _mm512_maskz_loadu_epi16(__mmask32 mask, const void* from) {
  return load_masked<int16_t, __m512i>(mask, from);
}
static inline __m512i _mm512_maskz_loadu_epi32(__mmask16 mask, const void* from) {
  return load_masked<int32_t, __m512i>(mask, from);
}
static inline void _mm_mask_storeu_epi32(void* to, __mmask8 mask, __m128i x) {
  store_masked<int32_t>(to, mask, x);
}
static inline void _mm256_mask_storeu_epi16(void* to, __mmask16 mask, __m256i x) {
  store_masked<int16_t>(to, mask, x);
}
static inline void _mm512_mask_storeu_epi16(void* to, __mmask32 mask, __m512i x) {
  store_masked<int16_t>(to, mask, x);
}
static inline void _mm512_mask_storeu_epi32(void* to, __mmask16 mask, __m512i x) {
  store_masked<int32_t>(to, mask, x);
}
static inline __m512i _mm512_mask_i32gather_epi32(__m512i other, __mmask16 mask, __m512i at,
                                                  const void* base, int scale) {
  return from_lanes<int32_t>([=, x = lanes<int32_t>(other), at = lanes<int32_t>(at)](size_t i) {
    int32_t lane = x[i];
    const char* from = static_cast<const char*>(base) + static_cast<int64_t>(at[i]) * scale;
    if ((mask >> i & 1) != 0) memcpy(&lane, from, sizeof lane);
    return lane;
  });
}

// Arithmetic.
#undef _mm256_dpbusd_avx_epi32
#undef _mm512_madd_epi16  // SIMDe 0.7.4: the arguments of the form with a mask
#undef _mm512_mulhi_epu16
#undef _mm512_reduce_add_epi32
#undef _mm512_reduce_add_epi64
#undef _mm512_sra_epi32
#undef _mm512_srai_epi32
#undef _mm512_srai_epi64
#undef _mm512_srav_epi32
#undef _mm512_srav_epi64
#undef _mm512_cvtepi8_epi32
#undef _mm512_cvtepi16_epi32
#undef _mm512_cvtepu16_epi32
#undef _mm512_cvtepi32_epi64
static inline __m256i _mm256_dpbusd_avx_epi32(__m256i sum, __m256i lhs, __m256i rhs) {
  return from_lanes<uint32_t, __m256i>(
      [sum = lanes<uint32_t>(sum), lhs = lanes<uint8_t>(lhs), rhs = lanes<int8_t>(rhs)](size_t i) {
        uint32_t total = sum[i];
        for (size_t k = 4 * i; k < 4 * i + 4; ++k) total += static_cast<uint32_t>(lhs[k] * rhs[k]);
        return total;
      });
}
static inline __m512i _mm512_madd_epi16(__m512i a, __m512i b) {
  return from_lanes<uint32_t>([a = lanes<int16_t>(a), b = lanes<int16_t>(b)](size_t i) {
    return static_cast<uint32_t>(a[2 * i] * b[2 * i]) +
           static_cast<uint32_t>(a[2 * i + 1] * b[2 * i + 1]);
  });
}
static inline __m512i _mm512_mulhi_epu16(__m512i a, __m512i b) {
  return from_lanes<uint16_t>([a = lanes<uint16_t>(a), b = lanes<uint16_t>(b)](size_t i) {
    return static_cast<uint32_t>(a[i]) * b[i] >> 16;
  });
}
static inline int32_t _mm512_reduce_add_epi32(__m512i x) { return sum_of<int32_t>(x); }
static inline int64_t _mm512_reduce_add_epi64(__m512i x) { return sum_of<int64_t>(x); }
static inline __m512i _mm512_sra_epi32(__m512i x, __m128i count) {
  return shift_all_right<int32_t>(x, lanes<uint64_t>(count)[0]);
}
static inline __m512i _mm512_srai_epi32(__m512i x, unsigned count) {
  return shift_all_right<int32_t>(x, count);
}
static inline __m512i _mm512_srai_epi64(__m512i x, unsigned count) {
  return shift_all_right<int64_t>(x, count);
}
static inline __m512i _mm512_srav_epi32(__m512i x, __m512i counts) {
  return shift_each_right<int32_t>(x, counts);
}
static inline __m512i _mm512_srav_epi64(__m512i x, __m512i counts) {
  return shift_each_right<int64_t>(x, counts);
}
static inline __m512i _mm512_cvtepi8_epi32(__m128i x) { return widen<int8_t>(x); }
static inline __m512i _mm512_cvtepi16_epi32(__m256i x) { return widen<int16_t>(x); }
static inline __m512i _mm512_cvtepu16_epi32(__m256i x) { return widen<uint16_t>(x); }
static inline __m512i _mm512_cvtepi32_epi64(__m256i x) {
  return from_lanes<int64_t>([x = lanes<int32_t>(x)](size_t i) { return x[i]; });
}

// The order of lanes.
#undef _mm512_movehdup_ps
#undef _mm512_mask_movehdup_ps
#undef _mm512_permutexvar_epi64  // a macro takes no call with commas between braces
#undef _mm512_shuffle_epi32
#undef _mm512_shuffle_i64x2
enum { _MM_PERM_BADC = 0x4E, _MM_PERM_CDAB = 0xB1 };
static inline __m512 _mm512_movehdup_ps(__m512 x) {
  return from_lanes<uint32_t, __m512>([x = lanes<uint32_t>(x)](size_t i) { return x[i | 1]; });
}
static inline __m512 _mm512_mask_movehdup_ps(__m512 other, __mmask16 mask, __m512 x) {
  return from_lanes<uint32_t, __m512>(
      [mask, other = lanes<uint32_t>(other), x = lanes<uint32_t>(x)](size_t i) {
        return (mask >> i & 1) != 0 ? x[i | 1] : other[i];
      });
}
static inline __m512i _mm512_permutexvar_epi64(__m512i from, __m512i x) {
  return from_lanes<uint64_t>(
      [from = lanes<uint64_t>(from), x = lanes<uint64_t>(x)](size_t i) { return x[from[i] & 7]; });
}
static inline __m512i _mm512_shuffle_epi32(__m512i x, int order) {
  return from_lanes<int32_t>([order, x = lanes<int32_t>(x)](size_t i) {
    return x[(i & ~size_t{3}) | (static_cast<size_t>(order) >> 2 * (i & 3) & 3)];
  });
}
static inline __m512i _mm512_shuffle_i64x2(__m512i a, __m512i b, int order) {
  return from_lanes<int64_t>([order, a = lanes<int64_t>(a), b = lanes<int64_t>(b)](size_t i) {
    const size_t quarter = static_cast<size_t>(order) >> 2 * (i / 2) & 3;
    return (i < 4 ? a : b)[2 * quarter + i % 2];
  });
}

// Masks.
#undef _kand_mask16
#undef _kandn_mask16
#undef _mm_test_epi8_mask
#undef _mm512_cmpeq_epi16_mask
#undef _mm512_cmplt_epi16_mask
static inline __mmask16 _kand_mask16(__mmask16 a, __mmask16 b) {
  return static_cast<__mmask16>(a & b);
}
static inline __mmask16 _kandn_mask16(__mmask16 a, __mmask16 b) {
  return static_cast<__mmask16>(~a & b);
}
static inline __mmask16 _mm_test_epi8_mask(__m128i a, __m128i b) {
  return mask_of<__mmask16>(
      16, [a = lanes<uint8_t>(a), b = lanes<uint8_t>(b)](size_t i) { return (a[i] & b[i]) != 0; });
}
static inline __mmask32 _mm512_cmpeq_epi16_mask(__m512i a, __m512i b) {
  return mask_of<__mmask32>(
      32, [a = lanes<int16_t>(a), b = lanes<int16_t>(b)](size_t i) { return a[i] == b[i]; });
}
static inline __mmask32 _mm512_cmplt_epi16_mask(__m512i a, __m512i b) {
  return mask_of<__mmask32>(
      32, [a = lanes<int16_t>(a), b = lanes<int16_t>(b)](size_t i) { return a[i] < b[i]; });
}

// Tiles. What faults in a processor ends the program: a tile without a shape, and products of tiles
// whose shapes do not fit.
namespace {

struct TileRegister {
  size_t rows, row_bytes;
  uint8_t data[16][64];
};

thread_local TileRegister tile_registers[8];

inline TileRegister& shaped_tile(int number) {
  TileRegister& tile = tile_registers[number];
  if (tile.rows == 0 || tile.row_bytes == 0) abort();
  return tile;
}

}  // namespace

// Bytes 16 to 31 of a shape are the bytes a row, of 16 bits each, bytes 48 to 55 the rows.
static inline void _tile_loadconfig(const void* shapes) {
  const uint8_t* bytes = static_cast<const uint8_t*>(shapes);
  memset(tile_registers, 0, sizeof tile_registers);
  if (bytes[0] != 1) abort();  // the palette
  for (size_t t = 0; t < 8; ++t) {
    uint16_t row_bytes = 0;
    memcpy(&row_bytes, bytes + 16 + 2 * t, sizeof row_bytes);
    if (row_bytes > 64 || bytes[48 + t] > 16) abort();
    tile_registers[t].row_bytes = row_bytes;
    tile_registers[t].rows = bytes[48 + t];
  }
}
static inline void _tile_release() { memset(tile_registers, 0, sizeof tile_registers); }
static inline void _tile_loadd(int number, const void* from, size_t stride) {
  TileRegister& tile = shaped_tile(number);
  memset(tile.data, 0, sizeof tile.data);
  for (size_t row = 0; row < tile.rows; ++row) {
    memcpy(tile.data[row], static_cast<const uint8_t*>(from) + row * stride, tile.row_bytes);
  }
}
static inline void _tile_stored(int number, void* to, size_t stride) {
  const TileRegister& tile = shaped_tile(number);
  for (size_t row = 0; row < tile.rows; ++row) {
    memcpy(static_cast<uint8_t*>(to) + row * stride, tile.data[row], tile.row_bytes);
  }
}
static inline void _tile_dpbusd(int sums_number, int lhs_number, int rhs_number) {
  TileRegister& sums = shaped_tile(sums_number);
  const TileRegister& lhs = shaped_tile(lhs_number);
  const TileRegister& rhs = shaped_tile(rhs_number);
  if (sums.rows != lhs.rows || sums.row_bytes != rhs.row_bytes || lhs.row_bytes != 4 * rhs.rows) {
    abort();
  }
  for (size_t row = 0; row < sums.rows; ++row) {
    for (size_t column = 0; column < sums.row_bytes; column += 4) {
      uint32_t sum = 0;
      memcpy(&sum, &sums.data[row][column], sizeof sum);
      for (size_t k = 0; k < lhs.row_bytes; ++k) {
        const int8_t weight = static_cast<int8_t>(rhs.data[k / 4][column + k % 4]);
        sum += static_cast<uint32_t>(lhs.data[row][k] * weight);
      }
      memcpy(&sums.data[row][column], &sum, sizeof sum);
    }
  }
}
