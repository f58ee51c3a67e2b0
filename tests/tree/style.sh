#!/bin/bash
# What can be counted: length of files and lines, unfinished work.
# shellcheck source=lib.bash
. "$(dirname "$0")/lib.bash"

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
    result 'attributes are in base/compiler.h' < <(
        grep -n '__attribute__' src/*.[ch] src/*/*.[ch] |
            grep -v '^src/base/compiler.h')
}
# The terms that replace these: after, before, next to, continues, skipped or
# omitted, modifier, unfreeze, forward and backward pass, learned, "Default:".
words='behind|in front of|beside|go(es)? on|(left|leaves?|leaving) out'
words+='|control word|thaw(s|ed)?|ways? (back|forward)|learnt|to be had'
words+='|(unless|if not|where not) given|nobody|of ours|(is|are) told|judge[sd]?'
result 'replaced words do not come back' < <(
    grep -nwE "$words" src/*.[ch] src/*/*.[ch] src/*/*.def src/*/*.inc \
        man/*.in tests/cli/*.ba* tests/unit/*.c tests/cases/*.c \
        tests/*.h README.md |
        grep -v '^tests/cli/\(predict_tables\|config_errors\).bats')
# Of what git tracks; dot files are free.
top='LICENSE|Makefile|README.md|configs|datasets|man|src|tests'
result 'nothing else lies at the top' < <(
    git ls-files 2>/dev/null | sed 's|/.*||' | sort -u |
        grep -vxE "\..*|$top")
result 'every command has its bats file' < <(
    for f in src/commands/*.c; do
        name=$(basename "$f" .c)
        [ -e "tests/cli/$name.bats" ] || echo "$name"
    done)
result 'every format has its fuzzer' < <(
    for f in src/formats/*.c; do
        name=$(basename "$f" .c)
        [ -e "tests/fuzz/fuzz_$name.c" ] || echo "$name"
    done)
finish
