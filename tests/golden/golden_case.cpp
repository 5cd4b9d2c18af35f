// SPDX-License-Identifier: Apache-2.0
// Reads case.json and io.safetensors and turns padded batches into texts of their own length.
#include "tests/golden/golden_case.hpp"

#include <algorithm>
#include <stdexcept>
#include <string_view>

#include "converter/import/json_file.hpp"

namespace embert::test {

namespace {

constexpr const char* kSets[] = {"models", "families"};

// Cases of families that are not converted yet begin with one of these.
constexpr std::string_view kNotConverted[] = {"deberta_v2"};

// Its trigrams see the word vector of the padding, which is not zero.
constexpr std::string_view kReadsPadding = "mobilebert_padding_row";

}  // namespace

std::filesystem::path golden_folder(const std::string& shared_dir, const std::string& name) {
  const auto root = std::filesystem::path(shared_dir) / "reference";
  for (const char* set : kSets) {
    if (std::filesystem::exists(root / set / name)) return root / set / name;
  }
  return root / kSets[0] / name;
}

std::vector<std::string> golden_cases(const std::string& shared_dir) {
  std::vector<std::string> names;
  for (const char* set : kSets) {
    const auto folder = std::filesystem::path(shared_dir) / "reference" / set;
    if (!std::filesystem::exists(folder)) continue;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      if (entry.is_directory()) names.push_back(entry.path().filename().string());
    }
  }
  std::ranges::sort(names);
  return names;
}

std::string why_no_golden_case(const std::string& shared_dir, const std::string& name) {
  const std::filesystem::path folder = golden_folder(shared_dir, name);
  if (!std::filesystem::exists(folder)) return "no reference data at " + folder.string();
  const bool converted = std::ranges::none_of(
      kNotConverted, [&](std::string_view family) { return name.starts_with(family); });
  return converted ? "" : "the converter refuses the family of " + name;
}

std::vector<std::string> all_cases() {
  std::vector<std::string> names = golden_cases(EMBERT_SHARED_DIR);
  if (names.empty()) names.emplace_back("no_data");
  return names;
}

namespace {

// RoBERTa and its relatives count positions from the padding id.
std::int32_t first_position_row(const convert::Json& config) {
  const auto type = config.value("model_type", std::string());
  const bool counts = type == "roberta" || type == "xlm-roberta" || type == "camembert";
  if (type == "mpnet") return 2;
  return counts ? config.at("pad_token_id").get<std::int32_t>() + 1 : 0;
}

}  // namespace

GoldenCase::GoldenCase(const std::filesystem::path& folder)
    : io_(folder / "io.safetensors", folder.filename().string() + "/io.safetensors"),
      reads_padding_(folder.filename() == kReadsPadding) {
  const convert::Json json = convert::read_json_file(folder / "case.json", "case.json");
  std::size_t tensors = 0;
  for (const convert::Json& call : json.at("calls")) {
    const auto name = call.at("name").get<std::string>();
    Record& record = records_[name];
    record.kind = call.at("kind").get<std::string>();
    for (const auto& [argument, value] : call.at("args").items()) {
      if (value.is_number_integer()) record.numbers[argument] = value.get<std::int64_t>();
    }
    for (const auto& output : call.at("outputs").items()) record.outputs.push_back(output.key());
    tensors += call.at("inputs").size() + call.at("outputs").size();
    for (const std::string& output : record.outputs) shape(name, output);
  }
  if (tensors != io_.tensors().size())
    throw std::runtime_error(io_.file() + " has tensors that case.json does not name");
  const convert::Json config = convert::read_json_file(folder / "config.json", "config.json");
  first_position_row_ = first_position_row(config);
  layers_of_group_ = config.value("inner_group_num", std::size_t{1});
}

std::string GoldenCase::own_name(const std::string& output) const {
  constexpr std::string_view kStates = "hidden_states.";
  if (!output.starts_with(kStates)) return output;
  const std::size_t number = std::stoul(output.substr(kStates.size()));
  return std::string(kStates) + std::to_string(number * layers_of_group_);
}

std::vector<std::string> GoldenCase::calls() const {
  std::vector<std::string> names;
  for (const auto& record : records_) {
    const bool impossible = has(record.first, "position_ids") &&
                            std::ranges::any_of(positions(record.first, "position_ids"),
                                                [](std::int32_t position) { return position < 0; });
    if (!impossible) names.push_back(record.first);
  }
  return names;
}

std::vector<std::int32_t> GoldenCase::positions(const std::string& call,
                                                const std::string& name) const {
  std::vector<std::int32_t> rows = ints(call, name);
  for (std::int32_t& row : rows) row -= first_position_row_;
  return rows;
}

std::vector<std::string> GoldenCase::names(const std::string& call) const {
  std::vector<std::string> names;
  for (const auto& entry : io_.tensors()) {
    if (entry.first.starts_with(call + ".")) names.push_back(entry.first.substr(call.size() + 1));
  }
  return names;
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
    if (reads_padding_ && first_padding != row_end) return std::nullopt;
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
