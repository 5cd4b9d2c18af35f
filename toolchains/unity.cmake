# SPDX-License-Identifier: Apache-2.0
# Unity builds: the compiler reads CLI11, nlohmann/json and GoogleTest once for several sources instead of once for each.
# Kernels and runtime stay out: their sources are cheap, have flags of their own, and are what users measure.
option(EMBERT_UNITY "Compile several sources of converter, tool and tests at once, which takes a third of the time; \
OFF: each on its own, which shows a missing #include" ON)

# embert_unity(<target> <count>): up to <count> sources of the target in one run of the compiler.
function(embert_unity target count)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${EMBERT_UNITY} UNITY_BUILD_BATCH_SIZE ${count})
endfunction()
