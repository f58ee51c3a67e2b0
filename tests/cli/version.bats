# version
bats_require_minimum_version 1.5.0
set -o pipefail

@test "version names version, flags and processor" {
    run -0 --separate-stderr "$CELLRUN" version
    [ "${lines[0]}" = "cellrun 0.1.0" ]
    [[ "${lines[2]}" == "flags: -"* ]]
    [[ "$output" == *$'\n'"cpu: "* ]]
    [ -z "$stderr" ]
}

@test "--version is the same" {
    "$CELLRUN" version >"$BATS_TEST_TMPDIR/want"
    run -0 "$CELLRUN" --version
    diff "$BATS_TEST_TMPDIR/want" <(echo "$output")
}

@test "version --json is one object" {
    run -0 "$CELLRUN" version --json
    [ "${#lines[@]}" -eq 1 ]
    [ "$(jq -r .version <<<"$output")" = 0.1.0 ]
    [ "$(jq -r '.cores > 0' <<<"$output")" = true ]
}
