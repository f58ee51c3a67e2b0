#!/bin/bash
# tests/run itself: what fails is seen, however it fails.
# shellcheck source=lib.bash
. "$(dirname "$0")/lib.bash"

tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT

# gives STATUS LINE SCRIPT...: tests/run ends so for programs of these texts
gives() {
    local status=$1 line=$2 rc=0 out files=()
    shift 2
    for script; do
        files+=("$tmp/t${#files[@]}")
        printf '#!/bin/bash\n%s\n' "$script" >"${files[-1]}"
        chmod +x "${files[-1]}"
    done
    out=$(tests/run -j 2 -o "$tmp/logs" "${files[@]}" 2>&1) || rc=$?
    [ "$rc" = "$status" ] || echo "status $rc, expected $status"
    [ "$(tail -n 1 <<<"$out")" = "$line" ] || echo "$out"
}

good='echo ok 1; echo 1..1'
result 'all pass' < <(
    gives 0 '2 passed, 0 failed' "$good" "$good"
    gives 0 '2 passed, 0 failed, 1 skipped' "$good" \
        'echo ok 1; echo "ok 2 # SKIP why"; echo 1..2')
result 'a failing line' < <(
    gives 1 '2 passed, 1 failed' "$good" \
        'echo ok 1; echo not ok 2; echo 1..2; exit 1'
    gives 1 '2 passed, 1 failed' "$good" 'echo ok 1; echo not ok 2; echo 1..2')
result 'a program that stops before its plan, after it or without one' < <(
    gives 1 '2 passed, 1 failed' "$good" 'echo ok 1; echo 1..2'
    gives 1 '2 passed, 1 failed' "$good" 'echo ok 1'
    gives 1 '1 passed, 1 failed' "$good" 'kill -SEGV $$'
    gives 1 '2 passed, 1 failed' "$good" 'echo ok 1; echo 1..1; exit 3')
result 'nothing but what is skipped' < <(
    gives 1 '0 passed, 0 failed, 1 skipped' 'echo "ok 1 # SKIP why"; echo 1..1')
result 'a file whose line is lost' < <(
    gives 1 '1 passed, 1 failed' "$good" "mkdir $tmp/logs/002.tap; $good")
finish
