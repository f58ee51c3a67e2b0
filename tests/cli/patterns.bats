# `of`: patterns over types of cells, wherever patterns are allowed.
bats_require_minimum_version 1.5.0
set -o pipefail
load tensors

setup() {
    cd "$BATS_TEST_TMPDIR"
    unset CELLRUN_SET CELLRUN_DATA
    cat >c.yaml <<'END'
cellrun: 1
network:
  inputs: {x: {shape: [2, 6, 6]}}
  conv: {Conv2d: {out_channels: 4, kernel_size: 3}}
  norm: BatchNorm2d
  tail:
    - Conv2d: {out_channels: 4, kernel_size: 3, has_bias: true}
    - {GroupNorm: {num_groups: 2}}
    - ReLU
  flatten: Flatten
  fc: {Dense: {out_channels: 3}}
loss: CrossEntropyLoss
optimizer: {SGD: {learning_rate: 0.1}}
END
    perl -e 'print pack "f<*", map { sin } 1 .. 288' |
        npy x.npy '<f4' '(4, 2, 6, 6)'
    perl -e 'print pack "l<*", 0, 2, 1, 0' | npy y.npy '<i4' '(4,)'
}

# untrained OVERRIDE...: parameters that are not trained
untrained() {
    "$CELLRUN" summary c.yaml --json "$@" |
        jq -r '.params[] | select(.trainable | not) | .name' | tr '\n' ' '
}

@test "freeze: a type, a list of types, a name with a type, a container" {
    [ "$(untrained 'freeze={patterns: {of: Dense}}')" = \
        "norm.moving_mean norm.moving_variance fc.weight fc.bias " ]
    [ "$(untrained 'freeze={patterns: {of: [BatchNorm2d, GroupNorm]}}')" = \
        "norm.moving_mean norm.moving_variance norm.gamma norm.beta tail.1.gamma tail.1.beta " ]
    [ "$(untrained 'freeze={patterns: [{match: "*.bias", of: [Conv2d, Dense]}, conv.weight]}')" = \
        "conv.weight norm.moving_mean norm.moving_variance tail.0.bias fc.bias " ]
    [ "$(untrained 'freeze={patterns: {of: SequentialCell}}')" = \
        "norm.moving_mean norm.moving_variance tail.0.weight tail.0.bias tail.1.gamma tail.1.beta " ]
}

@test "freeze.schedule: a type is trained later on" {
    {
        cat c.yaml
        echo 'train: {steps: 4}'
        echo 'dataset: {train: {NumpySlicesDataset: {data: [x.npy, y.npy], column_names: [x, label]}}}'
        echo 'freeze: {patterns: "*", schedule: [{at: 2 epochs, unfreeze: {of: Dense}}]}'
    } >l.yaml
    run -0 "$CELLRUN" train l.yaml -o run
    [[ $output == *"at epoch 2: unfreezes of Dense (2 parameters"* ]]
    "$CELLRUN" train l.yaml -q -o none train.steps=2 >/dev/null 2>&1
    run -6 "$CELLRUN" ckpt diff run none
    [[ $output == *"4 of 11 tensors differ"* ]]
}

@test "init: a rule for a list of types" {
    local rule='init=[{match: "*.gamma", of: [BatchNorm2d, GroupNorm], Constant: {value: 3}}]'
    run -0 "$CELLRUN" trace c.yaml --feed x=x.npy --feed label=y.npy \
        --step=1 optimizer.learning_rate=0.0 "$rule"
    [ "$(awk '/^param.*(gamma|beta)/ { print $1, $3 }' <<<"$output")" = \
        "$(printf '%s\n' 'param.norm.gamma 3' 'param.norm.beta 0' \
            'param.tail.1.gamma 3' 'param.tail.1.beta 0')" ]
}

@test "group_params: parameters of a list of types" {
    run -0 "$CELLRUN" summary c.yaml \
        'optimizer.group_params=[{params: {of: [BatchNorm2d, GroupNorm]}, weight_decay: 0.0}]'
    [[ $output == *"group 1: 4 parameters: of BatchNorm2d|GroupNorm"* ]]
}

@test "watch: cells of a type" {
    run -0 "$CELLRUN" summary c.yaml \
        'watch=[{at: {of: [Conv2d, ReLU]}, hook: forward, scale: 2}]'
    [[ $output == *"hook: forward of conv, tail.0, tail.2: scale 2.0"* ]]
}

@test "amp.cast: BatchNorm in float32 within a float16 network, as in MindSpore" {
    local dir="$BATS_TEST_DIRNAME/../golden/ms/amp_seed_to_float"
    sed 's/, to_float: float32}/}/; /^    to_float/d' "$dir/config.yaml" >s.yaml
    run -1 grep to_float s.yaml
    run -0 "$CELLRUN" trace s.yaml --feed "x=$dir/x.npy" \
        --feed "label=$dir/label.npy" --ckpt "$dir/weights.safetensors" \
        'amp={cast: {float16: "*", float32: {of: [BatchNorm1d, BatchNorm2d, BatchNorm3d]}}}' \
        --grad --rtol 4e-3 --atol 5e-3 --against "$dir/ref.safetensors"
    run -6 "$CELLRUN" trace s.yaml --feed "x=$dir/x.npy" \
        --feed "label=$dir/label.npy" --ckpt "$dir/weights.safetensors" \
        --grad --rtol 1e-6 --atol 1e-7 --against "$dir/ref.safetensors"
}

@test "load.skip: parameters of a type keep their initial values" {
    {
        cat c.yaml
        echo 'train: {steps: 1}'
        echo 'dataset: {train: {NumpySlicesDataset: {data: [x.npy, y.npy], column_names: [x, label]}}}'
        echo 'load: {skip: {of: Dense}}'
    } >l.yaml
    "$CELLRUN" train l.yaml '~load' -q -o run >/dev/null
    sed -i 's/^load: {/load: {ckpt: run, /' l.yaml
    run -0 "$CELLRUN" ckpt load-report l.yaml
    [[ $output == *"skipped      2   fc.weight fc.bias"*"by skip: {of: Dense}"* ]]
}

@test "a type that does not exist, and one that matches nothing" {
    run -2 --separate-stderr "$CELLRUN" check c.yaml \
        'freeze={patterns: {of: BatchNrom2d}}'
    [[ $stderr == *"of: found 'BatchNrom2d', expected the type of a cell"*"did you mean 'BatchNorm2d'?"* ]]
    for at in 'freeze={patterns: {of: GRU}}' 'init=[{of: GRU, Zero: {}}]' \
        'freeze={patterns: "*", schedule: [{at: 1 epochs, unfreeze: {of: GRU}}]}' \
        'optimizer.group_params=[{params: {of: GRU}, weight_decay: 0.0}]'; do
        run -2 --separate-stderr "$CELLRUN" check c.yaml "$at"
        [[ $stderr == *"of: GRU matches no parameter"*"existing types: Conv2d BatchNorm2d GroupNorm Dense"* ]]
    done
    for at in 'watch=[{at: {of: GRU}}]' 'amp={cast: {float16: {of: GRU}}}'; do
        run -2 --separate-stderr "$CELLRUN" check c.yaml "$at"
        [[ $stderr == *"of: GRU matches no cell"*"existing types: "*"Conv2d BatchNorm2d "* ]]
    done
    run -2 --separate-stderr "$CELLRUN" check c.yaml \
        'freeze={patterns: [{off: GRU}]}'
    [[ $stderr == *"'off' is not a key of a pattern"* ]]
}
