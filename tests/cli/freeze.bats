# Freezing, on what a user sees: bytes that stay, work that is not done.
bats_require_minimum_version 1.5.0
set -o pipefail
load tensors

setup() {
    cd "$BATS_TEST_TMPDIR"
    unset CELLRUN_SET CELLRUN_DATA
    pack 'f<*' 1 2 3 -1 0.5 0 0 -2 1 4 1 -1 2 2 2 0 1 0 |
        npy x.npy '<f4' '(6, 3)'
    pack 'l<*' 0 1 1 0 2 2 | npy y.npy '<i4' '(6,)'
    cat >net.yaml <<'END'
cellrun: 1
dataset:
  train:
    NumpySlicesDataset: {data: [x.npy, y.npy], column_names: [x, label]}
datapipe: {batch: {batch_size: 2}}
network:
  a: {Dense: [3, 5]}
  r: ReLU
  b: {Dense: [5, 4]}
  s: ReLU
  c: {Dense: [4, 3]}
loss: CrossEntropyLoss
optimizer: {SGD: {learning_rate: 0.1, momentum: 0.9, weight_decay: 0.1}}
train: {epochs: 2}
END
}

# Names of the parameters that an update moves.
moved() {
    "$CELLRUN" trace net.yaml "$@" --step=1 -o one.safetensors >/dev/null
    "$CELLRUN" trace net.yaml "$@" --step=3 -o three.safetensors >/dev/null
    "$CELLRUN" ckpt diff one.safetensors three.safetensors --json |
        grep -o '"name": "param[^}]*"same": false' |
        sed 's/"name": "param\.\([^"]*\)".*/\1/' | sort | xargs
}

@test "nothing frozen: all move" {
    [ "$(moved)" = "a.bias a.weight b.bias b.weight c.bias c.weight" ]
}

@test "frozen parameters keep their bytes, decay and momentum included" {
    [ "$(moved 'freeze.patterns=["a.*"]')" = \
      "b.bias b.weight c.bias c.weight" ]
    [ "$(moved 'freeze.patterns=["c.* b.bias"]')" = \
      "a.bias a.weight b.weight" ]
    [ "$(moved 'freeze.patterns="*.weight"')" = "a.bias b.bias c.bias" ]
}

@test "the modifier freezes a cell and all in it" {
    [ "$(moved 'network.b={Dense: [5, 4], freeze: true}')" = \
      "a.bias a.weight c.bias c.weight" ]
    run -2 --separate-stderr "$CELLRUN" check net.yaml \
        'network.b={Dense: [5, 4], freeze: maybe}'
    [[ "$stderr" == *"freeze: found 'maybe', expected true or false"* ]]
}

@test "parameters that no gradient reaches keep their bytes, decay included" {
    # MindSpore's optimizers decay them
    cat >more.yaml <<'END'
network: !replace
  cells: {a: {Dense: [3, 5]}, b: {Dense: [5, 3]}, off: {Dense: [3, 2]}}
  construct: |
    unused = off(x)
    return b(stop_gradient(a(x)))
END
    [ "$(moved more.yaml)" = "b.bias b.weight" ]
}

@test "frozen parameters have no gradient in trace" {
    "$CELLRUN" trace net.yaml 'freeze.patterns=["a.*"]' --grad \
        -o o.safetensors
    run -0 "$CELLRUN" ckpt ls o.safetensors
    [[ "$output" == *grad.b.weight* ]]
    [[ "$output" != *grad.a.* ]]
}

@test "a pattern that matches nothing" {
    run -2 --separate-stderr "$CELLRUN" check net.yaml \
        'freeze.patterns=["d.*"]'
    [[ "$stderr" == *"'d.*'"*"[E0014]"* ]]
}

@test "training with frozen parts leaves them as they began" {
    "$CELLRUN" train net.yaml -q -o one 'freeze.patterns=["a.* c.bias"]' \
        >/dev/null
    "$CELLRUN" trace net.yaml --step -o first.safetensors \
        'freeze.patterns="*"' >/dev/null
    "$CELLRUN" trace one --step -o last.safetensors \
        'freeze.patterns="*"' >/dev/null
    run -6 "$CELLRUN" ckpt diff first.safetensors last.safetensors --json
    for p in a.weight a.bias c.bias; do
        [[ "$output" == *"\"name\": \"param.$p\", "*"\"same\": true"* ]]
    done
    same=$(grep -o '"name": "param[^}]*"same": true' <<<"$output" |
        sed 's/"name": "param\.\([^"]*\)".*/\1/' | sort | xargs)
    [ "$same" = "a.bias a.weight c.bias" ]
}

# The parameters whose bytes differ between two files.
differ() {
    "$CELLRUN" ckpt diff "$1" "$2" --json |
        grep -o '"name": "[^}]*"same": false' |
        sed 's/"name": "\([^"]*\)".*/\1/' | grep '^[abc][.]' | sort | xargs
}

@test "the schedule unfreezes at its epoch, and reports it" {
    cat >schedule.yaml <<'END'
base: net.yaml
freeze:
  patterns: "a.* b.*"
  schedule:
    - {at: 1 epochs, unfreeze: "b.*"}
    - {at: 5 steps, unfreeze: "a.weight"}
train: {epochs: 3}
checkpoint: {every: 1 steps, keep_checkpoint_max: 20}
END
    run -0 --separate-stderr "$CELLRUN" train schedule.yaml -o run
    [[ "$stderr" == *"freeze  4 of 6 parameters (44 of 59 values)"* ]]
    [[ "$stderr" == *"  at epoch 1: unfreezes b.* (2 parameters, 24 values)"* ]]
    [[ "$stderr" == *"  at step 5: unfreezes a.weight (1 parameter, 15 values)"* ]]
    file() { ls run/ckpt/*-"$1".safetensors; }
    [ "$(differ "$(file 1_2)" "$(file 1_3)")" = "c.bias c.weight" ]
    [ "$(differ "$(file 1_3)" "$(file 2_1)")" = \
      "b.bias b.weight c.bias c.weight" ]
    [ "$(differ "$(file 2_2)" "$(file 2_3)")" = \
      "a.weight b.bias b.weight c.bias c.weight" ]
}

@test "a schedule continues exactly when resumed" {
    cat >schedule.yaml <<'END'
base: net.yaml
freeze:
  patterns: "a.* b.*"
  schedule:
    - {at: 1 epochs, unfreeze: "b.*"}
    - {at: 5 steps, unfreeze: "a.weight"}
train: {steps: 9}
checkpoint: {every: 1 steps, keep_checkpoint_max: 20}
END
    "$CELLRUN" train schedule.yaml -q -o whole >/dev/null
    for steps in 2 3 4 5 6 9; do
        "$CELLRUN" train schedule.yaml -q -o parts train.steps=$steps \
            --resume auto >/dev/null
    done
    run -0 "$CELLRUN" ckpt diff whole/ckpt/last.safetensors \
        parts/ckpt/last.safetensors --json
    [[ "$output" == *'"same": true'* ]]
    [[ "$output" != *'"same": false'* ]]
}

@test "wrong schedules" {
    run -2 --separate-stderr "$CELLRUN" check net.yaml \
        'freeze.schedule=[{at: 1 epochs, unfreeze: "d.*"}]'
    [[ "$stderr" == *"'d.*'"*"[E0014]"* ]]
    run -2 --separate-stderr "$CELLRUN" check net.yaml \
        'freeze.schedule=[{at: 1 epochs}]'
    [[ "$stderr" == *"'unfreeze' is missing"* ]]
    run -2 --separate-stderr "$CELLRUN" check net.yaml 'freeze.schedule=3'
    [[ "$stderr" == *"expected a list of {at"* ]]
    run -2 --separate-stderr "$CELLRUN" check net.yaml \
        'freeze.schedule=[{at: 1 min, unfreeze: "a.*"}]'
    [[ "$stderr" == *"found a time"* ]]
    run -2 --separate-stderr "$CELLRUN" check net.yaml \
        'freeze.schedule=[{at: 2 epochs, unfreeze: "a.*"}, {at: 3, unfreeze: "b.*"}, {at: 1, unfreeze: "c.*"}]'
    [[ "$stderr" == *"due before the previous one"* ]]
}

@test "an unfreezing after the end of the run never happens" {
    echo 'freeze: {patterns: ["a.*"], schedule: [{at: 1e30, unfreeze: "a.*"}]}' >>net.yaml
    run -0 --separate-stderr "$CELLRUN" train net.yaml -o run train.epochs=1 \
        train.limit=1e30 'checkpoint.every=1 steps'
    [ "$(differ run/ckpt/net-1_1.safetensors run/ckpt/net-1_3.safetensors)" = \
      "b.bias b.weight c.bias c.weight" ]
}
