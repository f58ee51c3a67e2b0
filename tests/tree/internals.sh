#!/bin/bash
# cellrun-internals(7) names files, structs and functions that exist, and the
# change that it shows applies and compiles.
# shellcheck source=lib.bash
. "$(dirname "$0")/lib.bash"

page=man/cellrun-internals.7.in
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT

# words MACRO: what the page marks with it
words() {
    awk -v macro="$1" '/^\./ {
        for (i = 1; i < NF; i++) {
            if ($i != macro && $i != "." macro) continue
            if (macro == "Vt") print $(i + 1), $(i + 2)
            else print $(i + 1)
        }
    }' "$page" | sort -u
}

result 'its files exist' < <(
    words Pa | grep -E '^(src|tests|man)/' | while read -r path; do
        [ -e "$path" ] || echo "$path"
    done)
result 'its structs exist' < <(
    words Vt | while read -r name; do
        grep -rqE "^$name \{" src || echo "$name"
    done)
result 'its functions exist' < <(
    words Fn | while read -r name; do
        grep -rqE "[ *]$name\(" src --include '*.h' || echo "$name"
    done)
result 'its directories are those of the tree' < <(
    diff <(sed -n '/^\.Sh DIRECTORIES/,/^\.Ss/s/^\.It Pa //p' "$page" | sort) <(
        { for dir in src/*/; do
            if ls "$dir"*.h >/dev/null 2>&1; then basename "$dir"; fi
        done
        echo commands; } | sort) | grep '^[<>]')
# What of the picture is no directory: texts, and what goes over an arrow.
result 'its picture shows directories of the tree' < <(
    sed -n '/^\.Sh DIRECTORIES/,/^\.Ed/p' "$page" |
        sed '1,/^\.Bd/d; /^\.Ed/d; s/one file each\|below all of them//g' |
        grep -o '[a-z]\+' | grep -vx 'functions\|batch' |
        while read -r name; do
            [ -d "src/$name" ] || echo "$name"
        done)

# The lines of the change that are not added are in the tree, one after
# another; with the added ones the new file compiles.
added=$(sed -n 's|^+++ b/||p' man/add-cell.diff | head -n 1)
mkdir -p "$tmp/$(dirname "$added")"
awk '/^\+\+\+ / { file++; next } file == 1 && /^\+/ { print substr($0, 2) }' \
    man/add-cell.diff >"$tmp/$added"
# shellcheck disable=SC2086
check 'its new file compiles' ${CC:-cc} ${OURS:-} -fsyntax-only -Wall -Wextra \
    -Werror "$tmp/$added"
result 'its line of the registry has the neighbours that it names' < <(
    awk '/^\+\+\+ / { file++; next } /^@@/ { next }
        file == 2 && /^ / { print substr($0, 2) }' man/add-cell.diff >"$tmp/near"
    awk 'NR == FNR { near[++n] = $0; next }
        { line[FNR] = $0 }
        END {
            for (at = 1; at + n - 1 <= FNR; at++) {
                for (k = 1; k <= n && line[at + k - 1] == near[k]; k++);
                if (k > n) exit
            }
            print "not found: " near[1]
        }' "$tmp/near" src/registry.def)
finish
