// SPDX-License-Identifier: Apache-2.0
#include "runtime/tasks/token_text.hpp"

#include <string.h>

#include "runtime/model/model.hpp"
#include "runtime/model/struct_size.hpp"
#include "runtime/tokenizer/bpe/byte_alphabet.hpp"
#include "runtime/tokenizer/unigram/unigram_section.hpp"

namespace embert {
namespace {

/// A text that loses its first blank, and how many bytes behind it stay.
struct Replacement {
  char text[5];
  uint8_t bytes, kept;
};
/// In the order of transformers' clean_up_tokenization.
constexpr Replacement kCleanUp[] = {{" .", 2, 1},   {" ?", 2, 1},   {" !", 2, 1},  {" ,", 2, 1},
                                    {" ' ", 3, 1},  {" n't", 4, 3}, {" 'm", 3, 2}, {" 's", 3, 2},
                                    {" 've", 4, 3}, {" 're", 4, 3}};

/// Replaces in place, from left to right. Returns the new length.
size_t replace_all(char* text, size_t bytes, const Replacement& replacement) {
  size_t out = 0, in = 0;
  while (in < bytes) {
    size_t same = 0;
    while (same < replacement.bytes && in + same < bytes &&
           text[in + same] == replacement.text[same])
      ++same;
    if (same == replacement.bytes) {
      for (size_t i = 1; i <= replacement.kept; ++i) text[out++] = replacement.text[i];
      in += replacement.bytes;
    } else {
      text[out++] = text[in++];
    }
  }
  return out;
}

size_t clean_up(char* text, size_t bytes) {
  for (const Replacement& replacement : kCleanUp) bytes = replace_all(text, bytes, replacement);
  return bytes;
}

bool is_special(const TokenizerHeader& header, uint32_t id) {
  return id == header.cls_id || id == header.sep_id || id == header.pad_id ||
         id == header.mask_id || id == header.unk_id;
}

bool starts_with_prefix(const TokenizerHeader& header, const char* string, size_t bytes) {
  if (header.prefix_bytes == 0 || bytes < header.prefix_bytes) return false;
  for (size_t i = 0; i < header.prefix_bytes; ++i) {
    if (static_cast<uint8_t>(string[i]) != header.prefix[i]) return false;
  }
  return true;
}

embert_status find_token(const TokenizerView& tokenizer, int32_t id, const char** string,
                         size_t* bytes) {
  const TokenizerStatus status =
      tokenizer_token(tokenizer, static_cast<uint32_t>(id), string, bytes);
  return status == TokenizerStatus::kOk ? EMBERT_STATUS_OK : EMBERT_STATUS_TOKEN_OUT_OF_RANGE;
}

/// WordPiece: pieces with a prefix join, others get a blank.
embert_status join_pieces(const TokenizerView& tokenizer, const int32_t* ids, size_t count,
                          const embert_detokenize_options& options, embert_text_buffer* buffer) {
  const TokenizerHeader& header = *tokenizer.header;
  char* text = buffer->text;
  size_t length = 0, needed = 0;
  bool first = true;
  for (size_t i = 0; i < count; ++i) {
    const char* string = nullptr;
    size_t string_bytes = 0;
    const embert_status status = find_token(tokenizer, ids[i], &string, &string_bytes);
    if (status != EMBERT_STATUS_OK) return status;
    if (options.skip_special != 0 && is_special(header, static_cast<uint32_t>(ids[i]))) continue;
    const bool joined = !first && starts_with_prefix(header, string, string_bytes);
    const size_t skipped = joined ? header.prefix_bytes : 0, blank = first || joined ? 0 : 1;
    const size_t piece = blank + string_bytes - skipped;
    needed = length + piece > needed ? length + piece : needed;
    first = false;
    if (needed > buffer->capacity) {
      length += piece;  // from here on the text is only counted
      continue;
    }
    if (blank != 0) text[length] = ' ';
    memcpy(text + length + blank, string + skipped, string_bytes - skipped);
    length += clean_up(text + length, piece);
  }
  buffer->bytes = needed;
  if (needed > buffer->capacity) return EMBERT_STATUS_BUFFER_TOO_SMALL;
  buffer->bytes = options.clean_up != 0 ? clean_up(text, length) : length;
  return EMBERT_STATUS_OK;
}

/// Bytes that become text as they come. What is not UTF-8 becomes U+FFFD.
class ByteText {
 public:
  explicit ByteText(embert_text_buffer* buffer) : buffer_(*buffer) {}

  void put(uint8_t byte) {
    pending_[pending_bytes_++] = byte;
    if (pending_bytes_ == sizeof(pending_)) take_char();
  }
  void finish() {
    while (pending_bytes_ != 0) take_char();
  }
  /// Also counts what did not fit; SIZE_MAX is that or more.
  size_t length() const { return length_; }

 private:
  void take_char() {
    const Utf8Char c = decode_utf8(pending_, pending_ + pending_bytes_);
    uint8_t utf8[4];
    const uint32_t bytes = encode_utf8(c.code_point, utf8);
    if (length_ <= buffer_.capacity && bytes <= buffer_.capacity - length_) {
      memcpy(buffer_.text + length_, utf8, bytes);
    }
    length_ = length_ <= SIZE_MAX - bytes ? length_ + bytes : SIZE_MAX;
    pending_bytes_ -= c.bytes;
    for (uint32_t i = 0; i < pending_bytes_; ++i) pending_[i] = pending_[c.bytes + i];
  }

  embert_text_buffer& buffer_;
  size_t length_ = 0;
  uint8_t pending_[4] = {};  // the longest sequence of UTF-8
  uint32_t pending_bytes_ = 0;
};

struct TokenIds {
  const TokenizerView& tokenizer;
  const int32_t* ids;  ///< [count]
  size_t count;
};

/// The strings of the tokens one after another; `put` writes one of them.
template <typename Put>
embert_status join_strings(const TokenIds& tokens, const embert_detokenize_options& options,
                           const Put& put, embert_text_buffer* buffer) {
  const TokenizerView& tokenizer = tokens.tokenizer;
  ByteText text(buffer);
  bool first = true;
  for (size_t i = 0; i < tokens.count; ++i) {
    const char* string = nullptr;
    size_t bytes = 0;
    const embert_status status = find_token(tokenizer, tokens.ids[i], &string, &bytes);
    if (status != EMBERT_STATUS_OK) return status;
    if (options.skip_special != 0 &&
        is_special(*tokenizer.header, static_cast<uint32_t>(tokens.ids[i])))
      continue;
    const uint8_t* begin = reinterpret_cast<const uint8_t*>(string);
    put(text, begin, begin + bytes, first);
    first = false;
  }
  text.finish();
  buffer->bytes = text.length();
  if (text.length() > buffer->capacity) return EMBERT_STATUS_BUFFER_TOO_SMALL;
  if (options.clean_up != 0) buffer->bytes = clean_up(buffer->text, text.length());
  return EMBERT_STATUS_OK;
}

/// Byte-level BPE: the bytes that the characters stand for. An added token that is no string of the
/// byte alphabet stands as it is.
void put_bytes(ByteText& text, const uint8_t* at, const uint8_t* end, bool /*first*/) {
  const bool of_bytes = is_byte_string(at, static_cast<uint32_t>(end - at));
  while (at < end) {
    const Utf8Char c = decode_utf8(at, end);
    if (of_bytes) {
      text.put(static_cast<uint8_t>(byte_of_character(c.code_point)));
    } else {
      for (uint32_t k = 0; k < c.bytes; ++k) text.put(at[k]);
    }
    at += c.bytes;
  }
}

/// Unigram: each word mark is a space. Those of the first token vanish where the tokenizer puts one
/// before a text. So does the decoder Metaspace of the package tokenizers.
struct PutMarked {
  const UnigramHeader& header;

  void operator()(ByteText& text, const uint8_t* at, const uint8_t* end, bool first) const {
    const bool drops =
        first && (header.flags & (kUnigramPrependAlways | kUnigramPrependFirst)) != 0;
    while (at < end) {
      const Utf8Char c = decode_utf8(at, end);
      if (c.code_point != header.word_mark) {
        for (uint32_t k = 0; k < c.bytes; ++k) text.put(at[k]);
      } else if (!drops) {
        text.put(' ');
      }
      at += c.bytes;
    }
  }
};

/// As transformers judges tokens without a prefix for subwords: a token that is not at the begin of
/// the text continues a word unless it begins with a space or stands behind one. `space` is the
/// character that strings of tokens have for it.
embert_status mark_without_space(const TokenIds& tokens, uint32_t space,
                                 const uint32_t* char_offsets, uint8_t* is_subword) {
  const TokenizerView& tokenizer = tokens.tokenizer;
  uint8_t utf8[4];
  const uint32_t length = encode_utf8(space, utf8);
  bool behind_space = false;
  for (size_t i = 0; i < tokens.count; ++i) {
    const char* string = nullptr;
    size_t bytes = 0;
    const embert_status status = find_token(tokenizer, tokens.ids[i], &string, &bytes);
    if (status != EMBERT_STATUS_OK) return status;
    const bool unknown = static_cast<uint32_t>(tokens.ids[i]) == tokenizer.header->unk_id;
    const bool fits = bytes >= length;
    const bool begins = fits && memcmp(string, utf8, length) == 0;
    is_subword[i] = !unknown && char_offsets[2 * i] != 0 && !behind_space && !begins;
    behind_space = fits && memcmp(string + bytes - length, utf8, length) == 0;
  }
  return EMBERT_STATUS_OK;
}

TokenizerModel kind_of(const TokenizerView& tokenizer) {
  return static_cast<TokenizerModel>(tokenizer.header->model);
}

}  // namespace

embert_status detokenize(const TokenizerView& tokenizer, const int32_t* ids, size_t count,
                         const embert_detokenize_options& options, embert_text_buffer* buffer) {
  const TokenIds tokens = {tokenizer, ids, count};
  switch (kind_of(tokenizer)) {
    case TokenizerModel::kBpe:
      return join_strings(tokens, options, put_bytes, buffer);
    case TokenizerModel::kUnigram: {
      const PutMarked put = {*unigram_section(tokenizer).header};
      return join_strings(tokens, options, put, buffer);
    }
    default:
      return join_pieces(tokenizer, ids, count, options, buffer);
  }
}

embert_status mark_subwords(const TokenizerView& tokenizer, const int32_t* ids,
                            const uint32_t* char_offsets, size_t tokens, uint8_t* is_subword) {
  constexpr uint32_t kByteSpace = 0x120;  // of the byte alphabet
  if (kind_of(tokenizer) == TokenizerModel::kBpe) {
    return mark_without_space({tokenizer, ids, tokens}, kByteSpace, char_offsets, is_subword);
  }
  if (kind_of(tokenizer) == TokenizerModel::kUnigram) {
    const uint32_t mark = unigram_section(tokenizer).header->word_mark;
    return mark_without_space({tokenizer, ids, tokens}, mark, char_offsets, is_subword);
  }
  for (size_t i = 0; i < tokens; ++i) {
    const char* string = nullptr;
    size_t bytes = 0;
    const embert_status status = find_token(tokenizer, ids[i], &string, &bytes);
    if (status != EMBERT_STATUS_OK) return status;
    uint32_t chars = 0;
    for (size_t byte = 0; byte < bytes; ++byte)
      chars += (static_cast<uint8_t>(string[byte]) & 0xC0) != 0x80;
    const bool unknown = static_cast<uint32_t>(ids[i]) == tokenizer.header->unk_id;
    is_subword[i] = !unknown && chars != char_offsets[2 * i + 1] - char_offsets[2 * i];
  }
  return EMBERT_STATUS_OK;
}

}  // namespace embert

embert_status embert_detokenize(const embert_model* object, const int32_t* ids, size_t count,
                                const embert_detokenize_options* options,
                                embert_text_buffer* text) {
  using namespace embert;
  if (object == nullptr || ids == nullptr || text == nullptr || text->text == nullptr) {
    return EMBERT_STATUS_NULL_ARGUMENT;
  }
  embert_detokenize_options chosen = {};
  if (options != nullptr) {
    const embert_status status = read_struct(*options, &chosen);
    if (status != EMBERT_STATUS_OK) return status;
  }
  if (chosen.skip_special > 1 || chosen.clean_up > 1) return EMBERT_STATUS_INVALID_OPTION;
  if (count == 0) return EMBERT_STATUS_EMPTY_INPUT;
  const Model model = model_of(*object);
  if (model.has_tokenizer == 0) return EMBERT_STATUS_NO_TOKENIZER;
  return detokenize(model.tokenizer, ids, count, chosen, text);
}

embert_status embert_mark_subwords(const embert_model* object, const int32_t* ids,
                                   const uint32_t* char_offsets, size_t tokens,
                                   uint8_t* is_subword) {
  using namespace embert;
  if (object == nullptr || ids == nullptr || char_offsets == nullptr || is_subword == nullptr) {
    return EMBERT_STATUS_NULL_ARGUMENT;
  }
  if (tokens == 0) return EMBERT_STATUS_EMPTY_INPUT;
  const Model model = model_of(*object);
  if (model.has_tokenizer == 0) return EMBERT_STATUS_NO_TOKENIZER;
  return mark_subwords(model.tokenizer, ids, char_offsets, tokens, is_subword);
}
