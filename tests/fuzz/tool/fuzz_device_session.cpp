// SPDX-License-Identifier: Apache-2.0
// libFuzzer: the device's side of the protocol. Whatever comes over the link, the device sends
// whole frames: a reply with the request's number or a refusal, and the same reply to the same
// request. An input is the size of the device's buffer, then parts with PartBytes before each.
#include <cstring>
#include <string>
#include <vector>

#include "converter/export/write_tokenizer_section.hpp"
#include "converter/import/tokenizer/read_tokenizer.hpp"
#include "embert/embert_host.h"
#include "targets/device/device_session.hpp"
#include "tests/fuzz/support/documents.hpp"
#include "tests/fuzz/support/require.hpp"
#include "tests/support/synthetic_blob.hpp"

using namespace embert;
using fuzz::require;

namespace {

constexpr std::uint32_t kMostTokens = 8;

struct PartBytes {
  std::uint8_t kind;   ///< 0: bytes as they are; 1: a frame of them
  std::uint8_t count;  ///< bytes that follow
};

/// A small classifier with its runner.
class Device {
 public:
  Device() {
    const auto spec = convert::parse_tokenizer_json(fuzz::wordpiece_documents()[0].dump(), "seed");
    test::SyntheticModel sizes;
    sizes.hidden_size = 16;
    sizes.num_heads = 2;
    sizes.head_size = 8;
    sizes.intermediate_size = 16;
    sizes.vocab_size = 40;  // room for the tokenizer
    blob_ = test::AlignedBytes(
        test::make_synthetic_blob(sizes, convert::write_tokenizer_section(spec)));
    embert_model model;
    require(embert_model_open(blob_.data(), blob_.size(), embert_isa_detect(), &model) ==
                EMBERT_STATUS_OK,
            "the device's model is valid");
    embert_options options = embert_options_default(&model);
    options.max_tokens = kMostTokens;
    std::size_t bytes = 0;
    embert_arena_bytes(&model, &options, &bytes);
    arena_ = test::AlignedBytes(bytes);
    logits_.resize(embert_num_labels(&model));
    const device::TextBuffers buffers = {ids_, type_ids_, logits_.data(), nullptr};
    require(runner_.open(model, kMostTokens, arena_.data(), bytes, buffers) == EMBERT_STATUS_OK,
            "the device runs its model");
  }
  device::TextRunner& runner() { return runner_; }

 private:
  test::AlignedBytes blob_, arena_;
  std::int32_t ids_[kMostTokens], type_ids_[kMostTokens];
  std::vector<std::int32_t> logits_;
  device::TextRunner runner_;
};

using Bytes = std::vector<std::uint8_t>;

void keep(void* sent, const std::uint8_t* bytes, std::size_t count) {
  auto& all = *static_cast<Bytes*>(sent);
  all.insert(all.end(), bytes, bytes + count);
}

/// The bodies of what the device sent, all of which is frames.
std::vector<Bytes> bodies_of(const Bytes& sent) {
  Bytes buffer(device::frame_bytes(device::kMaxReplyBytes));
  device::FrameReader reader(buffer.data(), buffer.size());
  std::vector<Bytes> bodies;
  for (const std::uint8_t byte : sent) {
    const device::FrameEvent event = reader.take(byte);
    require(event != device::FrameEvent::kDamaged, "the device sends whole frames");
    if (event == device::FrameEvent::kBody) {
      bodies.emplace_back(reader.body(), reader.body() + reader.body_bytes());
    }
  }
  return bodies;
}

void check_reply(const Bytes& body) {
  require(body.size() >= device::kHeaderBytes, "a reply has a header");
  const device::MessageHeader header = device::get_header(body.data());
  require(header.version == device::kProtocolVersion, "the device's version");
  const std::size_t payload = body.size() - device::kHeaderBytes;
  if (header.kind == device::kRefusal) {
    require(payload == 1, "a refusal has a reason");
  } else if (header.kind == (device::kHello | device::kReply)) {
    require(payload >= device::kHelloReplyBytes, "a hello reply is whole");
  } else {
    require(header.kind == (device::kRun | device::kReply), "a reply is of a known kind");
    require(payload == device::kRunReplyBytes, "a run reply is whole");
  }
}

/// Feeds bytes to the device and returns its replies.
std::vector<Bytes> feed(device::DeviceSession& session, const Bytes& bytes, Bytes& sent) {
  sent.clear();
  for (const std::uint8_t byte : bytes) session.take(byte);
  std::vector<Bytes> bodies = bodies_of(sent);
  for (const Bytes& body : bodies) check_reply(body);
  return bodies;
}

/// Whether two replies are the same but for the arena's high water, which may grow.
bool is_same_reply(Bytes a, Bytes b) {
  const auto cut = [](Bytes& reply) {
    if (reply.size() == device::kHeaderBytes + device::kRunReplyBytes) {
      reply.resize(reply.size() - sizeof(device::RunReply::arena_bytes));
    }
  };
  cut(a);
  cut(b);
  return a == b;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static Device device;
  if (size == 0) return 0;
  Bytes sent, buffer(std::size_t{8} * data[0]);
  const device::Port port = {.context = &sent,
                             .write = keep,
                             .ticks = [](void*) { return std::uint64_t{0}; },
                             .stack_bytes = nullptr,
                             .tick_unit = device::TickUnit::kNone,
                             .ticks_per_second = 0,
                             .name = "fuzz"};
  device::DeviceSession session(device.runner(), port, buffer.data(), buffer.size());
  const std::uint8_t *next = data + 1, *end = data + size;
  PartBytes part;
  while (static_cast<std::size_t>(end - next) >= sizeof(part)) {
    std::memcpy(&part, next, sizeof(part));
    next += sizeof(part);
    const std::size_t left = static_cast<std::size_t>(end - next);
    const Bytes bytes(next, next + (part.count < left ? part.count : left));
    next += bytes.size();
    if (part.kind % 2 == 0) {
      feed(session, bytes, sent);
      continue;
    }
    Bytes frame(device::frame_bytes(bytes.size()));
    frame.resize(device::write_frame(bytes.data(), bytes.size(), frame.data()));
    const std::vector<Bytes> first = feed(session, frame, sent), again = feed(session, frame, sent);
    require(!first.empty() && again.size() == 1, "a frame has one reply");
    require(is_same_reply(first.back(), again[0]), "the same reply to the same request");
    const std::uint16_t number = device::get_header(again[0].data()).number;
    const bool has_header = bytes.size() >= device::kHeaderBytes;
    require(number == 0 || (has_header && number == device::get_header(bytes.data()).number),
            "the number of the request");
  }
  return 0;
}
