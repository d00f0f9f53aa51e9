# How checks are written.  SPDX-License-Identifier: Apache-2.0
#
#   check "what is so" STATUS "words in the output" COMMAND…
#   holds "what is so" COMMAND…          the command succeeds
#   numpy_holds "what is so" COMMAND…    the same of one that uses numpy
#   skip  "what" "why"
#
# Everything a check makes lies in $tmp; $ingot is the command.

build=$(cd "${INGOT_BUILD:-build/release}" && pwd) || exit 1
ingot=$build/ingot
igcheck=$build/igcheck
cases=${INGOT_CASES:-$PWD/../shared}
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
export INGOT_CACHE_DIR=$tmp/cache
unset XDG_CACHE_HOME INGOT_DEBUG INGOT_SKIP INGOT_STOP
# The leak checker breaks over the thread storage of libraries that are opened later, as
# LLVM is.
export LSAN_OPTIONS=use_tls=0
passed=0 failed=0 skipped=0
# Debian's, which is the one that scripts/deps gives numpy.
python=$(PATH=/usr/bin:$PATH command -v python3)

# Sanitizers need time and memory of their own.
is_sanitized() {
    ldd "$ingot" | grep 'libasan\|libtsan\|libubsan' >/dev/null
}

report() {
    failed=$((failed + 1))
    echo "FAIL $1"
    shift
    printf '    %s\n' "$@"
}

# A command outside of checks that crashes (SIGILL, SIGABRT, SIGBUS, SIGFPE, SIGSEGV) where no check looks at
# its status is a failure, too.
note_crash() {
    case $1 in
    132 | 134 | 135 | 136 | 139) report "a command crashed" "exit status $1: $2" ;;
    esac
}
trap 'note_crash $? "$BASH_COMMAND"' ERR

# Runs a command into $tmp/out.
attempt() {
    "$@" >"$tmp/out" 2>&1 </dev/null
}

check() {
    local what=$1 wanted=$2 words=$3 status
    shift 3
    attempt "$@"
    status=$?
    if [ "$status" != "$wanted" ]; then
        report "$what" "exit status $status, want $wanted: $*" "$(head -c 2000 "$tmp/out")"
    elif [ -n "$words" ] && ! grep -qF -- "$words" "$tmp/out"; then
        report "$what" "no '$words' in the output of $*" "$(head -c 2000 "$tmp/out")"
    else
        passed=$((passed + 1))
    fi
}

holds() {
    local what=$1
    shift
    if attempt "$@"; then
        passed=$((passed + 1))
    else
        report "$what" "$*" "$(head -c 2000 "$tmp/out")"
    fi
}

# has_numpy "what": false, and a skip, where $python lacks numpy.
has_numpy() {
    "$python" -c "import numpy" 2>/dev/null && return
    skip "$1" "python3 has no numpy"
    return 1
}

# The command, which uses numpy, succeeds.
numpy_holds() {
    has_numpy "$1" && holds "$@"
}

skip() {
    skipped=$((skipped + 1))
    echo "skip $1: $2"
}

finish() {
    echo "$passed passed, $failed failed, $skipped skipped"
    [ "$failed" = 0 ]
    exit
}

# No file in the folder but the named ones, hidden ones counted.
only() {
    local folder=$1 found
    shift
    found=$(cd "$folder" && find . -mindepth 1 -maxdepth 1 -printf '%f ' | tr ' ' '\n' | sort)
    [ "$found" = "$(printf '%s\n' "$@" | sort)" ] || {
        echo "found: $found"
        return 1
    }
}

absent() {
    [ ! -e "$1" ]
}

# The levels of x86-64 that the compiler knows, lowest first, each of which runs the code of
# those before it; and whether this machine runs one.
levels=$("$ingot" info | sed -n 's/^targets: //p' | grep -o 'cpu:[^ ]*' | sed 's/^cpu://')
level=$("$ingot" info | sed -n 's/^this machine: level \([^,]*\),.*/\1/p')

runs_here() {
    [ "$level" != none ] && sed "/^$level\$/q" <<<"$levels" | grep -x -- "$1" >/dev/null
}

is_json() {
    python3 -m json.tool "$tmp/json"
}

# ---- models that the checks share ----

cat >"$tmp/relu.ig" <<'IG'
module @small {
  symbol B {min = 0}
  graph @main(%x: f32[B, 4]) -> (f32[B, 4] "y") {
    %0 = relu %x : f32[B, 4]
    ret %0
  }
}
IG

cc -O1 -D_GNU_SOURCE -std=c11 examples/make_dlrm.c -lm -o "$tmp/make_dlrm" &&
    "$tmp/make_dlrm" "$tmp/dlrm.onnx" "$tmp/in" >"$tmp/out" || {
    cat "$tmp/out"
    echo "tests/cli: the example model cannot be made"
    exit 1
}
"$ingot" compile "$tmp/dlrm.onnx" -q -o "$tmp/dlrm.ingot"

# interrupt SECONDS COMMAND…: sends SIGINT; passes the exit status on.
interrupt() {
    local after=$1 child
    shift
    "$@" &
    child=$!
    sleep "$after"
    kill -INT "$child" 2>/dev/null
    wait "$child"
}
