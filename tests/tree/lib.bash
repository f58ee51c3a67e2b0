# TAP for scripts: result and check say one line each, finish says the rest.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1

tap_n=0 tap_rc=0

# result NAME: fails if there is anything on standard input, and shows it.
result() {
    local out
    out=$(cat)
    tap_n=$((tap_n + 1))
    if [ -z "$out" ]; then
        echo "ok $tap_n - $1"
    else
        echo "not ok $tap_n - $1"
        sed 's/^/# /' <<<"$out"
        tap_rc=1
    fi
}

# check NAME COMMAND...: fails if the command does, and shows its output.
check() {
    local name=$1 out
    shift
    if out=$("$@" 2>&1); then
        result "$name" </dev/null
    else
        result "$name" <<<"${out:-the command failed}"
    fi
}

finish() {
    echo "1..$tap_n"
    exit $tap_rc
}
