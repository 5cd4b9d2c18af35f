// SPDX-License-Identifier: Apache-2.0
// The part of the tokenizer section that belongs to a byte-level BPE; TOKENIZER_FORMAT.md is the
// specification.
#ifndef EMBERT_RUNTIME_FORMAT_BYTE_PAIR_FORMAT_HPP_
#define EMBERT_RUNTIME_FORMAT_BYTE_PAIR_FORMAT_HPP_

#include <stdint.h>

namespace embert {

/// Symbols 0..255 are the bytes; symbol 256 + i is what merge i makes.
constexpr uint32_t kByteSymbols = 256;
constexpr uint32_t kMaxPairProbes = 64;
constexpr uint32_t kMaxPairSlots = 1u << 22;

enum BytePairFlags : uint32_t {
  kBytePairCompose = 1u << 0,      // the text is brought to NFC
  kBytePairPrefixSpace = 1u << 1,  // a space is put before each text that does not begin with one
  kBytePairSplit = 1u << 2,        // GPT-2's regular expression splits the text into words
  kBytePairAllFlags = (1u << 3) - 1,
};

/// Behind the common arrays of a section of model kBpe.
struct BytePairHeader {
  uint32_t flags;
  uint32_t merge_count;
  uint32_t pair_slot_count;
  uint32_t pair_probes;
  uint32_t reserved[12];
};
static_assert(sizeof(BytePairHeader) == 64, "the header is one line of 64 bytes");

// A slot is 0, or the number of a symbol below 11 bits of the hash of its parts.
constexpr uint32_t kPairSymbolBits = 21;
constexpr uint32_t kPairSymbolMask = (1u << kPairSymbolBits) - 1;
constexpr uint32_t kPairFingerprintMask = 0xFFFFFFFF >> kPairSymbolBits;

/// 32 bits: the odd factors are the fractional part of the golden ratio and primes of xxHash32.
inline uint32_t hash_pair(uint32_t left, uint32_t right) {
  uint32_t hash = left * 0x9E3779B1u + right * 0x85EBCA77u;
  hash = (hash ^ (hash >> 15)) * 0xC2B2AE3Du;
  return hash ^ (hash >> 13);
}

/// The slot where the search for a pair begins: the high bits choose it.
inline uint32_t pair_slot(uint32_t hash, uint32_t slot_count) {
  return static_cast<uint32_t>((uint64_t{hash} * slot_count) >> 32);
}

inline uint32_t pair_fingerprint(uint32_t hash) { return hash & kPairFingerprintMask; }

}  // namespace embert

#endif  // EMBERT_RUNTIME_FORMAT_BYTE_PAIR_FORMAT_HPP_
