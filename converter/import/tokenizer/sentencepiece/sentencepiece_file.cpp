// SPDX-License-Identifier: Apache-2.0
// The wire format of protocol buffers (protobuf.dev/programming-guides/encoding): fields of a key,
// which is number * 8 + type, and a value.
#include "converter/import/tokenizer/sentencepiece/sentencepiece_file.hpp"

#include <cstring>

#include "converter/convert_error.hpp"

namespace embert::convert {
namespace {

enum WireType : std::uint64_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

struct Field {
  std::uint64_t number = 0;
  std::uint64_t type = kVarint;
  std::uint64_t value = 0;  // of kVarint and the fixed types
  std::string_view bytes;   // of kBytes
};

// Hands out the fields of a message.
class WireReader {
 public:
  WireReader(std::string_view bytes, const std::string& file) : bytes_(bytes), file_(file) {}

  bool next(Field* field) {
    if (bytes_.empty()) return false;
    const std::uint64_t key = varint();
    field->number = key >> 3;
    field->type = key & 7;
    switch (field->type) {
      case kVarint:
        field->value = varint();
        return true;
      case kFixed64:
        field->value = fixed(8);
        return true;
      case kFixed32:
        field->value = fixed(4);
        return true;
      case kBytes:
        field->bytes = take(varint());
        return true;
      default:
        fail("wire type " + std::to_string(field->type));
    }
  }

  [[noreturn]] void fail(const std::string& what) const {
    throw ConvertError(file_ + ": is no model file of sentencepiece: " + what);
  }

 private:
  std::string_view take(std::uint64_t count) {
    if (count > bytes_.size()) fail("a field of " + std::to_string(count) + " bytes is cut off");
    const std::string_view out = bytes_.substr(0, count);
    bytes_.remove_prefix(count);
    return out;
  }

  std::uint64_t fixed(std::size_t count) {
    std::uint64_t value = 0;
    std::memcpy(&value, take(count).data(), count);
    return value;
  }

  std::uint64_t varint() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      const auto byte = static_cast<unsigned char>(take(1)[0]);
      value |= static_cast<std::uint64_t>(byte & 0x7F) << shift;
      if ((byte & 0x80) == 0) return value;
    }
    fail("a number has more than 64 bits");
  }

  std::string_view bytes_;
  const std::string& file_;
};

SentencePiece parse_piece(std::string_view bytes, const std::string& file) {
  WireReader reader(bytes, file);
  SentencePiece out;
  for (Field field; reader.next(&field);) {
    if (field.number == 1 && field.type == kBytes) out.piece = field.bytes;
    if (field.number == 2 && field.type == kFixed32) {
      const auto bits = static_cast<std::uint32_t>(field.value);
      std::memcpy(&out.score, &bits, sizeof(bits));
    }
    if (field.number == 3 && field.type == kVarint) out.type = field.value;
  }
  return out;
}

}  // namespace

SentencePieceFile parse_sentencepiece(std::string_view bytes, const std::string& file) {
  constexpr std::uint64_t kPieces = 1, kTrainer = 2, kNormalizer = 3;  // fields of the model
  constexpr std::uint64_t kModelType = 3, kUnkId = 40;                 // of the trainer
  constexpr std::uint64_t kCharsmap = 2;                               // of the normalizer
  WireReader reader(bytes, file);
  SentencePieceFile out;
  for (Field field; reader.next(&field);) {
    if (field.type != kBytes) continue;
    if (field.number == kPieces) out.pieces.push_back(parse_piece(field.bytes, file));
    if (field.number == kTrainer) {
      WireReader trainer(field.bytes, file);
      for (Field part; trainer.next(&part);) {
        if (part.number == kModelType && part.type == kVarint) out.model_type = part.value;
        if (part.number == kUnkId && part.type == kVarint) out.unk_id = part.value;
      }
    }
    if (field.number == kNormalizer) {
      WireReader normalizer(field.bytes, file);
      for (Field part; normalizer.next(&part);) {
        if (part.number == kCharsmap && part.type == kBytes) {
          out.charsmap.assign(part.bytes.begin(), part.bytes.end());
        }
      }
    }
  }
  if (out.pieces.empty()) reader.fail("it has no pieces");
  return out;
}

}  // namespace embert::convert
