// SPDX-License-Identifier: Apache-2.0
#include "tests/kernels/kernel_variants.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <set>
#include <string>

#include "kernels/dispatch.hpp"
#include "kernels/processor.hpp"

namespace embert {
namespace {

class Announcement : public testing::Environment {
 public:
  Announcement(const char* how, uint32_t isas) : how_(how), isas_(isas) {}
  void SetUp() override {
    std::printf("[ KERNELS  ] %s", how_);
    for (const IsaExtension& extension : kIsaExtensions) {
      if ((isas_ & extension.isa) != 0) std::printf(" %s", extension.name);
    }
    std::printf("\n");
  }

 private:
  const char* how_;
  uint32_t isas_;
};

}  // namespace

void report_missing_isa(const char* variant, uint32_t isa) {
  static std::set<std::string> reported;
  if (reported.insert(variant).second) {
    std::printf("[  SKIPPED ] %s: this machine has no %s\n", variant, isa_name(isa));
  }
}

bool announce_kernels(const char* how, uint32_t isas) {
  testing::AddGlobalTestEnvironment(new Announcement(how, isas));  // GoogleTest deletes it
  return true;
}

}  // namespace embert
