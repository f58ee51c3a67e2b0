# selftest: whether a build computes rightly on a machine.
bats_require_minimum_version 1.5.0
set -o pipefail

setup() {
    cd "$BATS_TEST_TMPDIR"
    mkdir tmp
    export TMPDIR=$BATS_TEST_TMPDIR/tmp
    unset CELLRUN_SET CELLRUN_DATA
}

@test "selftest --quick passes and leaves no files" {
    run -0 --separate-stderr "$CELLRUN" selftest --quick --threads 2
    [[ "${lines[0]}" == "ok      products ("* ]]
    [[ "$output" == *$'\nok      gradients of Dense\n'* ]]
    [[ "$output" == *$'\nok      gradients of MSELoss\n'* ]]
    [[ "$output" == *$'\nok      1 and 2 threads\nok      checkpoint\nspeed '* ]]
    [[ "${lines[-1]}" =~ ^[0-9]+\ passed,\ 0\ failed$ ]]
    [ -z "$stderr" ]
    [ -z "$(ls tmp)" ]
}

@test "every cell and loss is tried" {
    run -0 "$CELLRUN" selftest --quick
    for name in $({ "$CELLRUN" help cells && "$CELLRUN" help losses; } |
        awk '/^  [A-Z]/ { print $1 }'); do
        echo "$name"
        [[ "$output" == *$'\nok      gradients of '"$name"$'\n'* ]]
    done >tried
    grep -q Softmax tried
    grep -q MSELoss tried
}

@test "one cell, all its elements" {
    run -0 "$CELLRUN" selftest --cell LeakyReLU
    [ "${lines[0]}" = "ok      gradients of LeakyReLU" ]
    [ "${lines[-1]}" = "1 passed, 0 failed" ]
}

@test "all elements of cells with a large loss, whose rounding shows" {
    for name in TransformerEncoderLayer TransformerEncoder; do
        run -0 "$CELLRUN" selftest --cell $name
        CELLRUN_ISA=generic CELLRUN_BLAS=plain run -0 \
            "$CELLRUN" selftest --cell $name
    done
}

@test "a cell that is not there" {
    run -2 --separate-stderr "$CELLRUN" selftest --cell Desne
    [[ "$stderr" == *"--cell: cell or loss 'Desne' not found [E0501]"*"did you mean 'Dense'?"* ]]
}

@test "selftest --json is one object" {
    run -0 --separate-stderr "$CELLRUN" selftest --quick --json --cell Dense
    [ "${#lines[@]}" = 1 ]
    [[ "$output" == '{"passed": 1, "failed": 0, "peak_flops": '*', "tests": [{"name": "gradients of Dense", "ok": true}]}' ]]
}

@test "a failure is exit 1" {
    run -1 --separate-stderr env TMPDIR="$BATS_TEST_TMPDIR/nowhere" \
        "$CELLRUN" selftest --quick
    [[ "$output" == *"FAILED  checkpoint: "*/nowhere/*"No such file or directory"* ]]
    [[ "$stderr" == *"1 of "*" tests failed [E0603]"* ]]
}
