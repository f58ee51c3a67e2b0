#!/bin/bash
# What the documents show works.
# shellcheck source=lib.bash
. "$(dirname "$0")/lib.bash"

tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT

check 'no page has a marker left' \
    bash -c '! grep -n "^\.\\\\\" @" "$@"' bash "$BUILD"/man/*.[0-9]

# Plug-ins are found there as data are.
plugins() {
    local source
    for source in configs/plugins/*.c; do
        ${CC:-cc} -std=c17 -Wall -Wextra -Wpedantic -Werror -fPIC -shared \
            -Isrc -o "$tmp/$(basename "$source" .c).so" "$source" || return
    done
}
check 'every plug-in builds' plugins
data=$tmp:$PWD/datasets${CELLRUN_DATA:+:$CELLRUN_DATA}

# resolve CONFIG...: shows those that do not
resolve() {
    local config out
    for config; do
        out=$("$CELLRUN" config "$config" 2>&1) || echo "$config: $out"
    done
}

# a vocabulary is made of the text, which must be there
texts=$(grep -l '\$vocab' configs/*.yaml configs/*/*.yaml)
# shellcheck disable=SC2086
if [ -e "${CELLRUN_DATA:-}/tinyshakespeare.txt" ]; then
    result 'every config with a vocabulary resolves' < <(
        export CELLRUN_DATA=$data
        resolve $texts)
else
    result 'every config with a vocabulary resolves # SKIP needs tinyshakespeare.txt' </dev/null
fi
# shellcheck disable=SC2046
result 'every other config resolves' < <(
    export CELLRUN_DATA=$data
    resolve $(grep -L '\$vocab' configs/*.yaml configs/*/*.yaml))

# Every config of the README: blocks that begin with ```yaml.
awk -v dir="$tmp" '
    /^```yaml/ { file = sprintf("%s/readme%d.yaml", dir, ++n); next }
    /^```/ { file = "" }
    file { print >file }' README.md
cp configs/*.yaml "$tmp"
result 'every config of README.md resolves' < <(resolve "$tmp"/readme*.yaml)

# Every variable that is read is explained, and no other.
grep -oEh '(getenv|cr_env_number)\("[A-Z_]*"' -r src | cut -d'"' -f2 |
    sort -u >"$tmp/read"
"$CELLRUN" help environment | sed -n 's/^  \([A-Z_][A-Z_]*\).*/\1/p' |
    sort -u >"$tmp/told"
check 'help environment lists what is read' diff "$tmp/read" "$tmp/told"

# The tables of cellrun-arithmetic(7) follow the program.
page=$BUILD/man/cellrun-arithmetic.7
missing() {
    local name
    for name in $("$CELLRUN" help losses | sed -n 's/^  \([A-Z][^ ]*\) .*/\1/p') \
        $("$CELLRUN" help optimizers | sed -n 's/^  \([A-Z][^ ]*\) .*/\1/p'); do
        grep -qw "$name" "$page" || echo "$name"
    done
    [ "${name-}" ] || echo 'no losses, no optimizers'
}
result 'cellrun-arithmetic(7) names every loss and optimizer' < <(missing)

# other_defaults: rows of PYTORCH that have another default than help
other_defaults() {
    local row key told default
    while IFS='|' read -r row key; do
        told=$(sed -n "s/^\.It $row Ta .* Ta \([^ ,]*\).*/\1/p" "$page")
        default=$("$CELLRUN" help "$key" |
            sed -n "s/^$key: .*default \(.*\)/\1/p")
        awk -v a="${told:-none}" -v b="$default" \
            'BEGIN { exit !(a == b || (a + 0 == b + 0 && a + 0 != 0)) }' ||
            echo "$row: the page has $told, help $default"
    done <<END
AdaMax rate|AdaMax.learning_rate
BatchNorm momentum|BatchNorm2d.momentum
InstanceNorm affine|InstanceNorm2d.affine
LayerNorm eps|LayerNorm.epsilon
LeakyReLU slope|LeakyReLU.alpha
SGD rate|SGD.learning_rate
END
}
result 'cellrun-arithmetic(7) has the defaults of help' < <(other_defaults)

check 'README.md names every command of the usual path' \
    grep -q 'cellrun eval --ckpt' README.md
check '.ci/run calls the test command of README.md' \
    bash -c 'grep -qF "$(grep "make check$" README.md)" .ci/run'
check 'no document names a path of a workplace' \
    bash -c '! grep -rn "/wor[k]/\|/tm[p]/" README.md man configs Makefile'
finish
