# What scripts rely on stays as it was in the version that wrote unchanged.txt:
# exit statuses, members and values of JSON output, bytes of tensors. A change
# that is meant is made in unchanged.txt, and said in the commit.

bats_require_minimum_version 1.5.0
set -o pipefail
load unchanged.bash

setup() {
    [[ $("$CELLRUN" version) == *"real: float32"* ]] || skip "double precision"
}

setup_file() {
    unset CELLRUN_SET CELLRUN_DATA CELLRUN_RUNS
    cd "$BATS_FILE_TMPDIR"
    prepare
    sed -n 's/^\$ //p' "$BATS_TEST_DIRNAME/unchanged.txt" |
        while IFS= read -r line; do show "$line"; done >got.txt
}

# same REGEX COUNT: the COUNT commands that match give what they gave
same() {
    local pick='/^\$ / { on = $0 ~ re } on'
    awk -v re="^[\$] $1" "$pick" "$BATS_TEST_DIRNAME/unchanged.txt" \
        >"$BATS_TEST_TMPDIR/want"
    awk -v re="^[\$] $1" "$pick" "$BATS_FILE_TMPDIR/got.txt" \
        >"$BATS_TEST_TMPDIR/got"
    diff "$BATS_TEST_TMPDIR/want" "$BATS_TEST_TMPDIR/got"
    [ "$(grep -c '^\$ ' "$BATS_TEST_TMPDIR/want")" -eq "$2" ]
}

@test "a wrong command line" {
    same 'cellrun( frobnicate)?$' 2
}

@test "check, config, summary, gradcheck, trace" {
    same 'cellrun (check|config|summary|gradcheck|trace)' 9
}

@test "train and resume" {
    same 'cellrun (train|resume)' 7
}

@test "eval" {
    same 'cellrun eval' 5
}

@test "predict" {
    same 'cellrun predict' 5
}

@test "ckpt" {
    same 'cellrun ckpt' 6
}

@test "runs, version, help, schema" {
    same 'cellrun (runs|version|help|schema)' 5
}

@test "state and tensors of a checkpoint" {
    same '(state|tensors)' 2
}

@test "records of a run" {
    same '(head|jq|ls)' 4
}

@test "every command is in one test" {
    [ "$(grep -c '^\$ ' "$BATS_TEST_DIRNAME/unchanged.txt")" -eq 45 ]
}
