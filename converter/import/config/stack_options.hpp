// SPDX-License-Identifier: Apache-2.0
// Options of a stack that several families have. Values that embert does not compute are refused by
// name. All functions throw ConvertError.
#pragma once

#include <string>

#include "converter/import/json_file.hpp"
#include "converter/model/model_config.hpp"

namespace embert::convert {

/// Throws ConvertError: `option` of the config in `file` is not supported; `supported` says what
/// is.
[[noreturn]] void refuse_option(const std::string& file, const std::string& option,
                                const std::string& supported);

/// The activation function that `key` names; gelu where it is absent.
HiddenAct read_hidden_act(const JsonFields& config, const char* key);

/// position_embedding_type
void read_position_kind(const JsonFields& config, StackConfig& out);

/// Checks that num_attention_heads divides the width `key`, StackConfig::intra_size().
void check_head_size(const JsonFields& config, const char* key, const StackConfig& stack,
                     const char* heads_key = "num_attention_heads");

/// embedding_size, `otherwise` where it is absent.
int read_embedding_size(const JsonFields& config, int otherwise);

/// norm_position, embedding_layer_norm and final_layer_norm
void read_norm_position(const JsonFields& config, StackConfig& out);

void read_embedding_scale(const JsonFields& config, StackConfig& out);

/// pruned_heads, {"0": [1], "1": [0, 2]}: the attention heads that each layer lacks.
void read_pruned_heads(const JsonFields& config, StackConfig& out);

/// Positions that are counted from `padding_id`: row padding_id + 1 of the table is position 0, row
/// padding_id is that of the padding itself. Nothing with relative positions.
void set_padding_positions(const JsonFields& config, int padding_id, StackConfig& out);

/// Refuses is_decoder and add_cross_attention, for families of which embert runs encoders alone.
void refuse_decoder(const JsonFields& config);

/// is_decoder, add_cross_attention and cross_attention_hidden_size
void read_decoder(const JsonFields& config, StackConfig& out);

}  // namespace embert::convert
