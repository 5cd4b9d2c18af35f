// SPDX-License-Identifier: Apache-2.0
// The report of a conversion: certificate, warnings, sizes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "targets/hosted/line_text.hpp"

namespace embert::convert {
struct ConvertResult;
struct LayerErrors;
}  // namespace embert::convert

namespace embert::hosted {

/// Warns if the new model is far from float32 or was calibrated on few texts.
std::vector<std::string> quality_warnings(const convert::ConvertResult& result);

/// The certificate in the new model; null if there is none.
Json new_certificate(const convert::ConvertResult& result);
bool has_cross_attention(const convert::LayerErrors& layer);

/// The JSON of `embert convert --report`.
Json convert_report(const convert::ConvertResult& result, const std::string& rounding,
                    double seconds);

}  // namespace embert::hosted
