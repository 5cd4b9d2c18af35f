// SPDX-License-Identifier: Apache-2.0
// A model file of sentencepiece: the parts of its protocol buffer that a tokenizer needs
// (sentencepiece_model.proto of github.com/google/sentencepiece).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace embert::convert {

struct SentencePiece {
  enum Type : std::uint64_t { kNormal = 1, kUnknown = 2, kControl = 3, kUserDefined = 4 };
  std::string piece;
  float score = 0;
  std::uint64_t type = kNormal;
};

struct SentencePieceFile {
  static constexpr std::uint64_t kUnigram = 1;  ///< model_type
  std::vector<SentencePiece> pieces;            ///< by id
  std::uint64_t model_type = kUnigram;
  std::uint64_t unk_id = 0;
  std::vector<std::uint8_t> charsmap;  ///< precompiled_charsmap
};

/// Throws ConvertError, whose message begins with `file`.
SentencePieceFile parse_sentencepiece(std::string_view bytes, const std::string& file);

}  // namespace embert::convert
