#!/bin/bash
# Each header compiles alone. OURS and CC come from the Makefile.
set -u
cd "$(dirname "$0")/../.." || exit 1

n=0 rc=0
for header in $(ls src/*.h src/*/*.h); do
    n=$((n + 1))
    # shellcheck disable=SC2086
    if out=$(printf '#include "%s"\n' "${header#src/}" |
        ${CC:-cc} ${OURS:--std=c17 -D_GNU_SOURCE -Isrc -Wall -Wextra} \
            -Werror -fsyntax-only -x c - 2>&1); then
        echo "ok $n - $header compiles alone"
    else
        echo "not ok $n - $header compiles alone"
        sed 's/^/# /' <<<"$out"
        rc=1
    fi
done
echo "1..$n"
exit $rc
