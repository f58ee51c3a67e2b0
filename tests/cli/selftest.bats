# selftest and bench: what a build can say of itself and of the machine.
bats_require_minimum_version 1.5.0

setup() {
    cd "$BATS_TEST_TMPDIR"
    mkdir tmp
    export TMPDIR=$BATS_TEST_TMPDIR/tmp
    unset CELLRUN_SET CELLRUN_DATA
}

@test "selftest --quick passes and leaves nothing behind" {
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

@test "a cell that is not there" {
    run -2 --separate-stderr "$CELLRUN" selftest --cell Desne
    [[ "$stderr" == *"--cell: there is no cell or loss 'Desne' [E0501]"*"did you mean 'Dense'?"* ]]
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

@test "bench times training and prediction" {
    cat >net.yaml <<'END'
network: [{Dense: [6, 5]}, ReLU, {Dense: [5, 3]}]
loss: CrossEntropyLoss
optimizer: {SGD: {learning_rate: 0.1}}
END
    run -0 --separate-stderr "$CELLRUN" bench net.yaml --batch 1,4 \
        --repeat 1 --warmup 0 --threads 1
    [[ "${lines[0]}" == "products: "* ]]
    for mode in training prediction; do
        for batch in 1 4; do
            grep -Eq "^$mode +$batch +1 +[0-9.]+ +[0-9]+ " <<<"$output"
        done
    done
    [ -z "$stderr" ]
}

@test "bench --json; prediction alone without a loss" {
    echo 'network: {Dense: [6, 5]}' >net.yaml
    run -0 --separate-stderr "$CELLRUN" bench net.yaml --repeat 1 --json \
        --threads 1
    [ "${#lines[@]}" = 1 ]
    [[ "$output" == '{"isa": "'*'"results": [{"mode": "prediction", "batch": 32, "threads": 1, "seconds": '*'"flops": 1920, "of_peak": '* ]]
    [[ "$output" != *training* ]]
}

@test "bench of a network that cannot be built" {
    echo 'network: [ReLU]' >net.yaml
    run -2 --separate-stderr "$CELLRUN" bench net.yaml
    [[ "$stderr" == *"the shape of the input is not known"* ]]
}
