#!/bin/bash
# The manual is sound, and what the documents show works.
# shellcheck source=lib.bash
. "$(dirname "$0")/lib.bash"

tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT

for page in "$BUILD"/man/*.[15]; do
    check "mandoc finds no error in $(basename "$page")" \
        mandoc -T lint -W error "$page"
    check "$(basename "$page") has no marker left" \
        bash -c '! grep -n "^\.\\\\\" @" "$0"' "$page"
done

# Plug-ins are found there as data are.
for source in configs/plugins/*.c; do
    check "$source builds" ${CC:-cc} -std=c17 -Wall -Wextra -Wpedantic \
        -Werror -fPIC -shared -Isrc -o "$tmp/$(basename "$source" .c).so" \
        "$source"
done
data=$tmp${CELLRUN_DATA:+:$CELLRUN_DATA}

for config in configs/*.yaml configs/*/*.yaml; do
    # a vocabulary is made of the text, which must be there
    if grep -q '\$vocab' "$config" &&
        ! [ -e "${CELLRUN_DATA:-}/tinyshakespeare.txt" ]; then
        result "$config resolves # SKIP needs tinyshakespeare.txt" </dev/null
    else
        check "$config resolves" \
            env CELLRUN_DATA="$data" "$CELLRUN" config "$config"
    fi
done

# Every config of the README: blocks that begin with ```yaml.
awk -v dir="$tmp" '
    /^```yaml/ { file = sprintf("%s/readme%d.yaml", dir, ++n); next }
    /^```/ { file = "" }
    file { print >file }' README.md
cp configs/*.yaml "$tmp"
for config in "$tmp"/readme*.yaml; do
    check "$(basename "$config") of README.md resolves" \
        "$CELLRUN" config "$config"
done

# Every variable that is read is explained, and no other.
grep -oh 'getenv("[A-Z_]*")' -r src | cut -d'"' -f2 | sort -u >"$tmp/read"
"$CELLRUN" help environment | sed -n 's/^  \([A-Z_][A-Z_]*\).*/\1/p' |
    sort -u >"$tmp/told"
check 'help environment lists what is read' diff "$tmp/read" "$tmp/told"

check 'README.md names every verb of the usual path' \
    grep -q 'cellrun eval --ckpt' README.md
check '.ci/run calls the test command of README.md' \
    bash -c 'grep -qF "$(grep "make check$" README.md)" .ci/run'
check 'no path of a workplace stands in a document' \
    bash -c '! grep -rn "/wor[k]/\|/tm[p]/" README.md man configs Makefile'
finish
