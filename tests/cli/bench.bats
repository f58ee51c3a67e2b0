# bench: what it prints; never how fast it is.
bats_require_minimum_version 1.5.0

setup() {
    cd "$BATS_TEST_TMPDIR"
    unset CELLRUN_SET CELLRUN_DATA
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
