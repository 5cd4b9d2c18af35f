// SPDX-License-Identifier: Apache-2.0
#include "targets/serve/http/request_head.hpp"

#include <algorithm>
#include <charconv>
#include <optional>

#include "targets/serve/limits.hpp"
#include "targets/serve/request_error.hpp"

namespace embert::serve {
namespace {

constexpr std::string_view kLineEnd = "\r\n";

[[noreturn]] void refuse(const std::string& message, int status = 400) {
  throw RequestError(status, "bad_request", message);
}

/// A character of a name (RFC 9110, "token").
bool is_token(char c) {
  constexpr std::string_view kOthers = "!#$%&'*+-.^_`|~";
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         kOthers.find(c) != std::string_view::npos;
}

bool is_visible(char c) { return c > ' ' && c < '\x7f'; }

/// Takes the next line off the head, without its end.
std::string_view take_line(std::string_view& text) {
  const size_t end = text.find(kLineEnd);
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(text.size(), end + kLineEnd.size()));
  for (const char c : line) {
    const bool is_control = (c >= 0 && c < ' ' && c != '\t') || c == '\x7f';
    if (is_control) refuse("the head of the request has a control character");
  }
  return line;
}

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return result;
}

std::string_view trimmed(std::string_view text) {
  const auto is_space = [](char c) { return c == ' ' || c == '\t'; };
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

struct RequestLine {
  std::string_view method, target, version;
};

RequestLine checked_line(std::string_view line) {
  const size_t first = line.find(' '), last = line.rfind(' ');
  if (first == std::string_view::npos || first == last) {
    refuse("the first line is not METHOD PATH HTTP/1.1");
  }
  const RequestLine parts = {line.substr(0, first), line.substr(first + 1, last - first - 1),
                             line.substr(last + 1)};
  const auto is_capital = [](char c) { return c >= 'A' && c <= 'Z'; };
  if (parts.method.empty() || !std::all_of(parts.method.begin(), parts.method.end(), is_capital)) {
    refuse("the method is not in capital letters");
  }
  if (parts.target.empty() || parts.target[0] != '/' ||
      !std::all_of(parts.target.begin(), parts.target.end(), is_visible)) {
    refuse("the path does not begin with /, or has a character that is not visible ASCII");
  }
  if (parts.target.size() > kMostTargetBytes) {
    refuse("the path has more than " + std::to_string(kMostTargetBytes) + " bytes", 414);
  }
  if (parts.version != "HTTP/1.1" && parts.version != "HTTP/1.0") {
    refuse("the version of HTTP is not 1.1 or 1.0", 505);
  }
  return parts;
}

size_t checked_length(std::string_view value, size_t most) {
  uint64_t length = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), length);
  const bool is_number = !value.empty() && value[0] != '-' && end == value.data() + value.size();
  if (!is_number || (error != std::errc() && error != std::errc::result_out_of_range)) {
    refuse("Content-Length is no number");
  }
  if (error == std::errc::result_out_of_range || length > most) {
    throw RequestError(413, "request_too_large",
                       "the body has more than " + grouped(most) + " bytes (--max-body)");
  }
  return static_cast<size_t>(length);
}

/// The headers that the server knows; each may occur once.
struct KnownHeaders {
  std::optional<std::string> authorization, connection, content_encoding, content_length,
      content_type, expect, host, transfer_encoding;

  std::optional<std::string>* find(const std::string& name) {
    if (name == "authorization") return &authorization;
    if (name == "connection") return &connection;
    if (name == "content-encoding") return &content_encoding;
    if (name == "content-length") return &content_length;
    if (name == "content-type") return &content_type;
    if (name == "expect") return &expect;
    if (name == "host") return &host;
    if (name == "transfer-encoding") return &transfer_encoding;
    return nullptr;
  }
};

KnownHeaders read_headers(std::string_view text) {
  KnownHeaders headers;
  for (std::string_view line = take_line(text); !line.empty(); line = take_line(text)) {
    const size_t colon = line.find(':');
    const std::string_view name = line.substr(0, colon);
    // A space before the colon, and a line that goes on with a space, let requests be smuggled.
    if (colon == std::string_view::npos || name.empty() ||
        !std::all_of(name.begin(), name.end(), is_token)) {
      refuse("a header is not NAME: VALUE");
    }
    std::optional<std::string>* known = headers.find(lower(name));
    if (known == nullptr) continue;
    if (known->has_value()) refuse("the header " + std::string(name) + " occurs twice");
    *known = std::string(trimmed(line.substr(colon + 1)));
  }
  return headers;
}

bool has_word(const std::string& list, std::string_view word) {
  std::string_view rest = list;
  while (!rest.empty()) {
    const size_t comma = std::min(rest.find(','), rest.size());
    if (trimmed(rest.substr(0, comma)) == word) return true;
    rest.remove_prefix(std::min(rest.size(), comma + 1));
  }
  return false;
}

}  // namespace

RequestHead checked_head(std::string_view text, size_t most_body_bytes) {
  const RequestLine line = checked_line(take_line(text));
  const KnownHeaders headers = read_headers(text);
  const bool is_new = line.version == "HTTP/1.1";
  if (is_new && !headers.host) refuse("the header Host is missing");
  if (headers.transfer_encoding) {
    if (headers.content_length) refuse("both Content-Length and Transfer-Encoding");
    throw RequestError(411, "length_required",
                       "the body has no Content-Length; this server takes no chunked bodies");
  }
  if (headers.content_encoding && lower(*headers.content_encoding) != "identity") {
    throw RequestError(415, "unsupported_encoding", "the body is compressed; send it as it is");
  }
  if (headers.expect && lower(*headers.expect) != "100-continue") {
    refuse("Expect is not 100-continue", 417);
  }
  RequestHead head;
  if (headers.content_length) {
    head.body_bytes = checked_length(*headers.content_length, most_body_bytes);
  }
  const std::string connection = lower(headers.connection.value_or(""));
  head.keep_alive = is_new ? !has_word(connection, "close") : has_word(connection, "keep-alive");
  head.waits_to_send = is_new && headers.expect.has_value();
  head.host = headers.host;
  head.authorization = headers.authorization.value_or("");
  head.content_type = lower(headers.content_type.value_or(""));
  head.text = std::string(line.method) + ' ' + std::string(line.target) + " HTTP/1.1\r\n" +
              "Content-Length: " + std::to_string(head.body_bytes) + "\r\n\r\n";
  return head;
}

}  // namespace embert::serve
