// SPDX-License-Identifier: Apache-2.0
// The sections of a report. Each shows keys of the report's JSON with every number, and is empty
// where the JSON has none of its keys.
#pragma once

#include <string>
#include <vector>

#include "targets/hosted/line_text.hpp"

namespace embert::cli {

struct Section {
  const char* id;
  const char* title;
  std::vector<std::string> keys;  ///< of the JSON's object that it shows, or objects within
  std::string body;               ///< markup; empty: nothing to show
};

/// The comparison with float32: the JSON of verify itself, of convert its "held_out". Null where
/// nothing was compared.
const hosted::Json& comparison_of(const hosted::Json& data);

// text_sections.cpp
Section cosine_section(const hosted::Json& data);
Section answer_section(const hosted::Json& data);
// error_sections.cpp
Section layer_section(const hosted::Json& data);
Section range_section(const hosted::Json& data);
Section precision_section(const hosted::Json& data);
// memory_sections.cpp
Section file_section(const hosted::Json& data);
Section arena_section(const hosted::Json& data);
Section speed_section(const hosted::Json& data);
/// Whatever no other section shows: `rest` is the JSON without their keys.
Section rest_section(const hosted::Json& rest);

/// The picture of "arena" (report_data.hpp) over the steps of a pass.
std::string arena_plot(const hosted::Json& arena);

}  // namespace embert::cli
