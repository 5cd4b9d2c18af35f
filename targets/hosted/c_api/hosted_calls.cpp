// SPDX-License-Identifier: Apache-2.0
#include "targets/hosted/c_api/hosted_calls.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace embert::hosted {
namespace {

/// In place, so that a lack of memory has its line too.
thread_local char last_error[1024] = "";

}  // namespace

embert_hosted_result failed(embert_hosted_result code, const char* message) noexcept {
  std::snprintf(last_error, sizeof last_error, "%s", message);
  return code;
}

embert_hosted_result failed_by_exception() noexcept {
  try {
    throw;
  } catch (const TextError& error) {
    std::snprintf(last_error, sizeof last_error, "text %zu: %s", error.text, error.what());
    return error.code;
  } catch (const Error& error) {
    return failed(error.code, error.what());
  } catch (const std::bad_alloc&) {
    return failed(EMBERT_HOSTED_NO_MEMORY, "not enough memory");
  } catch (const std::exception& error) {
    return failed(EMBERT_HOSTED_INTERNAL, error.what());
  } catch (...) {
    return failed(EMBERT_HOSTED_INTERNAL, "an unknown exception");
  }
}

void require(const void* pointer, const char* name) {
  if (pointer == nullptr) throw UsageError(std::string(name) + " is null");
}

char* copy_for_caller(const std::string& text) {
  auto* copy = static_cast<char*>(std::malloc(text.size() + 1));
  if (copy == nullptr) throw std::bad_alloc();
  std::memcpy(copy, text.c_str(), text.size() + 1);
  return copy;
}

}  // namespace embert::hosted

const char* embert_hosted_error(void) { return embert::hosted::last_error; }

void embert_hosted_free(char* json) { std::free(json); }
