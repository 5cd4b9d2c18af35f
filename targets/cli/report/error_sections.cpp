// SPDX-License-Identifier: Apache-2.0
// The sections on the error: by layer, by range, and the part that 16-bit inputs take away.
#include <algorithm>
#include <array>

#include "targets/cli/report/markup.hpp"
#include "targets/cli/report/page_sections.hpp"

namespace embert::cli {
namespace {

using hosted::fixed;
using hosted::Json;

/// How people name what the JSON's keys name.
std::string name_of(const std::string& key) {
  constexpr std::array<std::array<const char*, 2>, 13> kNames = {
      {{"qkv", "query, key, value"},
       {"first", "query, key, value: first token"},
       {"output", "attention output"},
       {"cross_query", "cross-attention query"},
       {"cross_key_value", "cross-attention key, value"},
       {"cross_output", "cross-attention output"},
       {"ffn1", "feed-forward up"},
       {"ffn2", "feed-forward down"},
       {"ffn_up", "feed-forward up"},
       {"ffn_down", "feed-forward down"},
       {"copied_channels", "feed-forward down: inputs split"},
       {"scores", "queries and keys"},
       {"probabilities", "attention probabilities"}}};
  for (const auto& [one, name] : kNames) {
    if (key == one) return name;
  }
  return markup_text(key);
}

double largest_of(const Json& layers) {
  double most = 0;
  for (const Json& layer : layers) {
    for (const auto& [key, value] : layer.items()) {
      if (value.is_number_float()) most = std::max(most, value.get<double>());
    }
  }
  return most;
}

double share_of(const Json& value, double most) {
  return most > 0 && value.is_number() ? value.get<double>() / most : 0;
}

std::string rounding_figure(const Json& layers) {
  std::vector<Column> columns = {{"layer"}};
  for (const auto& [key, value] : layers.front().items()) columns.push_back({name_of(key)});
  const double most = largest_of(layers);
  Table table(columns);
  for (size_t i = 0; i < layers.size(); ++i) {
    std::vector<std::string> cells = {std::to_string(i)};
    for (const auto& [key, value] : layers[i].items()) {
      cells.push_back(value.is_number_float() ? number(value, kPercent) + bar(share_of(value, most))
                                              : number(value, kCount));
    }
    table.row(cells);
  }
  return figure(
      "Rounding of the weights", table.markup(),
      "What rounding its weights to 8 bits adds to the output of each dense layer, on "
      "calibration rows: error as a share of the output, by root mean square. Inputs split: "
      "those whose largest weight was split over copies.");
}

std::string growth_figure(const Json& errors) {
  double most = 0;
  for (const Json& error : errors) most = std::max(most, error.get<double>());
  Table table({{"hidden state", Align::kText}, {"error"}, {"change"}});
  double before = 0;
  for (size_t i = 0; i < errors.size(); ++i) {
    const double error = errors[i].get<double>();
    table.row({i == 0 ? "embeddings" : "after layer " + std::to_string(i - 1),
               number(errors[i], kPercent) + bar(error / most),
               i == 0 ? "–" : fixed(100 * (error - before), 2) + " %"});
    before = error;
  }
  return figure("Error from layer to layer", table.markup(),
                "Difference of the hidden states of int8 and float32 as a share of float32's, by "
                "root mean square over up to 64 texts: weights, 8-bit inputs and all else "
                "together. Change: from the row above.");
}

std::string heads_figure(const Json& data) {
  Table table({{"layer", Align::kText}, {"error"}});
  for (const auto& [key, value] : data.items()) {
    if (key.size() < 7 || key.substr(key.size() - 6) != "_error") continue;
    table.row({markup_text(key.substr(0, key.size() - 6)), number(value, kPercent)});
  }
  if (table.is_empty()) return "";
  return figure("Rounding of the task heads", table.markup(),
                "The same for dense layers behind the encoder, which read 16 bits.");
}

std::string outliers_of(const Json& channels, double median) {
  constexpr size_t kMost = 4;
  if (channels.empty()) return "none";
  const auto text = [&](const Json& one) {
    return "<span class=\"whole\">" + number(one["channel"], {.grouped = false}) + " (" +
           number(one["reach"], {.decimals = 2}) + ", " +
           fixed(one["reach"].get<double>() / median, 1) + "×)</span>";
  };
  std::string first, more;
  for (size_t i = 0; i < channels.size(); ++i) {
    std::string& list = i < kMost ? first : more;
    list += (list.empty() ? "" : "; ") + text(channels[i]);
  }
  if (more.empty()) return first;
  return first + folded(std::to_string(channels.size() - kMost) + " more", paragraph(more));
}

/// Errors are tiny: they are shown in 1e-4.
constexpr NumberStyle kTenThousandths = {.decimals = 3, .factor = 1e4};

}  // namespace

Section layer_section(const Json& data) {
  Section section = {
      "layers", "Error of each layer, and where it comes from", {"layer_errors"}, ""};
  for (const auto& [key, value] : data.items()) {
    if (key.size() > 6 && key.substr(key.size() - 6) == "_error") section.keys.push_back(key);
  }
  const Json& compared = comparison_of(data);
  if (compared.contains("hidden_errors")) section.body += growth_figure(compared["hidden_errors"]);
  if (data.contains("layer_errors") && !data["layer_errors"].empty()) {
    section.body += rounding_figure(data["layer_errors"]);
  }
  section.body += heads_figure(data);
  return section;
}

Section range_section(const Json& data) {
  Section section = {"ranges", "Ranges and outlier channels", {"input_ranges"}, ""};
  if (!data.contains("input_ranges") || data["input_ranges"].empty()) return section;
  const Json& layers = data["input_ranges"];
  double most = 0;
  for (const Json& layer : layers) {
    for (const auto& [key, range] : layer.items()) {
      most = std::max(most, range["reach"].get<double>());
    }
  }
  Table table({{"layer"},
               {"input of", Align::kText},
               {"largest magnitude"},
               {"median channel"},
               {"channels"},
               {"outlier channels: number (magnitude, times the median)", Align::kText}});
  const auto reach = [&](const Json& value) {
    return number(value, {.decimals = 2}) + bar(share_of(value, most));
  };
  for (size_t i = 0; i < layers.size(); ++i) {
    for (const auto& [key, range] : layers[i].items()) {
      std::vector<std::string> cells = {std::to_string(i),
                                        "<span class=\"whole\">" + name_of(key) + "</span>"};
      cells.push_back(reach(range["reach"]));
      cells.push_back(reach(range["median_reach"]));
      cells.push_back(number(range["channels"], kCount));
      cells.push_back(outliers_of(range["outlier_channels"], range["median_reach"].get<double>()));
      table.row(cells);
    }
  }
  section.body = figure(
      "How far the inputs of the dense layers reach", table.markup(),
      "Largest magnitudes of float32 activations in calibration. A channel is an outlier if it "
      "reaches more than 5 times as far as the median channel; without smoothing all channels "
      "would share its 8-bit scale.");
  return section;
}

Section precision_section(const Json& data) {
  Section section = {"precision", "What the precision dial bought", {}, ""};
  // The verification of a tagger has a measure of this name.
  if (!data.contains("precision") || !data["precision"].contains("level")) return section;
  section.keys = {"precision"};
  const Json& precision = data["precision"];
  const std::string level = markup_text(precision["level"].get<std::string>());
  const Json& layers = precision["inputs_of_16_bits"];
  const Json errors = precision.value("error_of_8_bits", Json::array());
  const std::string cost = number(precision["more_multiply_adds"], kPercent);
  std::string body = paragraph("Level <b>" + level +
                               "</b>: inputs of 16 bits and inputs that are read twice cost " +
                               cost + " more multiply-adds at 128 tokens." +
                               (errors.empty() ? " The higher levels measure what 16 bits buy in "
                                                 "each input."
                                               : ""));
  if (!errors.empty()) {
    std::vector<Column> columns = {{"layer"}};
    for (const auto& [key, value] : errors.front().items()) columns.push_back({name_of(key)});
    columns.push_back({"feed-forward up: inputs read twice"});
    const double most = largest_of(errors);
    Table table(columns);
    for (size_t i = 0; i < layers.size(); ++i) {
      std::vector<std::string> cells = {std::to_string(i)};
      for (const auto& [key, value] : errors[i].items()) {
        const bool is_first = key == "first";
        const Json& rows = layers[i][is_first ? "qkv" : key];
        const bool bought = rows == "all" || (is_first && rows == "first");
        std::string cell = is_first && value == 0
                               ? "–"  // measured with the other tokens
                               : number(value, kTenThousandths) + bar(share_of(value, most));
        cells.push_back(bought ? "<span class=\"bought\">" + cell + "</span>" : cell);
      }
      cells.push_back(number(precision["copied_inputs"][i], kCount));
      table.row(cells);
    }
    body += figure(
        "Inputs of 16 bits, and inputs read twice", table.markup(),
        "In 1e-4: by how much the error against float32 grows when this input alone has 8 bits (of "
        "embeddings 1 − cosine, of logits half of the squared error as a share of the squares); "
        "below 0 is the noise of the measurement. Marked: it keeps 16 bits (attention "
        "probabilities 14), so this error is gone. At <code>high</code> queries and keys get 16 "
        "bits where QKV and the probabilities have planes, and their error is in both columns. "
        "Inputs are taken in the order of error per multiply-add; the others "
        "bring nothing or do not fit into the budget. Inputs read twice: so many inputs of "
        "feed-forward up are read a second time, so that their large weights are split over two "
        "columns and the scale of all weights is finer.");
  }
  section.body = body;
  return section;
}

}  // namespace embert::cli
