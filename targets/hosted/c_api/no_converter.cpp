// SPDX-License-Identifier: Apache-2.0
// embert_hosted_convert and embert_hosted_verify, in builds without the converter.
#include "targets/hosted/c_api/hosted_calls.hpp"

using namespace embert::hosted;

static embert_hosted_result no_converter() {
  return failed(EMBERT_HOSTED_NOT_BUILT,
                "this build of embert runs models and has no converter: convert on a desktop with "
                "`embert convert HF_DIR -o MODEL`, and copy the model file here");
}

embert_hosted_result embert_hosted_convert(const embert_hosted_conversion*, char**) {
  return no_converter();
}

embert_hosted_result embert_hosted_verify(embert_hosted*, const char*, const embert_hosted_texts*,
                                          char**) {
  return no_converter();
}
