// SPDX-License-Identifier: Apache-2.0
// libFuzzer: a hostile blob is refused with a status, or everything that the API offers for it is
// safe, ends soon and gives the same bits with the scalar kernels and with this machine's. An input
// is a blob; its magic, size and checksum are put right.
#include <cstring>
#include <span>
#include <vector>

#include "runtime/format/blob_format.hpp"
#include "tests/fuzz/runtime/record_model.hpp"
#include "tests/fuzz/support/require.hpp"
#include "tests/fuzz/support/word_mutator.hpp"
#include "tests/support/synthetic_blob.hpp"
#include "tests/support/system/isa_masks.hpp"

using namespace embert;

namespace {

void repair(test::AlignedBytes& blob) {
  auto& header = *reinterpret_cast<BlobHeader*>(blob.data());
  std::memcpy(header.magic, kBlobMagic, sizeof(kBlobMagic));
  header.version = kBlobVersion;
  header.blob_bytes = blob.size();
  header.layout = kLayoutN16K4;
  test::seal_blob(blob.data(), blob.size());
}

/// The bytes that a mutation changes: more often those that say what the others are.
std::span<std::uint8_t> pick_target(std::uint8_t* data, std::size_t size, fuzz::Random& random) {
  if (size < sizeof(BlobHeader) || random.below(8) == 0) return {data, size};
  BlobHeader header;
  std::memcpy(&header, data, sizeof(header));
  if (random.below(4) == 0) return {data, sizeof(header)};
  const std::size_t table_bytes = std::size_t{header.section_count % 4096} * sizeof(BlobSection);
  if (table_bytes == 0 || table_bytes > size - sizeof(header)) return {data, size};
  if (random.below(8) == 0) return {data + sizeof(header), table_bytes};
  // One of the optional sections, which are the last, or any.
  const std::size_t count = header.section_count % 4096, last = random.below(2) == 0 ? 6 : count;
  const std::size_t index = count - 1 - random.below(last < count ? last : count);
  BlobSection section;
  std::memcpy(&section, data + sizeof(header) + index * sizeof(section), sizeof(section));
  if (section.offset > size || section.bytes > size - section.offset) return {data, size};
  // Records stand at the begin of a section.
  const std::size_t most = random.below(2) == 0 ? 64 : section.bytes;
  return {data + section.offset, section.bytes < most ? section.bytes : most};
}

}  // namespace

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t max_size, unsigned seed) {
  fuzz::Random random(seed);
  if (random.below(64) == 0) return fuzz::mutate_bytes(data, size, max_size);
  fuzz::mutate_words(pick_target(data, size, random), random);
  return size;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < sizeof(BlobHeader)) return 0;
  test::AlignedBytes blob(std::vector<std::uint8_t>(data, data + size));
  repair(blob);
  fuzz::require(
      fuzz::record_model(blob, EMBERT_ISA_SCALAR) == fuzz::record_model(blob, runnable_isas()),
      "the same bits with all kernels");
  return 0;
}
