// SPDX-License-Identifier: Apache-2.0
#include "converter/calibrate/tokens/calibration_tokens.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <memory>

#include "converter/convert_error.hpp"
#include "converter/export/write_blob.hpp"
#include "converter/quantize/encode_integers.hpp"
#include "converter/verify/integer_model.hpp"
#include "kernels/arithmetic/layout.hpp"

namespace embert::convert {
namespace {

constexpr std::size_t kPathBytes = 400;  // of a path in a message

QuantizedDense empty_dense(std::size_t outputs, std::size_t inputs) {
  QuantizedDense dense;
  dense.outputs = pad_columns(outputs);
  dense.inputs = inputs;
  dense.weights.resize(dense.outputs * inputs);
  dense.bias.resize(dense.outputs);
  dense.multiplier.resize(dense.outputs);
  dense.residual.resize(dense.outputs);
  dense.constant.resize(dense.outputs);
  return dense;
}

// The smallest model that can carry a tokenizer: the runtime tokenizes only with a whole blob.
std::vector<std::uint8_t> tokenizer_blob(const std::vector<std::uint8_t>& section,
                                         const StackConfig& config, int max_tokens) {
  QuantizedModel model;
  QuantizedStack& stack = model.stacks.emplace_back();
  BlobStack& record = stack.record;
  record.hidden_size = record.head_size = record.type_vocab_size = 1;
  record.vocab_size = static_cast<std::uint32_t>(config.vocab_size);
  record.max_positions = static_cast<std::uint32_t>(max_tokens);
  record.embedding_scale = record.hidden_scale = std::bit_cast<std::uint32_t>(1.0f);
  stack.word_embeddings.resize(record.vocab_size);
  stack.word_multipliers.resize(record.vocab_size);
  stack.positions.resize(record.max_positions);
  stack.segments.resize(1);
  QuantizedNorm norm;
  norm.record.epsilon_n2 = 1;
  norm.record.shift = 8;
  norm.gain.resize(1);
  norm.bias.resize(1);
  QuantizedLayer layer;
  layer.input_norm = layer.ffn_norm = stack.final_norm = norm;
  layer.record.num_heads = layer.record.intermediate_size = 1;
  layer.record.activation_exponent = 10;
  layer.hidden_multiplier.resize(1);
  layer.hidden_offset.resize(1);
  layer.qkv = empty_dense(3 * kPanelColumns, 1);
  const EncodedScore score = encode_score(1);
  layer.self.score_multipliers = {score.multiplier};
  layer.self.score_caps = {score.cap};
  layer.self.context_multipliers.resize(kPanelColumns);
  layer.self.out = layer.ffn_up = layer.ffn_down = empty_dense(1, 1);
  const std::uint32_t positions = record.max_positions;
  stack.layers.push_back(std::move(layer));
  BlobExtras extras;
  extras.max_tokens = positions;
  extras.tokenizer = section;
  return write_blob(model, extras);
}

// Reads a whole text file.
std::string read_whole_file(const std::filesystem::path& path) {
  constexpr std::size_t kMostMegabytes = 256;
  const auto fail = [&](const std::string& what) {
    throw ConvertError(printable(path.string(), kPathBytes) + ": " + what);
  };
  // O_NONBLOCK: do not wait for the writer of a pipe, which is refused below.
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) fail(std::string("cannot be read: ") + std::strerror(errno));
  const std::unique_ptr<const int, void (*)(const int*)> closer(&file,
                                                                [](const int* f) { ::close(*f); });
  struct stat info = {};
  if (::fstat(file, &info) != 0) fail(std::string("cannot be read: ") + std::strerror(errno));
  if (!S_ISREG(info.st_mode)) fail("is not a regular file");
  if (static_cast<std::uintmax_t>(info.st_size) > kMostMegabytes << 20) {
    fail("is larger than " + std::to_string(kMostMegabytes) + " MB; give fewer texts");
  }
  std::string text(static_cast<std::size_t>(info.st_size), '\0');
  std::size_t bytes = 0;
  while (bytes < text.size()) {
    const ssize_t count = ::read(file, text.data() + bytes, text.size() - bytes);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail(std::string("cannot be read: ") + std::strerror(errno));
    if (count == 0) break;
    bytes += static_cast<std::size_t>(count);
  }
  text.resize(bytes);
  return text;
}

// The lines that are not blank, without blanks at their ends.
std::vector<std::string> read_filled_lines(const std::filesystem::path& path) {
  std::vector<std::string> lines;
  for (const std::string& line : read_lines(path)) {
    constexpr const char* kBlanks = " \t\r\n";
    const std::size_t first = line.find_first_not_of(kBlanks);
    if (first == std::string::npos) continue;
    lines.push_back(line.substr(first, line.find_last_not_of(kBlanks) - first + 1));
  }
  if (lines.empty()) {
    throw ConvertError(printable(path.string(), kPathBytes) + ": no text; one a line is needed");
  }
  return lines;
}

// The indices of the texts that calibration takes of `texts`, in rising order.
std::vector<std::size_t> evenly_spaced(std::size_t texts) {
  const std::size_t count = std::min(texts, kMostCalibrationTexts);
  std::vector<std::size_t> indices(count);
  for (std::size_t i = 0; i < count; ++i) indices[i] = i * texts / count;
  return indices;
}

}  // namespace

std::vector<std::string> read_lines(const std::filesystem::path& path) {
  const std::string text = read_whole_file(path);
  std::vector<std::string> lines;
  for (std::size_t start = 0; start < text.size();) {
    const std::size_t end = std::min(text.find('\n', start), text.size());
    const bool carriage_return = end > start && text[end - 1] == '\r';
    lines.push_back(text.substr(start, end - start - (carriage_return ? 1 : 0)));
    start = end + 1;
  }
  return lines;
}

std::vector<std::string> read_text_lines(const std::filesystem::path& path) {
  std::vector<std::string> lines = read_filled_lines(path);
  std::vector<std::string> texts;
  for (const std::size_t i : evenly_spaced(lines.size())) texts.push_back(std::move(lines[i]));
  return texts;
}

TokenBatch tokenize_texts(const std::vector<std::uint8_t>& section, const StackConfig& config,
                          int max_tokens, std::span<const std::string_view> texts) {
  const std::vector<std::uint8_t> blob = tokenizer_blob(section, config, max_tokens);
  const IntegerModel model(blob, {});
  return model.tokenize(texts);
}

std::vector<std::string> join_texts(std::span<const std::string_view> texts, int max_tokens) {
  constexpr std::size_t kDocuments = 6;
  constexpr int kShort = 128;                // tokens that single texts reach anyway
  constexpr std::size_t kBytesPerToken = 8;  // more than enough: the tokenizer cuts
  std::vector<std::string> documents;
  if (max_tokens <= kShort || texts.empty()) return documents;
  for (std::size_t d = 0; d < kDocuments; ++d) {
    std::string document;
    for (std::size_t i = 0; i < texts.size(); ++i) {
      document += texts[(d * texts.size() / kDocuments + i) % texts.size()];
      document += ' ';
      if (document.size() > kBytesPerToken * static_cast<std::size_t>(max_tokens)) break;
    }
    documents.push_back(std::move(document));
  }
  return documents;
}

TokenBatch read_id_file(const std::filesystem::path& path, const StackConfig& config,
                        int max_tokens) {
  TokenBatch batch;
  const std::vector<std::string> lines = read_filled_lines(path);
  for (const std::size_t number : evenly_spaced(lines.size())) {
    const std::string& line = lines[number];
    const auto fail = [&](const std::string& what) {
      throw ConvertError(printable(path.string(), kPathBytes) + ": text " +
                         std::to_string(number + 1) + ": " + what);
    };
    int length = 0;
    const char* at = line.data();
    const char* const end = at + line.size();
    while (at < end) {
      std::int32_t id = 0;
      const auto [stop, error] = std::from_chars(at, end, id);
      if (error != std::errc() || (stop < end && *stop != ' ' && *stop != '\t')) {
        fail("expected token ids in decimal with blanks between, found " + printable(line, 40));
      }
      if (id < 0 || id >= config.vocab_size) {
        fail("token id " + std::to_string(id) + " is outside 0.." +
             std::to_string(config.vocab_size - 1));
      }
      if (length < max_tokens) {
        batch.ids.push_back(id);
        ++length;
      }
      at = std::find_if(stop, end, [](char c) { return c != ' ' && c != '\t'; });
    }
    batch.lengths.push_back(length);
  }
  return batch;
}

SplitBatch hold_out_every(std::size_t n, const TokenBatch& batch) {
  SplitBatch out;
  std::size_t token = 0;
  for (std::size_t text = 0; text < batch.lengths.size(); ++text) {
    TokenBatch& part = text % n == n - 1 ? out.held_out : out.kept;
    const auto length = static_cast<std::size_t>(batch.lengths[text]);
    part.lengths.push_back(batch.lengths[text]);
    for (std::size_t i = token; i < token + length; ++i) {
      part.ids.push_back(batch.ids[i]);
      if (!batch.type_ids.empty()) part.type_ids.push_back(batch.type_ids[i]);
    }
    token += length;
  }
  return out;
}

}  // namespace embert::convert
