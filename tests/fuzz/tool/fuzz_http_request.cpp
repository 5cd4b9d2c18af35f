// SPDX-License-Identifier: Apache-2.0
// libFuzzer: what the server reads of a request before a model sees it. A head is refused with a
// status of its grammar, or cpp-httplib gets a request line and a length and nothing else of it; a
// body is refused, or is an object within the limits. An input is a head up to its empty line, and
// the body behind it.
#include <algorithm>
#include <string>
#include <string_view>

#include "targets/serve/api/request_body.hpp"
#include "targets/serve/http/request_head.hpp"
#include "targets/serve/memory_budget.hpp"
#include "targets/serve/request_error.hpp"
#include "tests/fuzz/support/check_message.hpp"
#include "tests/fuzz/support/require.hpp"

using namespace embert;
using fuzz::require;

namespace {

constexpr std::size_t kMostBody = 4000;
constexpr std::string_view kEnd = "\r\n\r\n";

void check_refusal(const serve::RequestError& error) {
  require(error.status >= 400 && error.status < 600, "a status of HTTP");
  fuzz::check_message(error.what());
  const auto answer = hosted::Json::parse(serve::error_json(error), nullptr, false);
  require(answer.is_object() && answer.contains("error"), "a refusal is a JSON object");
}

void check_head(std::string_view text) {
  serve::RequestHead head;
  try {
    head = serve::checked_head(text, kMostBody);
  } catch (const serve::RequestError& error) {
    return check_refusal(error);
  }
  require(head.body_bytes <= kMostBody, "a body within the limit");
  const std::string length = "Content-Length: " + std::to_string(head.body_bytes);
  const std::string expected = " HTTP/1.1\r\n" + length + std::string(kEnd);
  require(head.text.ends_with(expected), "the length that was checked");
  const std::string_view line(head.text.data(), head.text.size() - expected.size());
  require(std::all_of(line.begin(), line.end(), [](char c) { return c >= ' ' && c < '\x7f'; }),
          "one line of visible characters");
  require(std::count(line.begin(), line.end(), ' ') == 1, "a method and a path");
  // The library gets a request that passes the same check, so that both read it alike.
  const std::string again = head.text.substr(0, head.text.size() - 2) + "Host: a\r\n\r\n";
  require(serve::checked_head(again, kMostBody).text == head.text, "nothing is read twice");
}

std::size_t levels_of(const hosted::Json& value) {
  std::size_t most = 0;
  if (value.is_structured()) {
    for (const hosted::Json& inner : value) most = std::max(most, levels_of(inner));
    ++most;
  }
  return most;
}

void check_body(std::string_view body) {
  serve::Limits limits;
  limits.texts = 20;
  serve::MemoryBudget budget(limits.memory_bytes);
  const serve::RequestMemory memory(budget);
  try {
    const hosted::Json object = serve::checked_body(body, limits);
    require(object.is_object() && object.size() <= 64, "an object with few keys");
    require(levels_of(object) <= 6, "few levels");
    require(std::none_of(object.begin(), object.end(),
                         [](const hosted::Json& field) { return field.is_null(); }),
            "no field that is null");
    const std::string dumped = object.dump();  // throws for what is not UTF-8
    require(serve::checked_body(dumped, limits) == object, "the same object again");
  } catch (const serve::RequestError& error) {
    check_refusal(error);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const std::size_t end = std::min(input.find(kEnd), size);
  const std::size_t body = std::min(size, end + kEnd.size());
  check_head(std::string(input.substr(0, body)));
  check_body(std::string(input.substr(body)));
  return 0;
}
