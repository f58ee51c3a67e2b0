# summary: cells, shapes, parameters, costs, and what freezing takes away.
bats_require_minimum_version 1.5.0
set -o pipefail

setup() {
    cd "$BATS_TEST_TMPDIR"
    unset CELLRUN_SET CELLRUN_DATA
    cat >net.yaml <<'END'
cellrun: 1
network:
  inputs: {image: {shape: [1, 4, 5], type: float32}}
  flatten: Flatten
  body:
    - Dense: [20, 7]
    - ReLU
    - {Dense: [7, 3], freeze: true}
loss: CrossEntropyLoss
optimizer: {SGD: {learning_rate: 0.1}}
datapipe: {batch: {batch_size: 8}}
END
}

# idx NAME MAGIC BYTES...: dimensions and data as numbers
idx() {
    local name=$1
    shift
    perl -e 'my $n = shift; print pack("C4", 0, 0, 8, $n);
             print pack("N$n", splice(@ARGV, 0, $n)), pack("C*", @ARGV)' \
        "$@" >"$name"
}

@test "the table, word for word" {
    run -0 --separate-stderr "$CELLRUN" summary net.yaml
    cat >want <<'END'
cell     type            in            out      parameters  trainable  multiply-adds  arguments
network  Cell            (8, 1, 4, 5)  (8, 3)
flatten  Flatten         (8, 1, 4, 5)  (8, 20)           0          0              0  start_dim=1, end_dim=-1
body     SequentialCell  (8, 20)       (8, 3)
body.0   Dense           (8, 20)       (8, 7)          147        147            140  in_channels=20, out_channels=7, has_bias=True
body.1   ReLU            (8, 7)        (8, 7)            0          0              0
body.2   Dense           (8, 7)        (8, 3)           24          0             21  in_channels=7, out_channels=3, has_bias=True

parameters: 171
trainable: 147
multiply-adds: 161 per sample
END
    sed 's/ *$//' <<<"$output" | head -11 | diff want -
    [ -z "$stderr" ]
    [[ "$output" == *$'\nnot trained: body.2.weight: frozen\n'* ]]
    [[ "$output" == *$'\nnot trained: body.2.bias: frozen'* ]]
    [[ "$output" == *"for a step of training on 8 samples"* ]]
    [[ "$output" != *"cut from"* ]]
}

@test "what freezing cuts" {
    run -0 "$CELLRUN" summary net.yaml 'freeze.patterns=["body.0.*"]' \
        '~network.body' 'network.body=[{Dense: [20, 7]}, ReLU, {Dense: [7, 3]}]'
    [[ "$output" == *"not trained: body.0.weight: frozen"* ]]
    [[ "$output" == *"pruned from the backward pass: body.0: no trainable parameter in it or before it"* ]]
    [[ "$output" == *"trainable: 24"* ]]
}

@test "a cast of what has no gradient is not a cell that is pruned" {
    run -0 "$CELLRUN" summary net.yaml '~network.body' \
        'network.body=[{Dense: [20, 7]}, ReLU, {Dense: [7, 3]}]'
    [[ "$output" != *pruned* ]]
    for level in O1 O2 O3 auto; do
        run -0 "$CELLRUN" summary net.yaml '~network.body' amp.level=$level \
            'network.body=[{Dense: [20, 7]}, ReLU, {Dense: [7, 3]}]'
        [[ "$output" != *pruned* ]]
    done
}

@test "nothing is printed of a network with an error in a pattern" {
    for command in summary bench; do
        run -2 --separate-stderr "$CELLRUN" $command net.yaml \
            'amp.cast={float32: {of: Foo}}'
        [ -z "$output" ]
        [[ "$stderr" == *"of: found 'Foo', expected the type of a cell"* ]]
    done
}

@test "-v lists the steps" {
    run -0 "$CELLRUN" summary net.yaml -v
    [[ "$output" == *"forward  linear         body.0 +activation"* ]]
    [[ "$output" == *"backward linear         body.0 +update(body.0.weight)"* ]]
    [[ "$output" != *"update(body.2"* ]]
}

@test "-v --at: the steps of that cell alone" {
    run -0 "$CELLRUN" summary net.yaml -v --at body.2
    [[ "$output" == *"forward  linear         body.2"* ]]
    [[ "$output" != *"linear         body.0"* && "$output" != *" loss"* ]]
    run -0 "$CELLRUN" summary net.yaml -v --at body
    [[ "$output" == *"forward  linear         body.0 +activation"* ]]
    [[ "$output" == *"forward  linear         body.2"* ]]
    [[ "$output" != *"cross_entropy  loss"* ]]
}

@test "--json is one object with the keys of the contract" {
    run -0 --separate-stderr "$CELLRUN" summary net.yaml --json
    [ "${#lines[@]}" = 1 ]
    want='{"cells": [{"name": "", "type": "Cell", "in": [8, 1, 4, 5], "out": [8, 3], "params": 0, "trainable": 0, "macs": 0, "args": null}, {"name": "flatten", '
    [ "${output:0:${#want}}" = "$want" ]
    jq -e '.cells[-1] == {"name": "body.2", "type": "Dense", "in": [8, 7],
        "out": [8, 3], "params": 24, "trainable": 0, "macs": 21,
        "args": "in_channels=7, out_channels=3, has_bias=True"} and
        (.params[0] | .name == "body.0.weight" and .shape == [7, 20] and
            .trainable and .reason == null) and
        (.params[-1] | .name == "body.2.bias" and .reason == "frozen" and
            (.trainable | not)) and
        .memory_bytes > 0 and .cut == []' <<<"$output"
}

@test "--batch, --at" {
    run -0 "$CELLRUN" summary net.yaml --batch 3 --at body
    [[ "${lines[1]}" == body*SequentialCell*"(3, 20)"*"(3, 3)"* ]]
    [[ "$output" != *flatten* ]]
    run -0 "$CELLRUN" summary net.yaml --json --at body.0
    [[ "$output" == '{"cells": [{"name": "body.0", '*'"macs": 140, "args": "in_channels=20, out_channels=7, has_bias=True"}], "params": [{"name": "body.0.weight"'* ]]
    run -2 --separate-stderr "$CELLRUN" summary net.yaml --at bodi
    [[ "$stderr" == *"--at: cell 'bodi' not found [E0501]"*"did you mean 'body'?"* ]]
}

@test "a network alone: the first cell declares its input" {
    echo 'network: [Flatten, {Dense: [6, 3]}, ReLU]' >alone.yaml
    run -0 "$CELLRUN" summary alone.yaml
    [[ "${lines[1]}" == network*SequentialCell*"(32, 6)"*"(32, 3)"* ]]
    [[ "$output" == *"for a step of prediction on 32 samples"* ]]
}

@test "a network that does not declare its input" {
    echo 'network: [ReLU, {Dense: [6, 3]}]' >alone.yaml
    run -2 --separate-stderr "$CELLRUN" summary alone.yaml
    [[ "$stderr" == *"alone.yaml:1:10: error: cannot infer the input shape"*"[E0104]"*"inputs: {x: {shape:"* ]]
    [ -z "$output" ]
}

@test "shapes from the header of the data" {
    idx images 3 2 3 4 $(seq 24)
    idx labels 1 2 0 1
    cat >data.yaml <<'END'
dataset:
  train: {IdxDataset: {files: [images, labels], column_names: [image, label]}}
datapipe:
  image: [{Rescale: {rescale: 0.5, shift: 0.0}}, HWC2CHW]
  label: [{TypeCast: {data_type: int32}}]
  batch: {batch_size: 2}
network: [Flatten, {Dense: {out_channels: 2}}]
loss: CrossEntropyLoss
END
    run -0 "$CELLRUN" summary data.yaml
    [[ "$output" == *"(2, 3, 4)"*"(2, 12)"*"parameters: 26"* ]]
    rm images
    run -3 --separate-stderr "$CELLRUN" summary data.yaml \
        'network=[Flatten, ReLU]'
    [[ "$stderr" == *images* ]]
}

@test "missing data are not an error where the network declares its input" {
    cat >data.yaml <<'END'
dataset: {train: {MnistDataset: {dataset_dir: nowhere}}}
datapipe: {batch: {batch_size: 16}}
network: [Flatten, {Dense: [784, 10]}]
loss: CrossEntropyLoss
optimizer: {Momentum: {learning_rate: 0.1, momentum: 0.9}}
END
    run -0 "$CELLRUN" summary data.yaml
    [[ "$output" == *"(16, 784)"*"for a step of training on 16 samples"* ]]
}

@test "a checkpoint brings its config" {
    perl -e 'print "\x93NUMPY\x01\x00\x76\x00", sprintf("%-117s\n",
        "{\x27descr\x27: \x27<f4\x27, \x27fortran_order\x27: False, \x27shape\x27: (4, 6), }"),
        pack("f<24", map { $_ / 7 } 1 .. 24)' >x.npy
    perl -e 'print "\x93NUMPY\x01\x00\x76\x00", sprintf("%-117s\n",
        "{\x27descr\x27: \x27<i4\x27, \x27fortran_order\x27: False, \x27shape\x27: (4,), }"),
        pack("l<4", 0, 1, 2, 0)' >y.npy
    cat >run.yaml <<'END'
dataset:
  train: {NumpySlicesDataset: {data: [x.npy, y.npy], column_names: [x, label]}}
datapipe: {batch: {batch_size: 2}}
network: {fc: {Dense: {out_channels: 3}}}
loss: CrossEntropyLoss
optimizer: {SGD: {learning_rate: 0.1}}
train: {epochs: 1}
END
    "$CELLRUN" train run.yaml -q -o out >train.log
    run -0 "$CELLRUN" summary out
    [[ "$output" == *fc*Dense*"(2, 6)"*"(2, 3)"*21*21*18* ]]
    run -4 --separate-stderr "$CELLRUN" summary nothing.safetensors
    [[ "$stderr" == *nothing.safetensors*E0301* ]]
}

@test "an error of the network" {
    run -2 --separate-stderr "$CELLRUN" summary net.yaml \
        'network.body=[{Dense: [21, 3]}]'
    [[ "$stderr" == *"input: found (8, 20), expected in_channels 21 as its last dimension"*"[E0101]"* ]]
}

@test "how much of the backward pass is pruned" {
    run -0 "$CELLRUN" summary net.yaml --batch 2 'network.body=[{Dense: [20, 7], freeze: true}, ReLU, {Dense: [7, 3]}]'
    # all: 140 for the first weight, 2 * 21 for the second cell
    [[ "$output" == *$'\nbackward pass: 21 multiply-adds per sample, 161 pruned (88 %)\n'* ]]
    run -0 "$CELLRUN" summary net.yaml --batch 2 '~network.body' 'network.body=[{Dense: [20, 7]}, {Dense: [7, 3]}]'
    [[ "$output" != *"backward pass"* ]]
}

# A cell called twice, one call cut off; a block; a learned tensor; a shared
# weight; a constant; two results.
graph() {
    cat >graph.yaml <<'END'
cellrun: 1
blocks:
  Half:
    params: {width: 3}
    cells: {fc: {Dense: {out_channels: $width}}, act: ReLU}
    construct: return act(fc(x))
network:
  inputs: {x: {shape: [4]}}
  cells:
    body: {Half: {width: 5}}
    bias: {Parameter: {shape: [5]}}
    out: {Dense: {out_channels: 4}}
    back: {Dense: {in_channels: 5, out_channels: 4, has_bias: false}, share: {weight: out.weight}}
  construct: |
    p = body(x) + bias
    z = stop_gradient(body(x * 0.5))
    return out(p), back(z)
freeze: {patterns: "bias"}
END
}

@test "--dot: boxes, frames and what flows" {
    graph
    run -0 --separate-stderr "$CELLRUN" summary graph.yaml --dot g.dot
    [[ "${lines[0]}" == cell* ]]
    run -0 cat g.dot
    [[ "${lines[0]}" == "digraph network {" ]]
    [[ "$output" == *'label="body Half(width=5)\n(32, 5)"'* ]]
    [[ "$output" == *'label="fc Dense\n(32, 5)\n25 parameters"'* ]]
    [[ "$output" == *'label="fc #2 Dense\n(32, 5)\n25 parameters, shared"'* ]]
    [[ "$output" == *'label="bias Parameter\n(5,)\n5 parameters, frozen"'* ]]
    [[ "$output" == *'label="mul 0.5\n(32, 4)"'* ]]
    [[ "$output" == *'label="back Dense\n(32, 4)\nshares out.weight"'* ]]
    [[ "$output" == *'label="output.1\n(32, 4)"'* ]]
    [ "$(grep -c ' -> ' g.dot)" = 12 ]
    [ "$(grep -c 'subgraph cluster' g.dot)" = 2 ]
}

@test "--svg: whole, the same each time, everything in it once" {
    graph
    run -0 "$CELLRUN" summary graph.yaml --svg a.svg
    run -0 "$CELLRUN" summary graph.yaml --svg - --threads 1
    diff a.svg <(printf '%s\n' "$output")
    [ "$(head -c 5 a.svg)" = "<svg " ]
    [ "$(tail -n 1 a.svg)" = "</svg>" ]
    [ "$(grep -c '<rect' a.svg)" = 16 ] # 13 boxes, 2 frames, the ground
    [ "$(grep -c 'class="frame"' a.svg)" = 2 ]
    [ "$(grep -c 'class="still"' a.svg)" = 1 ]
    # tags are closed, in order
    perl -0ne 's/<(\w+)[^>]*?\/>//g; my @open;
        while (/<(\/?)(\w+)[^>]*>/g) {
            if ($1) { die "$2" if pop @open ne $2 } else { push @open, $2 }
        } die "@open" if @open' a.svg
    # nothing overlaps: no box of one frame reaches into another box
    perl -ne 'if (/<rect class="(?!frame)\w+" x="(\S+)" y="(\S+)" width="(\S+)" height="(\S+)"/) {
            for (@b) { die "$_->[0] $1" if $1 < $_->[0] + $_->[2] && $_->[0] < $1 + $3
                && $2 < $_->[1] + $_->[3] && $_->[1] < $2 + $4 }
            push @b, [$1, $2, $3, $4];
        } END { die scalar @b unless @b == 13 }' a.svg
}

@test "a drawing of one cell" {
    graph
    run -0 "$CELLRUN" summary graph.yaml --at body --dot -
    [[ "$output" == *'label="body\l"'* ]]
    [[ "$output" == *'label="fc Dense'*'label="x\n(32, 4)"'*'label="output\n(32, 5)"'* ]]
    [[ "$output" != *cluster* && "$output" != *'out Dense'* ]]
    # of a cell without others: its ops
    run -0 "$CELLRUN" summary graph.yaml --at body.fc --dot -
    [[ "$output" == *'label="linear\n(32, 5)"'* ]]
    run -1 --separate-stderr "$CELLRUN" summary graph.yaml --svg nowhere/a.svg
    [[ "$stderr" == *"nowhere/a.svg: error: "*"[E0602]"* ]]
}

@test "2,000 layers are planned in a moment" {
    perl -e 'print "cellrun: 1\nnetwork:\n",
             "  inputs: {x: {shape: [8], type: float32}}\n  body:\n",
             "    - Dense: [8, 8]\n" x 2000,
             "loss: MSELoss\noptimizer: {Adam: {learning_rate: 0.1}}\n"' \
        >deep.yaml
    ulimit -t 60
    run -0 --separate-stderr "$CELLRUN" summary deep.yaml
    [ "$(grep -c Dense <<<"$output")" -eq 2000 ]
    grep -qx 'parameters: 144000' <<<"$output"
    grep -qx 'multiply-adds: 128000 per sample' <<<"$output"
}

@test "memory of PReLU is that of its values, and a number for each sample" {
    for act in PReLU LeakyReLU; do
        cat >act.yaml <<END
cellrun: 1
network:
  inputs: {x: {shape: [256], type: float32}}
  a: {Dense: [256, 1024]}
  act: $act
  b: {Dense: [1024, 2]}
loss: MSELoss
optimizer: {SGD: {learning_rate: 0.1}}
datapipe: {batch: {batch_size: 512}}
END
        "$CELLRUN" summary act.yaml --threads 1 --json | jq .memory_bytes
    done >bytes
    run -0 awk 'NR == 1 { p = $1 } END { print (p - $1 < 512 * 16) }' bytes
    [ "$output" = 1 ]
}

@test "memory is that of the step that train makes" {
    cat >net.yaml <<'YAML'
network: {a: {Dense: [300, 200]}, b: {Dense: [200, 300]}}
loss: CrossEntropyLoss
optimizer: {SGD: {learning_rate: 0.1}}
datapipe: {batch: {batch_size: 1}}
YAML
    bytes() {
        "$CELLRUN" summary net.yaml --threads 1 "$@" --json | jq .memory_bytes
    }
    # parameters: 120500 numbers; plain SGD needs no gradients of weights
    real=4
    [ "$("$CELLRUN" version --json | jq -r .real)" = float32 ] || real=8
    all=$((120500 * real)) plain=$(bytes)
    # all gradients until the last is there
    apart=$(bytes train.clip.norm=1)
    [ $((apart - plain)) -ge $((all * 9 / 10)) ]
    [ $((apart - plain)) -lt $((all * 11 / 10)) ]
    # and their sums; and moving means
    [ "$(bytes train.grad_accumulation=2)" = $((apart + all)) ]
    [ "$(bytes train.ema.decay=0.9)" = $((plain + all)) ]
}

# params: a network with moving statistics, a Parameter, two groups and a loss
# that has a weight, in params.yaml
params() {
    cat >params.yaml <<'END'
network:
  inputs: {x: {shape: [4]}}
  cells:
    fc: {Dense: {in_channels: 4, out_channels: 3}}
    bn: {BatchNorm1d: 3}
    scale: {Parameter: {shape: [3], init: 2}}
  construct: return bn(fc(x)) * scale
END
}

# What MindSpore 2.10 prints of Dense(4, 3) and BatchNorm1d(3) in this order:
# fc.weight (3, 4) Float32 True, fc.bias (3,) Float32 True, bn.moving_mean (3,)
# Float32 False, bn.moving_variance (3,) Float32 False, bn.gamma (3,) Float32
# True, bn.beta (3,) Float32 True.
@test "--params lists what parameters_and_names does" {
    local type=Float32
    if "$CELLRUN" version | grep float64 >/dev/null; then type=Float64; fi
    params
    "$CELLRUN" summary params.yaml --params freeze.patterns=fc.bias >out
    diff <(awk 'NR > 1 && NF > 5 {
        gsub(/, +/, ","); print $1, $2, $3, $5 }' out) - <<END
fc.weight (3,4) $type True
fc.bias (3,) $type False
bn.moving_mean (3,) $type False
bn.moving_variance (3,) $type False
bn.gamma (3,) $type True
bn.beta (3,) $type True
scale (3,) $type True
END
    grep -qx 'values: 30' out
    grep -qx 'requires_grad: 21' out
    grep '^fc.weight.*HeUniform' out
    grep '^bn.beta .*Zero' out
    run -0 "$CELLRUN" summary params.yaml -v
    [[ "$output" == *"bn.moving_variance  (3,)    $type       3  False "* ]]
    run -0 "$CELLRUN" summary params.yaml --json
    jq -e '.params[1] == {"name": "fc.bias", "shape": [3],
        "type": "'$type'", "trainable": true, "reason": null,
        "init": .params[1].init}' <<<"$output"
}

@test "groups of parameters that are unfrozen later" {
    cd "$BATS_TEST_TMPDIR"
    cat >late.yaml <<'END2'
cellrun: 1
network: {inputs: {x: {shape: [4]}}, cells: {a: {Dense: {out_channels: 4}}, b: {Dense: {out_channels: 2}}}, construct: return b(a(x))}
loss: CrossEntropyLoss
optimizer: {SGD: {learning_rate: 0.1, group_params: [{params: "a.*", learning_rate: 0.01}]}}
freeze: {patterns: ["a.*"], schedule: [{at: 1 epochs, unfreeze: ["a.weight"]}]}
train: {epochs: 2}
END2
    run -0 "$CELLRUN" summary late.yaml --params --json
    jq -e '.params | map({key: .name, value: .group}) | from_entries |
        .["a.weight"] == 1 and .["a.bias"] == null' <<<"$output"
}

@test "groups of the optimizer next to parameters" {
    run -0 "$CELLRUN" summary net.yaml --params \
        'optimizer={SGD: {learning_rate: 0.1, group_params: [{params: "*.bias", weight_decay: 0.1}]}}'
    [ "$(awk '$1 == "body.0.bias" { print $NF }' <<<"$output")" = 1 ]
    [ "$(awk '$1 == "body.0.weight" { print $NF }' <<<"$output")" != 1 ]
}

@test "columns of the table add up to the totals" {
    params
    "$CELLRUN" summary params.yaml >out
    [ "$(awk '/^[a-z]/ && !/:/ && NR > 2 { sub(/.*\) +/, ""); n += $1; t += $2 }
        END { print n, t }' <(sed '/^$/q' out | sed 's/  [a-z_]*=.*//'))" = "30 24" ]
    grep -qx 'parameters: 30 (6 of them moving statistics)' out
    grep -qx 'trainable: 24' out
}

@test "arguments of constructors, given and by default" {
    params
    "$CELLRUN" summary params.yaml >out
    grep '^fc .*  in_channels=4, out_channels=3, has_bias=True$' out
    grep '^bn .*  num_features=3, eps=1e-05, momentum=0.9, affine=True' out
}

@test "--passes: the steps after each pass, for training and prediction" {
    digits="$BATS_TEST_DIRNAME/../../configs/digits.yaml"
    run -0 "$CELLRUN" summary --passes "$digits"
    [ "$(grep -o '^plan for [a-z]*, batch [0-9]*' <<<"$output" | xargs)" = \
        "plan for training, batch 64 plan for prediction, batch 64" ]
    # in order; relu is a step of its own first
    [ "$(grep -o '^[a-z_0-9]*:' <<<"$output" | head -14 | xargs)" = \
        "split: lower: constants: fold: casts: fuse: prepare: gradient: fuse_kept: recompute: two_bytes: collectives: update: memory:" ]
    grep -q '^  %[0-9]* = relu(%[0-9]*)  (64, 512)  dense_relu_sequential.1$' \
        <<<"$output"
    grep -q '^  %[0-9]* = linear(.*) relu  (64, 512)  dense_relu_sequential.0$' \
        <<<"$output"
    grep -q '^  %[0-9]*@[0-9]*, .*@.*weight, .* = backward linear(x ' <<<"$output"
    grep -q '^fold: no change$' <<<"$output"
    grep -Eq '^memory of values: [0-9.]+ MiB, at least [0-9.]+$' <<<"$output"

    CELLRUN_PASSES=-fuse run -0 "$CELLRUN" summary --passes "$digits"
    [[ $output != *fuse:* && $output != *") relu "* ]]
    CELLRUN_BLAS=own run -0 "$CELLRUN" summary --passes "$digits" --batch 1
    [[ $output == *" = prepare("*" once "* ]]
    run -2 "$CELLRUN" summary --passes --json "$digits"
    for other in --params "--at flatten"; do
        run -2 --separate-stderr "$CELLRUN" summary --passes $other "$digits"
        [ -z "$output" ]
        [[ "$stderr" == *"--passes and ${other% *} cannot be combined"* ]]
    done
}

@test "all weights of a Transformer start from XavierUniform" {
    cd "$BATS_TEST_TMPDIR"
    cat >net.yaml <<'END'
network:
  inputs: {x: {shape: [3, 4]}}
  cells:
    both: {Transformer: {d_model: 4, nhead: 2, num_encoder_layers: 2, num_decoder_layers: 1, dim_feedforward: 4, batch_first: true}}
  construct: return both(x, x)
END
    run -0 "$CELLRUN" summary --params net.yaml
    [ "$(grep -c 'weight .*XavierUniform' <<<"$output")" = 14 ]
    run ! grep -q 'weight .*HeUniform' <<<"$output"
}
