#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# targets/web/record_bits.sh MODEL PLACE=TOOL... [PLACE?COMMAND...]: writes page/recorded.json, the checksums of
# sentences.txt that the page's panel of bits compares with. TOOL is a way to start the tool of a processor, COMMAND one that
# ends with 0 if its processor has the bits of the first place:
#   targets/web/record_bits.sh build/web/models/tiny-embed.emb x86-64=build/release/targets/cli/embert \
#     "aarch64=qemu-aarch64 -L build/sysroot-arm64 build/aarch64/targets/cli/embert" \
#     "cortex-m55?targets/cortex-m/run.sh --model targets/web/tiny-embed --validate targets/web/sentences.txt"
set -euo pipefail
if (($# < 2)); then
  sed -n '3,8s/^# //p' "$0" >&2
  exit 2
fi
folder=$(dirname "$0")
model=$1
shift
columns=() places=()
trap 'rm -f "${columns[@]}"' EXIT
for place in "$@"; do
  column=$(mktemp)
  columns+=("$column")
  case $place in
    *\?*)
      places+=("${place%%\?*}")
      ${place#*\?} >&2
      cp "${columns[0]}" "$column"
      ;;
    *)
      places+=("${place%%=*}")
      ${place#*=} checksum "$model" <"$folder/sentences.txt" >"$column"
      ;;
  esac
done
python3 - "$folder/sentences.txt" "$folder/page/recorded.json" "${places[*]}" "${columns[@]}" <<'PYTHON'
import json, pathlib, sys
sentences, out, places, *columns = sys.argv[1:]
texts = pathlib.Path(sentences).read_text(encoding="utf-8").splitlines()
rows = zip(texts, *(pathlib.Path(column).read_text().split() for column in columns), strict=True)
recorded = {"places": places.split(), "sentences": [{"text": text, "checksums": sums} for text, *sums in rows]}
pathlib.Path(out).write_text(json.dumps(recorded, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
PYTHON
