#!/bin/bash
# What can be counted: length of files and lines, unfinished work.
set -u
cd "$(dirname "$0")/../.." || exit 1

n=0 rc=0
result() { # NAME, the offenders on standard input
    local out
    out=$(cat)
    n=$((n + 1))
    if [ -z "$out" ]; then
        echo "ok $n - $1"
    else
        echo "not ok $n - $1"
        sed 's/^/# /' <<<"$out"
        rc=1
    fi
}

ours=$(ls src/*.[ch] src/*.def src/*/*.[ch] src/*/*.def tests/*.[ch] \
    tests/*/*.[ch] datasets/*.c 2>/dev/null)
# shellcheck disable=SC2086
{
    result 'no file is longer than 800 lines' < <(
        wc -l $ours | awk '$2 != "total" && $1 > 800')
    result 'no line is wider than 80 columns' < <(
        awk 'length > 80 { print FILENAME ":" FNR }' $ours)
    result 'nothing is left to do' < <(
        grep -nw 'TO[D]O\|FIX[M]E\|X[X]X' $ours)
    result 'attributes stand in base/attr.h' < <(
        grep -n '__attribute__' src/*.[ch] src/*/*.[ch] |
            grep -v '^src/base/attr.h')
}
result 'every verb has its bats file' < <(
    for f in src/verbs/*.c; do
        name=$(basename "$f" .c)
        [ -e "tests/cli/$name.bats" ] || echo "$name"
    done)
result 'every format has its fuzzer' < <(
    for f in src/formats/*.c; do
        name=$(basename "$f" .c)
        [ -e "tests/fuzz/fuzz_$name.c" ] || echo "$name"
    done)
echo "1..$n"
exit $rc
