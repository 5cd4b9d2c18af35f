// SPDX-License-Identifier: Apache-2.0
// Validates a tokenizer section once, by the rules of TOKENIZER_FORMAT.md. Tokenising needs no
// checks afterwards.
#include "runtime/tokenizer/models.hpp"
#include "runtime/tokenizer/section_checks.hpp"
#include "runtime/tokenizer/tokenizer.hpp"
#include "runtime/tokenizer/vocabulary.hpp"

namespace embert {
namespace {

using Status = TokenizerStatus;

// Fields that only WordPiece has. Other models leave them zero.
bool wordpiece_fields_ok(const TokenizerHeader& h) {
  if (h.version == kTokenizerVersion) {
    return h.model == static_cast<uint32_t>(TokenizerModel::kWordPiece) &&
           h.flags <= kTokenizerAllFlags && h.word_unit_count >= kUnitSpan &&
           h.max_word_chars >= 1 && h.max_word_chars <= kMaxWordChars &&
           h.prefix_bytes <= kMaxPrefixBytes;
  }
  return h.model != static_cast<uint32_t>(TokenizerModel::kWordPiece) &&
         h.model < kTokenizerModels && (h.flags & ~uint32_t{kTokenizerModelFlags}) == 0 &&
         (h.word_unit_count >= kUnitSpan || h.word_unit_count == 0) && h.max_word_chars == 0 &&
         h.prefix_bytes == 0 && h.continuation_root == 0;
}

Status check_header(const TokenizerHeader& h) {
  const bool has_added = (h.flags & (kTokenizerHasRawTokens | kTokenizerHasNormalizedTokens)) != 0;
  bool ok = wordpiece_fields_ok(h);
  ok = ok && h.token_count >= 1 && h.token_count <= kMaxTokenizerTokens;
  ok = ok && h.word_unit_count <= kMaxTokenizerUnits;
  ok = ok && h.added_count <= kMaxAddedTokens && (h.added_count != 0) == has_added;
  ok = ok && (has_added ? h.added_unit_count >= kUnitSpan : h.added_unit_count == 0);
  ok = ok && h.added_unit_count <= kMaxTokenizerUnits;
  const uint32_t string_bytes = max_string_bytes(static_cast<TokenizerModel>(h.model));
  ok = ok && h.string_bytes <= h.token_count * string_bytes;
  ok = ok && h.max_tokens <= kMaxTokensLimit;
  for (uint32_t i = 0; ok && i < kMaxPrefixBytes; ++i) ok = i < h.prefix_bytes || h.prefix[i] == 0;
  for (const uint32_t reserved : h.reserved) ok = ok && reserved == 0;
  if (!ok) return Status::kSectionBadHeader;
  if (!has_tokenizer_model(static_cast<TokenizerModel>(h.model))) {
    return Status::kSectionModelNotBuilt;
  }
  return is_utf8(h.prefix, h.prefix + h.prefix_bytes) ? Status::kOk : Status::kSectionBadUtf8;
}

Status check_ids(const TokenizerHeader& h) {
  if (h.version == kTokenizerVersion && h.unk_id == kNoToken) return Status::kSectionBadId;
  const uint32_t optional[] = {h.unk_id, h.cls_id, h.sep_id, h.pad_id, h.mask_id};
  for (const uint32_t id : optional) {
    if (id != kNoToken && id >= h.token_count) return Status::kSectionBadId;
  }
  return Status::kOk;
}

Status check_template(const TokenizerTemplate& t, uint32_t token_count, uint32_t texts) {
  if (t.count > kMaxTemplatePieces) return Status::kSectionBadTemplate;
  uint32_t seen = 0;
  for (uint32_t i = 0; i < kMaxTemplatePieces; ++i) {
    const TokenizerTemplatePiece& piece = t.pieces[i];
    if (i >= t.count) {
      if (piece.token_id != 0 || piece.type_id != 0) return Status::kSectionBadTemplate;
      continue;
    }
    if (piece.type_id > kMaxTypeId) return Status::kSectionBadTemplate;
    if (piece.token_id == kSequenceA || piece.token_id == kSequenceB) {
      if (piece.token_id != (seen == 0 ? kSequenceA : kSequenceB))
        return Status::kSectionBadTemplate;
      ++seen;
    } else if (piece.token_id >= token_count) {
      return Status::kSectionBadTemplate;
    }
  }
  return seen == texts ? Status::kOk : Status::kSectionBadTemplate;
}

Status check_strings(const TokenizerView& view) {
  const TokenizerHeader& h = *view.header;
  if (view.string_blocks[0] != 0 || view.string_starts[0] != 0) return Status::kSectionBadStrings;
  const uint32_t most = max_string_bytes(static_cast<TokenizerModel>(h.model));
  uint32_t begin = 0;
  for (uint32_t i = 0; i < h.token_count; ++i) {
    const uint32_t block = view.string_blocks[(i + 1) / kStringBlock];
    if (block > h.string_bytes) return Status::kSectionBadStrings;
    const uint32_t end = string_begin(view, i + 1);
    if (end < begin || end - begin > most || end > h.string_bytes)
      return Status::kSectionBadStrings;
    if (!is_utf8(view.strings + begin, view.strings + end)) return Status::kSectionBadUtf8;
    begin = end;
  }
  return begin == h.string_bytes ? Status::kOk : Status::kSectionBadStrings;
}

Status check_tries(const TokenizerView& view) {
  const TokenizerHeader& h = *view.header;
  if (h.word_unit_count == 0) {
    if (h.word_root != 0) return Status::kSectionBadUnit;
  } else {
    if (h.word_root > h.word_unit_count - kUnitSpan ||
        h.continuation_root > h.word_unit_count - kUnitSpan) {
      return Status::kSectionBadUnit;
    }
    const Status words = check_units(view.word_units, h.word_unit_count, h.token_count);
    if (words != Status::kOk) return words;
  }
  if (h.added_unit_count == 0) {
    return h.raw_root == 0 && h.normalized_root == 0 ? Status::kOk : Status::kSectionBadUnit;
  }
  if (h.raw_root > h.added_unit_count - kUnitSpan ||
      h.normalized_root > h.added_unit_count - kUnitSpan) {
    return Status::kSectionBadUnit;
  }
  return check_units(view.added_units, h.added_unit_count, h.added_count);
}

Status check_added(const TokenizerView& view) {
  for (uint32_t i = 0; i < view.header->added_count; ++i) {
    const AddedTokenRecord& token = view.added_tokens[i];
    if (token.id >= view.header->token_count || token.flags > kAddedTokenAllFlags)
      return Status::kSectionBadAddedToken;
  }
  return Status::kOk;
}

void collect_first_bytes(const TokenizerView& view, uint32_t root, uint32_t bits[8]) {
  for (uint32_t byte = 0; byte < 256; ++byte) {
    const bool used = child_unit(view.added_units, root, static_cast<uint8_t>(byte)) != 0;
    bits[byte >> 5] |= (used ? 1u : 0u) << (byte & 31);
  }
}

Status locate_model(SectionLayout& layout, const TokenizerView& view) {
  switch (static_cast<TokenizerModel>(view.header->model)) {
    case TokenizerModel::kWordPiece:
      break;
    case TokenizerModel::kUnigram:
      if constexpr (kHasUnigram) return locate_unigram(layout, view);
      break;
    case TokenizerModel::kBpe:
      if constexpr (kHasBpe) return locate_bpe(layout, view);
      break;
  }
  return Status::kOk;
}

Status check_model(const TokenizerView& view) {
  switch (static_cast<TokenizerModel>(view.header->model)) {
    case TokenizerModel::kWordPiece:
      break;
    case TokenizerModel::kUnigram:
      if constexpr (kHasUnigram) return check_unigram(view);
      break;
    case TokenizerModel::kBpe:
      if constexpr (kHasBpe) return check_bpe(view);
      break;
  }
  return Status::kOk;
}

Status locate(const uint8_t* section, size_t bytes, TokenizerView* view) {
  if (reinterpret_cast<uintptr_t>(section) % kTokenizerAlignment != 0)
    return Status::kSectionMisaligned;
  if (bytes < sizeof(TokenizerHeader)) return Status::kSectionTruncated;
  const TokenizerHeader& h = *reinterpret_cast<const TokenizerHeader*>(section);
  if (h.magic != kTokenizerMagic) return Status::kSectionBadMagic;
  if (h.version != kTokenizerVersion && h.version != kTokenizerVersionOfModels)
    return Status::kSectionBadVersion;
  if (bytes < h.section_bytes) return Status::kSectionTruncated;
  if (bytes > h.section_bytes) return Status::kSectionBadSize;
  const Status header = check_header(h);
  if (header != Status::kOk) return header;
  SectionLayout layout(section, bytes);
  const uint64_t blocks = (h.token_count + kStringBlock) / kStringBlock;
  const uint8_t* const word_units = layout.take(uint64_t{h.word_unit_count} * sizeof(uint32_t));
  const uint8_t* const added_units = layout.take(uint64_t{h.added_unit_count} * sizeof(uint32_t));
  const uint8_t* const added_tokens =
      layout.take(uint64_t{h.added_count} * sizeof(AddedTokenRecord));
  const uint8_t* const string_blocks = layout.take(blocks * sizeof(uint32_t));
  const uint8_t* const string_starts =
      layout.take((uint64_t{h.token_count} + 1) * sizeof(uint16_t));
  const uint8_t* const strings = layout.take(h.string_bytes);
  view->header = &h;
  view->word_units = reinterpret_cast<const uint32_t*>(word_units);
  view->added_units = reinterpret_cast<const uint32_t*>(added_units);
  view->added_tokens = reinterpret_cast<const AddedTokenRecord*>(added_tokens);
  view->string_blocks = reinterpret_cast<const uint32_t*>(string_blocks);
  view->string_starts = reinterpret_cast<const uint16_t*>(string_starts);
  view->strings = strings;
  const Status model = locate_model(layout, *view);
  if (model != Status::kOk) return model;
  if (!layout.full()) return Status::kSectionBadSize;
  return layout.clean() ? Status::kOk : Status::kSectionBadPadding;
}

Status check_contents(const TokenizerView& view) {
  const TokenizerHeader& h = *view.header;
  Status status = check_ids(h);
  if (status == Status::kOk) status = check_template(h.single, h.token_count, 1);
  if (status == Status::kOk) status = check_template(h.pair, h.token_count, 2);
  if (status == Status::kOk) status = check_strings(view);
  if (status == Status::kOk) status = check_tries(view);
  if (status == Status::kOk) status = check_added(view);
  if (status == Status::kOk) status = check_model(view);
  return status;
}

}  // namespace

TokenizerStatus tokenizer_open(const uint8_t* section, size_t bytes, TokenizerView* view) {
  if (view == nullptr) return Status::kNullArgument;
  *view = {};
  if (section == nullptr) return Status::kNullArgument;
  Status status = locate(section, bytes, view);
  if (status == Status::kOk) status = check_contents(*view);
  if (status != Status::kOk) {
    *view = {};
    return status;
  }
  const TokenizerHeader& h = *view->header;
  if ((h.flags & kTokenizerHasRawTokens) != 0)
    collect_first_bytes(*view, h.raw_root, view->raw_first_bytes);
  if ((h.flags & kTokenizerHasNormalizedTokens) != 0) {
    collect_first_bytes(*view, h.normalized_root, view->normalized_first_bytes);
  }
  return Status::kOk;
}

TokenizerStatus tokenizer_token(const TokenizerView& view, uint32_t id, const char** string,
                                size_t* bytes) {
  if (view.header == nullptr || string == nullptr || bytes == nullptr) return Status::kNullArgument;
  if (id >= view.header->token_count) return Status::kTokenOutOfRange;
  const uint32_t begin = string_begin(view, id);
  *string = reinterpret_cast<const char*>(view.strings + begin);
  *bytes = string_begin(view, id + 1) - begin;
  return Status::kOk;
}

const char* tokenizer_status_name(TokenizerStatus status) {
  switch (status) {
    case Status::kOk:
      return "ok";
    case Status::kNullArgument:
      return "null_argument";
    case Status::kBadOption:
      return "bad_option";
    case Status::kTextTooLong:
      return "text_too_long";
    case Status::kCapacityTooSmall:
      return "capacity_too_small";
    case Status::kStrideTooLarge:
      return "stride_too_large";
    case Status::kSequenceTooShort:
      return "sequence_too_short";
    case Status::kNoSecondSequence:
      return "no_second_sequence";
    case Status::kWindowOutOfRange:
      return "window_out_of_range";
    case Status::kTokenOutOfRange:
      return "token_out_of_range";
    case Status::kSectionMisaligned:
      return "section_misaligned";
    case Status::kSectionTruncated:
      return "section_truncated";
    case Status::kSectionBadMagic:
      return "section_bad_magic";
    case Status::kSectionBadVersion:
      return "section_bad_version";
    case Status::kSectionBadHeader:
      return "section_bad_header";
    case Status::kSectionBadSize:
      return "section_bad_size";
    case Status::kSectionBadPadding:
      return "section_bad_padding";
    case Status::kSectionBadId:
      return "section_bad_id";
    case Status::kSectionBadTemplate:
      return "section_bad_template";
    case Status::kSectionBadStrings:
      return "section_bad_strings";
    case Status::kSectionBadUtf8:
      return "section_bad_utf8";
    case Status::kSectionBadUnit:
      return "section_bad_unit";
    case Status::kSectionModelNotBuilt:
      return "section_model_not_built";
    case Status::kSectionBadModel:
      return "section_bad_model";
    case Status::kSectionBadAddedToken:
      return "section_bad_added_token";
  }
  return "unknown";
}

}  // namespace embert
