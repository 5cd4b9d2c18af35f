// SPDX-License-Identifier: Apache-2.0
// The families that embert converts, each defined in the file of its name.
#pragma once

#include "converter/import/families/family.hpp"

namespace embert::convert {

extern const Family kBert;
extern const Family kDistilBert;
extern const Family kElectra;
extern const Family kAlbert;
extern const Family kMobileBert;
extern const Family kModernBert;
extern const Family kMpnet;
extern const Family kRoberta;  // and XLM-RoBERTa, CamemBERT

}  // namespace embert::convert
