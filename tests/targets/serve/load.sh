#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Requests a second, their times and the server's memory under wrk, which it installs:   load.sh EMBERT MODEL [REQUESTS] [CONNECTIONS]
# wrk counts seconds, not requests: it runs for five seconds at a time until there were so many. Beside it the same texts one
# by one with `embert embed`, and as one list.
set -euo pipefail
embert=$1
model=$2
requests=${3:-100000}
connections=${4:-64}
texts=$(dirname "${BASH_SOURCE[0]}")/../../../targets/demo/sentences.txt
. "$(dirname "${BASH_SOURCE[0]}")/../../../toolchains/install_packages.sh"
command -v wrk >/dev/null || install_packages wrk
folder=$(mktemp -d)
server=
finish() {
  [ -z "$server" ] || kill "$server" 2>/dev/null || true
  rm -rf "$folder"
}
trap finish EXIT

cat >"$folder/post.lua" <<'LUA'
-- The lines of the file in turn, as requests. Sums up what is no 200.
local texts, next_text = {}, 0
function init(arguments)
  for line in io.lines(arguments[1]) do
    texts[#texts + 1] = '{"input":"' .. line:gsub('[\\"]', "\\%0") .. '","encoding_format":"base64"}'
  end
end
function request()
  next_text = next_text % #texts + 1
  return wrk.format("POST", "/v1/embeddings", {["Content-Type"] = "application/json"}, texts[next_text])
end
function done(summary, latency)
  local errors = summary.errors
  io.write(string.format("%d requests in %.1f s, %.0f a second; p50 %.2f ms, p99 %.2f ms; errors: %d connect, %d read, %d write, %d status, %d timeout\n",
    summary.requests, summary.duration / 1e6, summary.requests / (summary.duration / 1e6), latency:percentile(50) / 1000,
    latency:percentile(99) / 1000, errors.connect, errors.read, errors.write, errors.status, errors.timeout))
end
LUA

"$embert" serve "$model" --port 0 2>"$folder/log" &
server=$!
while ! grep -q 'listens on' "$folder/log"; do
  kill -0 "$server" 2>/dev/null || { cat "$folder/log" >&2; exit 1; }
  sleep 0.05
done
port=$(sed -n 's/.*127\.0\.0\.1:\([0-9]*\).*/\1/p' "$folder/log" | head -n 1)
resident() { awk '/VmRSS|VmHWM/ {printf "%s %d MB  ", $1, $2 / 1024}' "/proc/$server/status"; }

echo "before: $(resident)"
sent=0
while [ "$sent" -lt "$requests" ]; do
  line=$(wrk -t 2 -c "$connections" -d 5s --timeout 30s -s "$folder/post.lua" "http://127.0.0.1:$port" -- "$texts" | tail -n 1)
  echo "$line  $(resident)"
  sent=$((sent + ${line%% *}))
  case "$line" in *"errors: 0 connect, 0 read, 0 write, 0 status, 0 timeout"*) ;; *) echo "there were errors" >&2; exit 1 ;; esac
done
echo "$sent requests from $connections connections"
kill -TERM "$server"
wait "$server"
server=

count=$(wc -l <"$texts")
begun=$(date +%s%N)
while IFS= read -r text; do "$embert" embed "$model" -- "$text"; done <"$texts" >"$folder/one" # a process for each
middle=$(date +%s%N)
"$embert" embed "$model" --threads 0 <"$texts" >"$folder/list"
ended=$(date +%s%N)
awk -v n="$count" -v one=$((middle - begun)) -v list=$((ended - middle)) \
  'BEGIN {printf "embert embed, a process for each text: %.0f a second; one process for all %d: %.0f a second\n", n * 1e9 / one, n, n * 1e9 / list}'
