# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2154
# The steps from sources to measurements on a board with Linux. A board's run.sh sets `root`, sources this file, defines
#   script           its name in messages
#   usage            shows the help
#   board            the board's name in messages
#   package          the Debian package that has the program of `connect`
#   connect          an array: the command that runs a shell line on the board, with stdin, stdout and exit code
#   folder           the board's folder for tool and model
#   threads          the thread counts to time
#   preset_of WHAT   prints the preset for a board that calls itself WHAT ("aarch64 64": machine, bits of a long)
#   send FILE PATH   copies a file to the board
#   make_tool        builds the board's tool with build_tool
# and calls run_steps with its arguments.

. "$root/toolchains/install_packages.sh"

step() { printf '\n== %s\n' "$*"; }
fail() { echo "$script: $*" >&2; exit 1; }
on_board() { "${connect[@]}" "$1"; }
last_error() { tail -n 1 "$errors" | tr -d '\r'; }

run_steps() {
  local steps=()
  model=$root/targets/demo/tiny-intent
  texts=$root/targets/demo/sentences.txt
  kind=--texts
  while [ $# -gt 0 ]; do
    case "$1" in
      build | copy | run | validate | bench) steps+=("$1") ;;
      --model) model=${2:-}; shift ;;
      --texts) texts=${2:-}; shift ;;
      --labelled) texts=${2:-}; kind=--labelled; shift ;;
      -h | --help) usage; exit 0 ;;
      *) echo "$script: unknown option or step $1" >&2; usage >&2; exit 1 ;;
    esac
    shift || break
  done
  [ ${#steps[@]} -gt 0 ] || steps=(build copy run validate bench)
  [ -e "$model" ] || fail "--model: there is no \"$model\": expected a Hugging Face folder or a converted model"
  [ -f "$texts" ] || fail "$kind: there is no file \"$texts\""

  command -v "${connect[0]}" >/dev/null || fail "${connect[0]} is not installed (Debian: $package)"
  errors=$(mktemp)
  trap 'rm -f "$errors"' EXIT
  local what
  # shellcheck disable=SC2016
  what=$(on_board 'echo $(uname -m) $(getconf LONG_BIT 2>/dev/null)' </dev/null 2>"$errors") ||
    fail "$board cannot be reached: $(last_error) (try: ${connect[*]} true)"
  preset=$(preset_of "$what")
  build=$root/build/board-$preset
  embert=$root/build/release/targets/cli/embert
  blob=$model
  [ ! -d "$model" ] || blob=$build/$(basename "$model").emb
  for next in "${steps[@]}"; do "step_$next"; done
}

step_build() {
  step "The tool for this machine, and the model"
  "$root/toolchains/build_tool.sh"
  mkdir -p "$build"
  [ "$blob" = "$model" ] || "$embert" convert "$model" -o "$blob"
  step "The tool for $board: $preset"
  make_tool
}

# build_tool CMAKE_OPTION...: puts the files for the board into $build/package/bin.
build_tool() {
  cmake --preset "$preset" -S "$root" -B "$build" --log-level=WARNING -DEMBERT_TESTS=OFF "$@"
  cmake --build "$build" --target embert_tool -j "$(nproc)"
  cmake --install "$build" --prefix "$build/package" --strip >/dev/null
}

# board_has SUM PATH: whether the board has a file with this cksum.
board_has() { [ "$(on_board "cksum <$2" </dev/null 2>/dev/null)" = "$1" ]; }

need_model_on_board() {
  need "$blob"
  board_has "$(cksum <"$blob")" "$folder/model.emb" ||
    fail "$board has no $folder/model.emb that is ${blob#"$root"/}: run the step copy first, with the same --model"
}

need() { [ -e "$1" ] || fail "$1 is missing: run the step build first, with the same --model"; }

step_copy() {
  local file
  step "To $board: $folder"
  need "$build/package/bin/embert"
  need "$blob"
  "$embert" inspect "$blob" >/dev/null || fail "--model: not a model of embert"
  for file in "$build"/package/bin/*; do copy "$file" "$folder/${file##*/}"; done
  copy "$blob" "$folder/model.emb"
  on_board "$folder/embert --version" </dev/null 2>"$errors" || fail "$board: embert does not start: $(last_error)"
}

# copy FILE PATH: skips a file that the board has. Renames at the end, so that a running program keeps its file.
copy() {
  local sum
  sum=$(cksum <"$1")
  ! board_has "$sum" "$2" || { echo "$2: is there"; return; }
  if ! on_board "mkdir -p $folder" </dev/null 2>"$errors" || ! send "$1" "$2.part" 2>"$errors" ||
    ! on_board "chmod 755 $2.part && test \"\$(cksum <$2.part)\" = '$sum' && mv $2.part $2" </dev/null 2>"$errors"; then
    on_board "rm -f $2.part" </dev/null 2>/dev/null || true
    fail "$board: $2 cannot be written: $(last_error | grep . || echo "the copy is damaged") (then again: the step copy)"
  fi
  echo "$2: ${sum#* } bytes"
}

step_run() {
  local task=classify
  step "Answers of $board"
  need "$embert"
  need_model_on_board
  ! "$embert" inspect "$blob" --tensors | grep -qE '^ +labels +0$' || task=embed
  if [ "$kind" = --labelled ]; then sed 's/\t[^\t]*$//' "$texts"; else cat "$texts"; fi |
    on_board "$folder/embert $task $folder/model.emb" || fail "$board: embert $task has failed"
}

step_validate() {
  step "The same bits on $board and here"
  need "$embert"
  need "$blob"
  "$embert" device validate "$blob" "$kind" "$texts" \
    --on "exec:exec ${connect[*]@Q} '$folder/embert device serve $folder/model.emb'"
}

step_bench() {
  step "Time of the encoder on $board"
  need_model_on_board
  on_board "$folder/embert bench $folder/model.emb --tokens 16,64,128 --threads $threads" </dev/null ||
    fail "$board: embert bench has failed"
}
