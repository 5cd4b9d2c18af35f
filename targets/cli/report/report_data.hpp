// SPDX-License-Identifier: Apache-2.0
// A report measures these on the model itself, beyond the JSON of its command.
#pragma once

#include "converter/convert.hpp"
#include "targets/hosted/line_text.hpp"
#include "targets/hosted/model/model_file.hpp"

namespace embert::cli {

/// Adds "blob_bytes", "arena_bytes", "tensors" {name, stack, layer, offset, bytes}, "arena"
/// {tokens, threads, bytes, areas, scratch, steps} and "bench" [as `embert bench --json`].
/// "arena" is left out for pairs of stacks and static embeddings, "bench" for pairs.
void add_model_facts(const hosted::ModelFile& file, hosted::Json& data);

/// Adds "held_out", the JSON of `embert verify` on the texts of the certificate.
void add_held_out(const hosted::ModelFile& file, const convert::ConvertResult& result,
                  hosted::Json& data);

}  // namespace embert::cli
