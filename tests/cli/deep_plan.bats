# Networks of 20,000 nodes: that they are planned and computed rightly.
bats_require_minimum_version 1.5.0
set -o pipefail
load small

setup() {
    cd "$BATS_TEST_TMPDIR"
    unset CELLRUN_SET CELLRUN_DATA CELLRUN_RUNS CELLRUN_LOG
    ulimit -t 120
    pack 'f<*' 1 | npy x.npy '<f4' '(1, 1)'
    pack 'f<*' 0 | npy y.npy '<f4' '(1, 1)'
}

# network LINES...: of construct; d is x, the loss is the result
network() {
    cat <<'END'
cellrun: 1
network:
  inputs: {x: {shape: [1], type: float32}}
  cells:
    d: {Dense: {in_channels: 1, out_channels: 1, has_bias: false,
                weight_init: ones}}
  construct: |
END
    printf '    %s\n' "$@"
    printf 'loss: L1Loss\noptimizer: {SGD: {learning_rate: 0.5}}\n'
}

traced() {
    run -0 "$CELLRUN" trace "$1" --feed x=x.npy --feed label=y.npy --grad \
        --step -o out.safetensors
    [ "$(tensor out.safetensors output)" = "$2" ]
    [ "$(tensor out.safetensors grad.d.weight)" = "$2" ]
    [ "$(tensor out.safetensors param.d.weight)" = "$3" ]
}

@test "20,000 nodes: one cell called 10,000 times, each sum a variable" {
    mapfile -t lines < <(perl -e 'print "y0 = d(x)\n";
        print "y$_ = y", $_ - 1, " + d(x)\n" for 1 .. 9999;
        print "return y9999\n"')
    network "${lines[@]}" >text.yaml
    traced text.yaml 10000 -4999
}

@test "20,000 nodes: the same in loops" {
    network "y = d(x)" "for i in range(9999):" "    y = y + d(x)" \
        "return y" >loop.yaml
    traced loop.yaml 10000 -4999
}

@test "20,000 cells in a list train" {
    samples train 32 1
    cat >list.yaml <<'END'
cellrun: 1
dataset:
  train: {NumpySlicesDataset: {data: [train-x.npy, train-y.npy], column_names: [x, label]}}
datapipe: {batch: {batch_size: 16}}
network:
  - SequentialCell: [{Dense: [8, 8]}, Tanh]
    repeat: 10000
loss: CrossEntropyLoss
optimizer: {SGD: {learning_rate: 0.01}}
train: {steps: 1}
END
    run -0 "$CELLRUN" train list.yaml -o r -q
    [ "$("$CELLRUN" summary list.yaml --json | jq '[.cells[].params] | add')" = 720000 ]
}

# What is quadratic in the cells takes minutes here, and ulimit ends it.
@test "64,000 cells in a list: their summary is made in a moment" {
    cat >list.yaml <<'END'
cellrun: 1
network:
  inputs: {x: {shape: [8], type: float32}}
  d: [{SequentialCell: [{Dense: [8, 8]}, Tanh], repeat: 64000}]
loss: MSELoss
optimizer: {SGD: {learning_rate: 0.1}}
END
    "$CELLRUN" summary list.yaml >out 2>err
    [ ! -s err ]
    grep -qx 'parameters: 4608000' out
}

# named N: a map of N named cells, each called by a line of its own
named() {
    perl -e 'my $n = shift;
        print "cellrun: 1\nnetwork:\n  inputs: {x: {shape: [8], type: float32}}\n  cells:\n";
        print "    c$_: {Dense: {out_channels: 8}}\n" for 1 .. $n;
        print "  construct: |\n    y = x\n";
        print "    y = y + c$_(x)\n" for 1 .. $n;
        print "    return y\nloss: MSELoss\noptimizer: {SGD: {learning_rate: 0.1}}\n"' "$1"
}

@test "10,000 named cells, and the list of their steps, in little memory" {
    named 10000 >named.yaml
    # a sanitizer needs all
    [[ $("$CELLRUN" version) == *-fsanitize* ]] || ulimit -v 1500000
    run -0 "$CELLRUN" summary named.yaml -v
    [ "$(grep -c '^forward  linear' <<<"$output")" = 10000 ]
}
