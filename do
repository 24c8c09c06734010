#!/usr/bin/env bash
# The one script: ./do deps | build | demo | test | bench | lint | asan | fuzz | install
set -euo pipefail
cd "$(dirname "$0")"

# The one list of Debian packages.
packages=(
  g++ cmake ninja-build pkg-config ccache
  libsndfile1-dev libsoxr-dev libkissfft-dev libsodium-dev libfmt-dev nlohmann-json3-dev
  libcli11-dev libhwy-dev libeigen3-dev zlib1g-dev libopenblas-pthread-dev
  libgtest-dev libbenchmark-dev
  libtorch-dev                                      # training programs
  node-d3                                           # inlined into report pages
  clang clang-format clang-tidy libclang-rt-14-dev  # lint and fuzz targets
  flite                                             # voices of the demo
  libpocketsphinx-dev pocketsphinx-en-us            # word errors in the bench
)

deps() {
  local missing=()
  for package in "${packages[@]}"; do
    [ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null)" = installed ] ||
      missing+=("$package")
  done
  [ ${#missing[@]} -eq 0 ] && return
  local as_root=()
  [ "$(id -u)" -eq 0 ] || as_root=(sudo)
  echo "installing ${missing[*]}"
  "${as_root[@]}" apt-get update -qq
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
}

configure_and_build() {  # preset, further arguments of the build
  local folder=build
  [ "$1" = release ] || folder=build-$1
  [ -f "$folder/build.ninja" ] || cmake --preset "$1" >/dev/null
  cmake --build --preset "$1" "${@:2}"
}

build() { deps && configure_and_build release; }

demo() { build && tools/demo; }

run_ctest() {  # build folder, further arguments of ctest
  ctest --test-dir "$1" --output-on-failure -j "$(nproc)" "${@:2}"
}

run_tests() { build && run_ctest build "$@" && fuzz 60; }

bench() {
  build
  for program in build/bin/*_bench; do "$program" "$@"; done
}

lint() {
  deps
  [ -f build/build.ninja ] || cmake --preset release >/dev/null
  git ls-files '*.cc' '*.h' | xargs clang-format --dry-run -Werror
  tools/check_rooms
  git ls-files 'src/*.cc' 'bench/*.cc' 'fuzz/*.cc' | grep -v '^fuzz/' |
    xargs -P "$(nproc)" -n 4 clang-tidy -p build --quiet 2> >(grep -v 'warnings generated' >&2)
}

asan() { deps && configure_and_build asan && run_ctest build-asan "$@"; }

fuzz() {  # seconds for all targets together
  deps && configure_and_build fuzz --target fuzz_targets
  local targets=(build-fuzz/bin/*_fuzz) seconds=${1:-60}
  for target in "${targets[@]}"; do
    local corpus=build-fuzz/corpus/$(basename "$target")
    mkdir -p "$corpus"
    "$target" -max_total_time=$((seconds / ${#targets[@]})) -max_len=65536 -rss_limit_mb=2048 \
      -verbosity=0 -close_fd_mask=3 "$corpus" "fuzz/seeds/$(basename "$target")"
    echo "fuzz: $(basename "$target") found nothing"
  done
}

install_it() { build && cmake --install build --prefix "${1:-/usr/local}"; }

case "${1:-}" in
  deps | build | demo | bench | lint | asan | fuzz) "$@" ;;
  test) shift && run_tests "$@" ;;
  install) shift && install_it "$@" ;;
  *) sed -n '2s/^# //p' "$0"; exit 2 ;;
esac
