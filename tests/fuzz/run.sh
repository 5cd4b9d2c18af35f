#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# tests/fuzz/run.sh [--minutes N | --seconds N] [--build DIR] [PROGRAM...]: runs the fuzz programs of a build (build/fuzz)
# one after the other, each for so long (1 minute of wall time), and prints executions, covered edges, the execution that
# found the last new edge, processor minutes and findings. They begin with the seeds, the corpora of tests/fuzz/corpus and
# the inputs that once broke something (found.tar.gz there).
# What covers more is kept in DIR/fuzz-corpus, findings in DIR/fuzz-findings. Ends with 1 where there are findings.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
build=$root/build/fuzz
seconds=60
programs=()
while (($# > 0)); do
  case $1 in
    --minutes) seconds=$((60 * $2)); shift ;;
    --seconds) seconds=$2; shift ;;
    --build) build=$(cd "$2" && pwd); shift ;;
    fuzz_*) programs+=("$1") ;;
    *) sed -n '3,7s/^# //p' "$0" >&2; exit 2 ;;
  esac
  shift
done
if ((${#programs[@]} == 0)); then
  for path in "$build"/tests/fuzz/fuzz_*; do
    if [ -f "$path" ] && [ -x "$path" ]; then programs+=("$(basename "$path")"); fi
  done
fi
if ((${#programs[@]} == 0)); then
  echo "tests/fuzz/run.sh: no programs in $build: cmake --preset fuzz && cmake --build --preset fuzz --target fuzz_programs" >&2
  exit 2
fi
corpus=$build/fuzz-corpus findings=$build/fuzz-findings
mkdir -p "$corpus" "$findings"
"$build/tests/fuzz/make_seeds" "$corpus/seeds"
mkdir -p "$corpus/found"
tar -xzf "$root/tests/fuzz/corpus/found.tar.gz" -C "$corpus/found"
export ASAN_OPTIONS=allocator_may_return_null=1 UBSAN_OPTIONS=print_stacktrace=1
# The readers' folders are best in memory.
if [ -d /dev/shm ]; then export TMPDIR=/dev/shm; fi

status=0
printf '%-24s %12s %8s %14s %8s  %s\n' program executions edges 'last new edge' minutes findings
for program in "${programs[@]}"; do
  mkdir -p "$corpus/$program" "$corpus/kept/$program" "$corpus/found/$program"
  if [ -e "$root/tests/fuzz/corpus/$program.tar.gz" ]; then
    tar -xzf "$root/tests/fuzz/corpus/$program.tar.gz" -C "$corpus/kept/$program"
  fi
  log=$findings/$program.log
  prefix=$findings/$program-
  # A change of JSON is one step: several on top of each other seldom leave a valid document.
  depth=5
  case $program in fuzz_tokenizer_json | fuzz_tokenizer_folder | fuzz_config | fuzz_model_folder | fuzz_records) depth=1 ;; esac
  TIMEFORMAT='%U %S'
  used=$({ time "$build/tests/fuzz/$program" -max_total_time="$seconds" -timeout=120 -report_slow_units=120 \
    -rss_limit_mb=3000 -mutate_depth="$depth" \
    -print_final_stats=1 -artifact_prefix="$prefix" "$corpus/$program" "$corpus/seeds/$program" \
    "$corpus/kept/$program" "$corpus/found/$program" >"$log" 2>&1; } 2>&1) || status=1
  found=$(find "$findings" -name "$program-*" | wc -l)
  printf '%-24s %12s %8s %14s %8s  %s\n' "$program" \
    "$(sed -n 's/^stat::number_of_executed_units: *//p' "$log" | tail -n 1)" \
    "$(sed -n 's/.* cov: \([0-9]*\) .*/\1/p' "$log" | tail -n 1)" \
    "$(awk '{ for (i = 2; i < NF; ++i) if ($i == "cov:" && $(i + 1) > most) { most = $(i + 1); at = substr($1, 2) } }
            END { print at }' "$log")" \
    "$(echo "$used" | tail -n 1 | awk '{printf "%.1f", ($1 + $2) / 60}')" "$found"
  if ((found > 0)); then status=1; fi
done
exit "$status"
