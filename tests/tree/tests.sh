#!/bin/bash
# Tests that cannot fail: what bash and bats let pass unseen.
# shellcheck source=lib.bash
. "$(dirname "$0")/lib.bash"

bats=$(ls tests/cli/*.bats)
shell="$bats $(ls tests/cli/*.bash)"

# shellcheck disable=SC2086
{
    result 'every bats file notices a command that fails before a pipe' \
        < <(grep -L '^set -o pipefail$' $bats)
    # a reader that leaves early ends the command before it
    result 'no pipe ends in grep -q' < <(
        grep -nE '[^|]\| *grep +-[a-zA-Z]*q' $shell)
    result '"must fail" is written "run !": bats does not see a bare "!"' < <(
        grep -nE '^ *! ' $shell | grep -v '||\|&&\|; then$')
    result 'no status is thrown away' < <(
        grep -nE '\|\| *(true|:)( *[;})]|$)' $shell | grep -vw kill)
    result 'a status is looked at after "run" without one' < <(awk '
        function end() { if (open) print where; open = 0 }
        FNR == 1 || /^}/ { end(); test = 0 }
        /^@test/ { test = 1 } # a function leaves it to its callers
        test && /^ *run (("[^-]|[^-!"])|--separate-stderr [^-!])/ {
            end(); open = 1; where = FILENAME ":" FNR ":" $0
        }
        /\$status|\$\{status|"\$rc"/ { open = 0 }' $shell)
    # set -e does not see the first of two: [ a ] && [ b ]
    result 'conditions in the midst of a test are separate commands' < <(awk '
        before != "" { if (!/^ *}$/) print before; before = "" }
        /^ *\[.*\]+ && \[/ && !/\[\[.* && [^[]*\]\]$/ && !/\|\|/ {
            before = FILENAME ":" FNR ":" $0
        }' $shell)
}
result 'no test program prints "ok" without a condition' < <(
    grep -nE '\bok\((true|1),' tests/*/*.c | grep -v '# SKIP')
finish
