# Array: initial values from the config and from .npy files (set_data).
bats_require_minimum_version 1.5.0
set -o pipefail
load small
load tensors

setup() {
    cd "$BATS_TEST_TMPDIR"
    unset CELLRUN_SET CELLRUN_DATA
    config c.yaml
    sed -i '/drop:/d' c.yaml
    perl -e 'print pack "f<*", map { $_ / 64 } 1 .. 128' |
        npy w.npy '<f4' '(16, 8)'
    perl -e 'print pack "d<*", 0.25, -1, 3' | npy b.npy '<f8' '(3,)'
    echo 'init: [{match: fc.weight, Array: {file: w.npy}}, {match: out.bias, Array: {file: b.npy}}, {match: fc.bias, Array: {values: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]}}]' >>c.yaml
}

@test "Array: parameters begin with the values of files and of lists" {
    "$CELLRUN" trace c.yaml --step=1 optimizer.learning_rate=0.0 \
        optimizer.weight_decay=0.0 -o out.safetensors
    [ "$(tensor out.safetensors param.out.bias | xargs)" = "0.25 -1 3" ]
    [ "$(tensor out.safetensors param.fc.bias | xargs)" = "$(seq 0 15 | xargs)" ]
    [ "$(tensor out.safetensors param.fc.weight | head -3 | xargs)" = \
        "0.015625 0.03125 0.046875" ]
}

@test "Array: an argument of a cell, and the modifier init" {
    "$CELLRUN" trace c.yaml init=~ '~init' --step=1 \
        optimizer.learning_rate=0.0 optimizer.weight_decay=0.0 \
        'network.out.bias_init={Array: {values: [4, 5, 6]}}' \
        'network.fc.init={Array: {file: w.npy}}' -o out.safetensors
    [ "$(tensor out.safetensors param.out.bias | xargs)" = "4 5 6" ]
    [ "$(tensor out.safetensors param.fc.weight | tail -1)" = 2 ]
}

@test "Array: a run from elsewhere, and the checkpoint without its files" {
    mkdir elsewhere
    (cd elsewhere && "$CELLRUN" train ../c.yaml -q -o run train.epochs=2)
    run -0 "$CELLRUN" eval --ckpt elsewhere/run
    before=$output
    "$CELLRUN" train c.yaml -q -o whole >/dev/null
    mkdir away && mv w.npy b.npy away
    run -0 "$CELLRUN" eval --ckpt elsewhere/run
    [ "$output" = "$before" ]
    "$CELLRUN" resume elsewhere/run/ckpt/last.safetensors -q train.epochs=3 \
        >/dev/null
    run -0 "$CELLRUN" ckpt diff whole elsewhere/run
    [[ $output == *"no differences"* ]]
    run -0 "$CELLRUN" trace elsewhere/run/ckpt/last.safetensors \
        --ckpt elsewhere/run/ckpt/last.safetensors
}

@test "Array: errors" {
    run -2 --separate-stderr "$CELLRUN" check c.yaml \
        'init=[{match: fc.weight, Array: {file: b.npy}}]'
    [[ $stderr == *"values of 'fc.weight': found (3,) in b.npy, expected (16, 8)"* ]]
    run -2 --separate-stderr "$CELLRUN" check c.yaml \
        'init=[{match: fc.weight, Array: {file: none.npy}}]'
    [[ $stderr == *"values of 'fc.weight': file 'none.npy' not found"* ]]
    run -2 --separate-stderr "$CELLRUN" check c.yaml \
        'init=[{match: out.bias, Array: {values: [1, 2]}}]'
    [[ $stderr == *"values of 'out.bias' (3,): found a list of 2, expected a list of 3 on axis 0"* ]]
    run -2 --separate-stderr "$CELLRUN" check c.yaml \
        'init=[{match: out.bias, Array: {}}]'
    [[ $stderr == *"found neither, expected"* ]]
    echo no array >bad.npy
    run --separate-stderr "$CELLRUN" check c.yaml \
        'init=[{match: out.bias, Array: {file: bad.npy}}]'
    [ "$status" -ne 0 ]
    [[ $stderr == *bad.npy* ]]
}
