// SPDX-License-Identifier: Apache-2.0
// Reads io.safetensors and turns padded batches into texts of their own length.
#include "tests/support/golden_case.hpp"

#include <algorithm>
#include <set>
#include <stdexcept>

namespace embert::test {

std::filesystem::path golden_folder(const std::string& shared_dir, const std::string& name) {
  return std::filesystem::path(shared_dir) / "reference" / "models" / name;
}

GoldenCase::GoldenCase(const std::filesystem::path& folder)
    : io_(folder / "io.safetensors", folder.filename().string() + "/io.safetensors") {}

std::vector<std::string> GoldenCase::calls() const {
  std::set<std::string> names;
  for (const auto& entry : io_.tensors())
    names.insert(entry.first.substr(0, entry.first.find('.')));
  return {names.begin(), names.end()};
}

bool GoldenCase::has(const std::string& call, const std::string& name) const {
  return io_.find(call + "." + name) != nullptr;
}

std::vector<std::uint64_t> GoldenCase::shape(const std::string& call,
                                             const std::string& name) const {
  const convert::TensorInfo* info = io_.find(call + "." + name);
  if (info == nullptr) throw std::runtime_error(io_.file() + " has no tensor " + call + "." + name);
  return info->shape;
}

std::vector<float> GoldenCase::floats(const std::string& call, const std::string& name) const {
  return io_.read_float(call + "." + name);
}

std::vector<std::int32_t> GoldenCase::ints(const std::string& call, const std::string& name) const {
  return io_.read_int32(call + "." + name);
}

std::optional<GoldenTexts> GoldenCase::texts(const std::string& call) const {
  for (const char* other :
       {"position_ids", "inputs_embeds", "head_mask", "encoder_hidden_states"}) {
    if (has(call, other)) return std::nullopt;
  }
  if (!has(call, "input_ids") || shape(call, "input_ids").size() != 2) return std::nullopt;
  const auto extents = shape(call, "input_ids");
  const auto texts = static_cast<std::size_t>(extents[0]);
  const auto length = static_cast<std::size_t>(extents[1]);
  const std::vector<std::int32_t> ids = ints(call, "input_ids");
  std::vector<std::int32_t> types, mask(ids.size(), 1);
  if (has(call, "token_type_ids")) {
    if (shape(call, "token_type_ids") != extents) return std::nullopt;
    types = ints(call, "token_type_ids");
  }
  if (has(call, "attention_mask")) {
    if (shape(call, "attention_mask") != extents) return std::nullopt;
    mask = ints(call, "attention_mask");
  }

  GoldenTexts out;
  out.padded_length = length;
  for (std::size_t text = 0; text < texts; ++text) {
    const auto row = mask.begin() + static_cast<std::ptrdiff_t>(text * length);
    const auto row_end = row + static_cast<std::ptrdiff_t>(length);
    const auto first_padding = std::find(row, row_end, 0);
    if (first_padding == row || std::find(first_padding, row_end, 1) != row_end)
      return std::nullopt;
    const auto count = static_cast<std::size_t>(first_padding - row);
    out.batch.lengths.push_back(static_cast<std::int32_t>(count));
    for (std::size_t i = text * length; i < text * length + count; ++i) {
      out.batch.ids.push_back(ids[i]);
      if (!types.empty()) out.batch.type_ids.push_back(types[i]);
    }
  }
  return out;
}

std::vector<float> GoldenCase::valid_rows(const std::string& call, const std::string& name) const {
  const std::optional<GoldenTexts> input = texts(call);
  const auto extents = shape(call, name);
  const std::vector<float> padded = floats(call, name);
  if (!input || extents.size() != 3 || extents[1] != input->padded_length ||
      extents[0] != input->batch.lengths.size()) {
    throw std::runtime_error(io_.file() + ": " + call + "." + name +
                             " is no [batch, length, width] of texts");
  }
  std::vector<float> rows;
  const auto width = static_cast<std::size_t>(extents[2]);
  for (std::size_t text = 0; text < input->batch.lengths.size(); ++text) {
    const float* from = padded.data() + text * input->padded_length * width;
    rows.insert(rows.end(), from,
                from + static_cast<std::size_t>(input->batch.lengths[text]) * width);
  }
  return rows;
}

}  // namespace embert::test
