// SPDX-License-Identifier: Apache-2.0
// embert_hosted_run_task, _inspect, _convert and _verify. Until their code has moved here from the
// tool they say so.
#include "targets/hosted/c_api/hosted_calls.hpp"

using namespace embert::hosted;

static embert_hosted_result not_moved_yet() {
  return failed(EMBERT_HOSTED_NOT_BUILT, "not in the hosted library yet; use the tool");
}

embert_hosted_result embert_hosted_run_task(embert_hosted*, const char*, const embert_hosted_texts*,
                                            const char*, char**) {
  return not_moved_yet();
}
embert_hosted_result embert_hosted_inspect(embert_hosted*, char**) { return not_moved_yet(); }
embert_hosted_result embert_hosted_convert(const embert_hosted_conversion*, char**) {
  return not_moved_yet();
}
embert_hosted_result embert_hosted_verify(embert_hosted*, const char*, const embert_hosted_texts*,
                                          char**) {
  return not_moved_yet();
}
