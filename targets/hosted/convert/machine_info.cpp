// SPDX-License-Identifier: Apache-2.0
#include "targets/hosted/convert/machine_info.hpp"

#include <cpuinfo.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

#include "embert/embert.h"
#include "targets/hosted/hosted_error.hpp"

namespace embert::hosted {

void check_cpuinfo() {
  const pid_t child = fork();
  if (child < 0) return;  // no memory for a process: conversion itself will tell
  if (child == 0) {
    // The message of a sanitizer or a core file would be no help.
    for (const int signal : {SIGSEGV, SIGBUS, SIGABRT, SIGFPE}) std::signal(signal, SIG_DFL);
    const rlimit no_core = {0, 0};
    (void)setrlimit(RLIMIT_CORE, &no_core);
    // cpuinfo finds no processor where its files are empty and reads behind its empty list of them,
    // which crashes in one process and not in another. XNNPACK takes its failure for a lack of
    // memory.
    _exit(cpuinfo_initialize() && cpuinfo_get_processors_count() != 0 ? 0 : 1);
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFSIGNALED(status) || WEXITSTATUS(status) != 0) {
    throw InternalError(
        "cpuinfo, by which XNNPACK knows the processor, fails, crashes or finds no processor in "
        "what /proc/cpuinfo and /sys/devices/system/cpu say here: make these readable, or convert "
        "on another machine");
  }
}

Json machine_info() {
  Json features = Json::array();
  std::string name = "unknown";
  if (cpuinfo_initialize()) {
    if (cpuinfo_get_packages_count() > 0) name = cpuinfo_get_package(0)->name;
#if defined(__x86_64__) || defined(__i386__)
    // The features by which the float kernels are chosen.
    if (cpuinfo_has_x86_sse4_1()) features.push_back("sse4.1");
    if (cpuinfo_has_x86_avx()) features.push_back("avx");
    if (cpuinfo_has_x86_fma3()) features.push_back("fma3");
    if (cpuinfo_has_x86_avx2()) features.push_back("avx2");
    if (cpuinfo_has_x86_avx512f()) features.push_back("avx512f");
#elif defined(__aarch64__)
    features.push_back("neon");
#endif
  }
#if defined(__clang__)
  const std::string compiler = "clang " __clang_version__;
#else
  const std::string compiler = "gcc " __VERSION__;
#endif
  Json cpu = {{"name", name},
              {"features", std::move(features)},
              {"kernels", embert_isa_name(embert_isa_detect())}};
  return {{"cpu", std::move(cpu)},
          {"versions", {{"embert", embert_version()}, {"compiler", compiler}}}};
}

}  // namespace embert::hosted
