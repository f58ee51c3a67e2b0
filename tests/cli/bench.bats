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
    [[ "$output" == *"cells in training on 1 thread, "* ]]
    for cell in 0 1 2 loss; do
        grep -Eq "^$cell +[0-9.]+ +[0-9.]+ +[0-9.]+ % " <<<"$output" || \
            [ "$cell" = 1 ] # the ReLU is part of the product before it
    done
    [ -z "$stderr" ]
}

@test "bench --json: the cells' work is the step's" {
    cat >net.yaml <<'END'
network: [{Dense: [6, 5]}, ReLU, {Dense: [5, 3]}]
loss: CrossEntropyLoss
optimizer: {SGD: {learning_rate: 0.1}}
END
    "$CELLRUN" bench net.yaml --repeat 1 --threads 1 --json >out.json
    jq -e '(.cells | map(.flops) | add) == .results[0].flops' out.json
    jq -e '[.cells[] | select(.cell == "0")][0] |
           .forward_s > 0 and .backward_s > 0 and .bytes > 0' out.json
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
