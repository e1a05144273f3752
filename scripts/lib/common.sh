# shellcheck shell=bash
# What the scripts share. Source it after `set -euo pipefail`; it changes neither the folder nor the arguments.

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)"

say() { printf '\n==> %s\n' "$*"; }

die() {
  printf 'error: %s\n' "$*" >&2
  exit 1
}

# Prints the comment at the head of the calling script and ends, when -h or --help is among the arguments.
answer_help() { # ARGUMENT...
  local argument
  for argument in "$@"; do
    [[ "$argument" == -h || "$argument" == --help ]] || continue
    sed -n '2,/^[^#]/s/^# \{0,1\}//p' "${BASH_SOURCE[1]}"
    exit 0
  done
}

# Compiles at the same time: one for each processor, but 1.5 GiB of memory for each.
jobs_max() {
  local processors memory_kib by_memory
  processors="$(nproc)"
  memory_kib="$(awk '/^MemAvailable:/ {print $2}' /proc/meminfo)"
  by_memory=$((memory_kib / 1572864))
  ((by_memory >= 1)) || by_memory=1
  echo "${HANDFAST_JOBS:-$((processors < by_memory ? processors : by_memory))}"
}

is_installed() { # PACKAGE [COMMAND]
  if [[ -n "${2:-}" ]] && command -v "$2" >/dev/null 2>&1; then
    return 0
  fi
  dpkg -s "$1" 2>/dev/null | grep -q '^Status: install ok installed$'
}

missing_packages() {
  local package command
  while read -r package command; do
    case "$package" in '' | '#'*) continue ;; esac
    is_installed "$package" "$command" || echo "$package"
  done <"$root/scripts/lib/packages.txt"
}

# Installs what is missing and nothing else; says nothing when all is there.
install_missing() {
  local -a missing as_root=()
  mapfile -t missing < <(missing_packages)
  ((${#missing[@]})) || return 0
  command -v apt-get >/dev/null 2>&1 ||
    die "these Debian packages are missing, and there is no apt-get here: ${missing[*]}"
  if ((EUID != 0)); then
    command -v sudo >/dev/null 2>&1 ||
      die "as root, run: apt-get update && apt-get install -y ${missing[*]}"
    as_root=(sudo)
  fi
  say "Installing ${#missing[@]} missing packages: ${missing[*]}"
  "${as_root[@]}" apt-get update -q
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y -q --no-install-recommends "${missing[@]}"
}

# Configures and builds a preset; further arguments name targets.
build_preset() { # PRESET [TARGET...]
  local preset="$1" jobs
  shift
  jobs="$(jobs_max)"
  say "Building '$preset' in build/$preset ($jobs at a time; the first build takes minutes)"
  (cd "$root" && cmake --preset "$preset" --log-level=WARNING >/dev/null &&
    cmake --build --preset "$preset" --parallel "$jobs" ${1:+--target "$@"})
}

# Runs ctest and repeats its summary line as the last one, also in FOLDER/closing.txt. Fails when a test failed or none
# was found.
run_tests() { # FOLDER [CTEST-ARGUMENT...]
  local folder="$1" output closing status=0
  shift
  output="$(mktemp)"
  closing="$root/$folder/closing.txt"
  ctest --test-dir "$root/$folder" --output-on-failure --no-tests=error --timeout 900 \
    --parallel "$(nproc)" "$@" 2>&1 | sed -u '/^ *Start /d' | tee "$output" || status=$?
  { grep -E 'tests passed, .* out of' "$output" || echo "ctest found no test to run"; } |
    tail -n 1 | tee "$closing"
  rm -f "$output"
  return "$status"
}
