// SPDX-License-Identifier: Apache-2.0
// libFuzzer: the desktop's side of the device protocol. Whatever a device sends, a request ends
// after the tries that it has, in a whole reply or in one printable line. An input is what the line
// delivers: parts with PartBytes before each; a read without a part comes too late.
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "targets/cli/device/device_client.hpp"
#include "targets/cli/tool_error.hpp"
#include "tests/fuzz/support/check_message.hpp"
#include "tests/fuzz/support/require.hpp"

using namespace embert;

namespace {

struct PartBytes {
  std::uint8_t kind;  ///< 0: bytes as they are; 1: a frame of them; 2: a frame behind a header that
                      ///< answers the last request; 3: the device closes the line
  std::uint8_t count;  ///< bytes that follow
};

/// The line of this input. The tool's Connection is a file; that of this program is below.
struct Line {
  const std::uint8_t* next;
  const std::uint8_t* end;
  std::vector<std::uint8_t> asked;  ///< the last frame that the client sent
  std::size_t reads_behind_end = 0;
};
Line line;

/// The header of the last request; the client's frames are whole.
device::MessageHeader last_request() {
  std::vector<std::uint8_t> buffer(line.asked.size());
  device::FrameReader reader(buffer.data(), buffer.size());
  auto event = device::FrameEvent::kNone;
  for (const std::uint8_t byte : line.asked) event = reader.take(byte);
  fuzz::require(event == device::FrameEvent::kBody, "a request is a frame");
  fuzz::require(reader.body_bytes() >= device::kHeaderBytes, "a request has a header");
  return device::get_header(reader.body());
}

std::vector<std::uint8_t> framed(const std::vector<std::uint8_t>& body) {
  std::vector<std::uint8_t> frame(device::frame_bytes(body.size()));
  frame.resize(device::write_frame(body.data(), body.size(), frame.data()));
  return frame;
}

}  // namespace

namespace embert::cli {

Connection::Connection(const std::string& address, Time) : address_(address) {}
Connection::~Connection() = default;
void Connection::write(std::span<const uint8_t> bytes, Time) {
  line.asked.assign(bytes.begin(), bytes.end());
}

std::vector<uint8_t> Connection::read(Time) {
  PartBytes part;
  if (static_cast<size_t>(line.end - line.next) < sizeof(part)) {
    ++line.reads_behind_end;
    return {};
  }
  std::memcpy(&part, line.next, sizeof(part));
  line.next += sizeof(part);
  const auto left = static_cast<size_t>(line.end - line.next);
  const size_t count = part.count < left ? part.count : left;
  std::vector<uint8_t> bytes(line.next, line.next + count);
  line.next += count;
  if (part.kind % 4 == 0) return bytes;
  if (part.kind % 4 == 1) return framed(bytes);
  if (part.kind % 4 == 3) throw InputError(address_ + ": the device has closed the line");
  const device::MessageHeader request = last_request();
  std::vector<uint8_t> body(device::kHeaderBytes);
  const auto kind = static_cast<uint8_t>(request.kind | device::kReply);
  device::put_header(body.data(), {device::kProtocolVersion, kind, request.number});
  body.insert(body.end(), bytes.begin(), bytes.end());
  return framed(body);
}

}  // namespace embert::cli

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  line = {data, data + size, {}, 0};
  constexpr unsigned kTries = 3;
  cli::Connection connection("line", {});
  cli::DeviceClient client(connection, std::chrono::milliseconds(1), kTries);
  const std::uint8_t text[] = {'a', 0, 'b'};
  try {
    for (int request = 0; request < 4; ++request) {
      const bool hello = request == 0;
      const std::size_t least = hello ? device::kHelloReplyBytes : device::kRunReplyBytes;
      const cli::DeviceReply reply =
          client.ask(hello ? device::kHello : device::kRun,
                     hello ? std::span<const std::uint8_t>() : text, least);
      fuzz::require(reply.payload.size() >= least, "a reply has what it must have");
      fuzz::require(reply.payload.size() < device::frame_bytes(device::kMaxReplyBytes),
                    "a reply fits the buffer");
      if (hello) {
        device::get_hello(reply.payload.data());
      } else {
        device::get_run(reply.payload.data());
      }
    }
  } catch (const cli::InputError& error) {
    fuzz::check_message(error.what());
  }
  const cli::LinkErrors& errors = client.errors();
  fuzz::require(line.reads_behind_end <= kTries, "a silent device ends a request");
  fuzz::require(errors.asked_again <= 4 * (kTries - 1), "no more tries than allowed");
  return 0;
}
