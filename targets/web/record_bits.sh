#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# targets/web/record_bits.sh MODEL PLACE=COMMAND...: writes page/recorded.json, the checksums that the page's panel of
# bits compares with. Each COMMAND is a way to start the tool, such as x86-64=build/release/targets/cli/embert or
# "aarch64=qemu-aarch64 -L build/sysroot-arm64 build/aarch64/targets/cli/embert".
set -euo pipefail
folder=$(dirname "$0")
model=$1
shift
columns=() places=()
for place in "$@"; do
  column=$(mktemp)
  # shellcheck disable=SC2086
  ${place#*=} checksum "$model" <"$folder/sentences.txt" >"$column"
  columns+=("$column") places+=("${place%%=*}")
done
python3 - "$folder/sentences.txt" "$folder/page/recorded.json" "${places[*]}" "${columns[@]}" <<'PYTHON'
import json, pathlib, sys
sentences, out, places, *columns = sys.argv[1:]
texts = pathlib.Path(sentences).read_text(encoding="utf-8").splitlines()
rows = zip(texts, *(pathlib.Path(column).read_text().split() for column in columns), strict=True)
recorded = {"places": places.split(), "sentences": [{"text": text, "checksums": sums} for text, *sums in rows]}
pathlib.Path(out).write_text(json.dumps(recorded, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
PYTHON
rm -f "${columns[@]}"
