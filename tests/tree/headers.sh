#!/bin/bash
# Each header compiles alone. OURS and CC come from the Makefile.
# shellcheck source=lib.bash
. "$(dirname "$0")/lib.bash"

alone() {
    # shellcheck disable=SC2086
    printf '#include "%s"\nextern int more;\n' "${1#src/}" |
        ${CC:-cc} ${OURS:--std=c17 -D_GNU_SOURCE -Isrc -Wall -Wextra} \
            -Werror -fsyntax-only -x c -
}

result 'every header compiles alone' < <(
    for header in src/*.h src/*/*.h; do
        alone "$header" 2>&1 || echo "$header does not"
    done)
finish
