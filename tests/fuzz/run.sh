#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# tests/fuzz/run.sh BUILD MINUTES [PROGRAM...]: runs the fuzz programs of a build one after the other, each for so many
# minutes of wall time, and prints executions, covered edges, processor minutes and findings. The corpora grow in
# BUILD/fuzz-corpus, findings are kept in BUILD/fuzz-findings. Ends with 1 where there are findings.
set -euo pipefail

if (($# < 2)); then
  sed -n 's/^# //p' "$0" | sed 1d >&2
  exit 2
fi
build=$(cd "$1" && pwd)
seconds=$((60 * $2))
shift 2
programs=("$@")
if ((${#programs[@]} == 0)); then
  for path in "$build"/tests/fuzz/fuzz_*; do
    if [ -f "$path" ] && [ -x "$path" ]; then programs+=("$(basename "$path")"); fi
  done
fi
corpus=$build/fuzz-corpus findings=$build/fuzz-findings
mkdir -p "$corpus" "$findings"
"$build/tests/fuzz/make_seeds" "$corpus/seeds"
export ASAN_OPTIONS=allocator_may_return_null=1 UBSAN_OPTIONS=print_stacktrace=1
# The readers' folders are best in memory.
if [ -d /dev/shm ]; then export TMPDIR=/dev/shm; fi

status=0
printf '%-24s %12s %8s %8s  %s\n' program executions edges minutes findings
for program in "${programs[@]}"; do
  mkdir -p "$corpus/$program"
  log=$findings/$program.log
  prefix=$findings/$program-
  # A change of JSON is one step: several on top of each other seldom leave a valid document.
  depth=5
  case $program in fuzz_tokenizer_json | fuzz_tokenizer_folder | fuzz_config | fuzz_model_folder) depth=1 ;; esac
  TIMEFORMAT='%U %S'
  used=$({ time "$build/tests/fuzz/$program" -max_total_time="$seconds" -timeout=120 -report_slow_units=120 \
    -rss_limit_mb=3000 -mutate_depth="$depth" \
    -print_final_stats=1 -artifact_prefix="$prefix" "$corpus/$program" "$corpus/seeds/$program" >"$log" 2>&1; } 2>&1) || status=1
  found=$(find "$findings" -name "$program-*" | wc -l)
  printf '%-24s %12s %8s %8s  %s\n' "$program" \
    "$(sed -n 's/^stat::number_of_executed_units: *//p' "$log" | tail -n 1)" \
    "$(sed -n 's/.* cov: \([0-9]*\) .*/\1/p' "$log" | tail -n 1)" \
    "$(echo "$used" | tail -n 1 | awk '{printf "%.1f", ($1 + $2) / 60}')" "$found"
  if ((found > 0)); then status=1; fi
done
exit "$status"
