#!/usr/bin/env bash
# README's ways to install, and the recipes of containers, in systems that have nothing else.
# SPDX-License-Identifier: Apache-2.0
#
#   tests/install/run.sh
#
# A block of README behind the comment `<!-- root: NAME… : WHY -->` is run, line by line, in each of these
# systems, in a folder that holds the packages, the model of scripts/demo and its inputs.  Of
# recipes COPY and RUN are done as they stand there, and a command follows.
#
# scripts/packages and scripts/wheels make what is installed.  It wants root (chroot), the network
# of apt, and the systems, which are made once; each that is absent is a skip:
#
#   mmdebstrap --variant=apt bookworm build/roots/bookworm.tar
#   mmdebstrap --variant=apt --components=main,universe jammy build/roots/jammy.tar
#
#   INGOT_ROOTS   their folder (build/roots)
set -uo pipefail
cd "$(dirname "$0")/../.." || exit
source tests/cli/lib.sh

MAX_COMMANDS=5
MAX_SECONDS=120
MAX_RUNTIME_KB=20000
roots=${INGOT_ROOTS:-build/roots}
given=$tmp/given # what is beside the reader of the page

# make_root NAME: a fresh one at $root; false, and a skip, where there is none.
make_root() {
    root=$tmp/root
    if [ ! -e "$roots/$1.tar" ]; then
        skip "$2 on $1" "there is no $roots/$1.tar"
        return 1
    fi
    rm -rf "$root"
    mkdir "$root"
    tar -C "$root" -xf "$roots/$1.tar"
    cp -L /etc/resolv.conf "$root/etc/"
    echo force-unsafe-io >"$root/etc/dpkg/dpkg.cfg.d/no-sync"
    cp -r "$given" "$root/given"
}

# inside FOLDER COMMAND: run in the root; what it mounts goes with it.
inside() {
    unshare --mount --pid --fork sh -c '
        mount -t proc proc "$1/proc" && mount --bind /dev "$1/dev" || exit
        exec chroot "$1" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root \
            DEBIAN_FRONTEND=noninteractive sh -c "cd $2 && $3"' sh "$root" "$1" "$2"
}

# Prints the blocks of README for a root: "line number TAB command" each.
blocks_for() {
    awk -v name="$1" '
        /^<!-- root: / { split($0, of, / : /); wanted = (of[1] " ") ~ ("[ ]" name " "); number = NR; next }
        /^    / { if (wanted) print number "\t" substr($0, 5); next }
        /./ { wanted = 0 }' README.md
}

# takes BEGIN WHAT: no longer than is promised; a busy machine may take longer.
takes() {
    local seconds=$((SECONDS - $1)) load
    read -r load _ </proc/loadavg
    if [ $seconds -gt $MAX_SECONDS ] && [ "${load%.*}" -ge "$(nproc)" ]; then
        skip "$2 takes $seconds s" "the machine is busy"
    else
        holds "$2 takes $seconds s" [ $seconds -le $MAX_SECONDS ]
    fi
}

# follow NAME: README's blocks, each in a root of its own.
follow() {
    local number commands i begin
    for number in $(blocks_for "$1" | cut -f 1 | uniq); do
        make_root "$1" "README:$number" || return
        mapfile -t commands < <(blocks_for "$1" | sed -n "s/^$number\t//p")
        holds "README:$number: ${#commands[@]} commands" [ ${#commands[@]} -le $MAX_COMMANDS ]
        begin=$SECONDS
        for ((i = 0; i < ${#commands[@]} - 1; i++)); do
            holds "README:$number on $1: ${commands[i]}" inside /given "${commands[i]}"
        done
        check "README:$number on $1: ${commands[i]}" 0 0.5967861 inside /given "${commands[i]}"
        takes "$begin" "README:$number on $1"
    done
}

# build RECIPE: its COPY and RUN, from the folder of the packages.
build() {
    local line word words=()
    while IFS= read -r line; do
        read -ra words <<<"$line"
        case ${words[0]:-} in
        COPY)
            mkdir -p "$root${words[-1]}"
            for word in "${words[@]:1:${#words[@]}-2}"; do
                # shellcheck disable=SC2086
                cp $given/$word "$root${words[-1]}" || return
            done
            ;;
        RUN) inside / "${line#RUN }" || return ;;
        esac
    done < <(sed -e ':a;/\\$/{N;s/\\\n */ /;ba}' "$1")
}

kilobytes() {
    du -skx "$root" | cut -f 1
}

# recipe FILE COMMAND WORDS: it is built, and the command prints the words.
recipe() {
    make_root bookworm "$1" || return
    local before
    before=$(kilobytes)
    holds "$1 is built" build "$1"
    grew=$(($(kilobytes) - before))
    check "$1: $2" 0 "$3" inside /given "$2"
}

if [ "$(id -u)" != 0 ] || ! unshare --mount true 2>/dev/null; then
    skip "installation in empty systems" "chroot and mounts want root"
    finish
fi
mkdir "$given"
if ! cp build/packages/*.deb build/wheels/*.whl "$given" 2>/dev/null; then
    skip "installation in empty systems" "scripts/packages and scripts/wheels have not been run"
    finish
fi
mv "$tmp/dlrm.onnx" "$given/model.onnx"
cp -r "$tmp/in" "$given/inputs"

follow bookworm
follow jammy

recipe examples/containers/Containerfile.compiler \
    "ingot compile model.onnx -q -o m.ingot && ingot run m.ingot --inputs inputs" 0.5967861
recipe examples/serve/Containerfile \
    "ingot compile model.onnx -q -o m.ingot && ingot serve --help" "usage: ingot serve"
"$ingot" compile "$given/model.onnx" -q -t cpu:v2 -o "$given/model.ingot"
cc -O2 -Iinclude -pthread examples/server.c "$build/libingot-runtime.so" -o "$given/server"
recipe examples/containers/Containerfile.runtime \
    "(timeout 1 /srv/server /srv/model.ingot 7788 || [ \$? = 124 ]) && ldd /srv/server" libingot-runtime.so.0
[ ! -d "$root" ] || holds "the runtime's container is small ($grew KB more)" [ "$grew" -le $MAX_RUNTIME_KB ]
finish
