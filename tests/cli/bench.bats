# bench: what it prints; never how fast it is.
bats_require_minimum_version 1.5.0
set -o pipefail

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

@test "the peak is that of the cores, however many threads there are" {
    echo 'network: {Dense: [6, 5]}' >net.yaml
    cpus=$(taskset -cp $$)
    cpus=${cpus##* }
    run -0 taskset -c "${cpus%%[-,]*}" "$CELLRUN" bench net.yaml --repeat 1 \
        --warmup 0 --batch 1 --threads 3
    ! grep '^peak:' <<<"$output" | grep -v ' on 1 of 3 threads ' || return 1
    grep -Eq "^prediction +1 +3 " <<<"$output"
    run -0 taskset -c "${cpus%%[-,]*}" "$CELLRUN" bench net.yaml --repeat 1 \
        --warmup 0 --batch 1 --threads 1
    ! grep '^peak:' <<<"$output" | grep -v ' on 1 thread ' || return 1
}

@test "bench of a network that cannot be built" {
    echo 'network: [ReLU]' >net.yaml
    run -2 --separate-stderr "$CELLRUN" bench net.yaml
    [[ "$stderr" == *"cannot infer the input shape"* ]]
}

@test "without data, classes on the last axis are numbers, too" {
    local axis memory=()
    for axis in 1 -1; do
        cat >net.yaml <<END
network: {inputs: {x: {shape: [16, 4]}}, fc: {Dense: [4, 10]}}
loss: {CrossEntropyLoss: {axis: $axis}}
END
        memory+=("$("$CELLRUN" summary net.yaml --json | jq .memory_bytes)")
    done
    # probabilities of 10 classes would be stored for 32 samples, twice
    ((memory[1] < memory[0] + 32 * 16 * 10 * 4 / 2))
}

@test "bench of losses written in the config, without data" {
    cat >pair.yaml <<'END'
network:
  inputs: {x: {shape: [8]}}
  cells: {fc: {Dense: [8, 4]}}
  construct: |
    return fc(x[0::2]), stop_gradient(fc(x[1::2]))
loss:
  inputs: [p, z]
  construct: |
    return mean(square(p - z))
optimizer: {SGD: {learning_rate: 0.1}}
END
    cat >weighted.yaml <<'END'
network: {inputs: [x], fc: {Dense: [8, 4]}}
loss:
  inputs: [logits, label, weight]
  cells: {ce: {SoftmaxCrossEntropyWithLogits: {sparse: true}}}
  construct: |
    return mean(ce(logits, label) * weight)
optimizer: {SGD: {learning_rate: 0.1}}
END
    for name in pair weighted; do
        run -0 --separate-stderr "$CELLRUN" bench $name.yaml --repeat 1 \
            --warmup 0 --threads 1
        grep -Eq '^training +32 ' <<<"$output"
        run -0 "$CELLRUN" summary $name.yaml
        [[ "$output" == *"a step of training on 32 samples"* ]]
    done
}

@test "bench of a loss that is wrong" {
    cat >net.yaml <<'END'
network: {inputs: {x: {shape: [8]}}, fc: {Dense: [8, 4]}}
loss:
  inputs: [p]
  construct: |
    return mean(nosuch(p))
optimizer: {SGD: {learning_rate: 0.1}}
END
    run -2 --separate-stderr "$CELLRUN" bench net.yaml
    [[ "$stderr" == *"cell or function 'nosuch' not found"* ]]
}

@test "bench --kernels: all that accept a cell, the one that is used marked" {
    cat >net.yaml <<'END'
network:
  inputs: {x: {shape: [3, 12, 12]}}
  c1: {Conv2d: {out_channels: 16, kernel_size: 3}}
  flat: Flatten
  fc: {Dense: {out_channels: 3}}
loss: CrossEntropyLoss
optimizer: {SGD: {learning_rate: 0.1}}
END
    # LeakSanitizer's tracer can crash on threads of libraries
    export ASAN_OPTIONS=${ASAN_OPTIONS:-}:detect_leaks=0
    run -0 --separate-stderr "$CELLRUN" bench net.yaml --kernels --repeat 1 \
        --warmup 0 --threads 1 --batch 2
    [ -z "$stderr" ]
    [[ "${lines[0]}" == "ms per step in training, batch 2, 1 thread, "* ]]
    [ "$(awk '{ print $1, $2 }' <<<"${lines[1]}")" = "cell op" ]
    [ "$(awk 'NR > 2 { print $1, $2 }' <<<"$output" | xargs)" = \
        "c1 conv2d fc linear" ]
    run -0 "$CELLRUN" bench net.yaml --kernels --repeat 1 --warmup 0 \
        --threads 1 --json
    jq -e '[.rows[] | .seconds[.kernel] > 0] | all and length == 2' \
        <<<"$output"
    # im2col accepts every convolution, products every dense layer
    jq -e '.rows[0].seconds | has("conv_im2col") and (has("gemm_portable") | not)' \
        <<<"$output"
    jq -e '.rows[1].seconds | has("gemm_portable") and (has("conv_im2col") | not)' \
        <<<"$output"
}

@test "bench --kernels: a row for each call of an op" {
    cat >net.yaml <<'END'
network:
  inputs: {x: {shape: [3, 12, 12]}}
  cells: {fc: {Dense: {out_channels: 3}}}
  construct: |
    x = max_pool2d(x, 2, stride=2)
    return fc(flatten(max_pool2d(x, 3, stride=1)))
loss: CrossEntropyLoss
optimizer: {SGD: {learning_rate: 0.1}}
END
    run -0 "$CELLRUN" bench net.yaml --kernels --repeat 1 --warmup 0 \
        --threads 1 --batch 2 --json
    jq -e '[.rows[] | select(.op == "max_pool")] | length == 2' <<<"$output"
    jq -e '.rows[1].seconds | has("pool_portable") and
        ([keys[] | select(startswith("max_pool_2x2"))] | length == 0)' \
        <<<"$output"
}
