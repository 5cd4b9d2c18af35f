#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The bundled intent classifier from its Hugging Face folder to answers. See --help.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)

if [ $# -gt 0 ]; then
  cat <<'HELP'
Usage: targets/demo/run.sh

Installs missing packages (apt, as root or with sudo), builds the embert tool in build/release, converts the bundled
model targets/demo/tiny-intent to build/release/tiny-intent.emb and classifies the lines of targets/demo/sentences.txt.
HELP
  case "$1" in -h | --help) exit 0 ;; *) exit 1 ;; esac
fi

step() { printf '\n== %s\n' "$*"; }
# show COMMAND...: prints the command, with $texts as its stdin, and runs it.
show() {
  printf '$ %s\n' "${*//$root\//}${texts:+ <${texts#"$root/"}}"
  "$@"
}

build=$root/build/release
embert=$build/targets/cli/embert
model=$build/tiny-intent.emb
texts=

step "Build the tool"
"$root/toolchains/build_tool.sh"

step "Convert the bundled model: 2 layers, hidden size 128, 151 intents"
show "$embert" convert "$here/tiny-intent" -o "$model"

step "Memory to run the model on any machine, to the byte"
show "$embert" inspect "$model"

step "Intents: score and label, three best"
texts=$here/sentences.txt show "$embert" classify "$model" --top 3 <"$here/sentences.txt"

step "Time of the encoder for a short and a long sentence"
show "$embert" bench "$model" --tokens 16,64
