// SPDX-License-Identifier: Apache-2.0
// The functions of embert_hosted.h share this: the model behind the handle, and the way from an
// exception to a code.
#pragma once

#include <exception>
#include <new>
#include <string>

#include "targets/hosted/embert_hosted.h"
#include "targets/hosted/hosted_error.hpp"
#include "targets/hosted/hosted_model.hpp"

struct embert_hosted {
  embert::hosted::HostedModel model;
};

namespace embert::hosted {

/// Keeps one line for embert_hosted_error() of this thread, and returns the code.
embert_hosted_result failed(embert_hosted_result code, const char* message) noexcept;

/// Turns an exception that is being handled into a code and its line.
embert_hosted_result failed_by_exception() noexcept;

/// Calls the function; no exception leaves it.
template <typename Function>
embert_hosted_result guarded(const Function& function) noexcept {
  try {
    function();
    return failed(EMBERT_HOSTED_OK, "");
  } catch (...) {
    return failed_by_exception();
  }
}

/// Throws UsageError for a null pointer.
void require(const void* pointer, const char* name);

/// Returns a copy for embert_hosted_free().
char* copy_for_caller(const std::string& text);

}  // namespace embert::hosted
