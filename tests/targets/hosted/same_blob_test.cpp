// SPDX-License-Identifier: Apache-2.0
// The bundled model has one blob on every machine, named by its digest. The continuous integration
// compares it with those of other processors and compilers (.ci/run, same_blob).
#include <gtest/gtest.h>

#include "converter/convert.hpp"
#include "embert/embert.h"
#include "targets/hosted/model/sha256.hpp"

namespace embert::test {
namespace {

// Of targets/demo/tiny-intent with the tool's defaults. A change of the converter, the calibration
// text or the format changes it: then record it anew from `embert inspect`.
constexpr const char* kDigest = "42f357662194a2653ef0c603478348df2a21f38539a4e1277df7f9dc1a13e01f";

TEST(SameBlob, WithOneThreadAndTwoAsRecorded) {
  for (const int threads : {1, 2}) {
    convert::ConvertOptions options;
    options.folder = EMBERT_SOURCE_DIR "/targets/demo/tiny-intent";
    options.precision = convert::Precision::kBalanced;
    options.threads = threads;
    options.isa_mask = embert_isa_detect();
    EXPECT_EQ(hosted::sha256(convert::convert(options).blob), kDigest) << threads << " threads";
  }
}

}  // namespace
}  // namespace embert::test
