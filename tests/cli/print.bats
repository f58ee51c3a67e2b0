# print(...) in construct and bprop.
bats_require_minimum_version 1.5.0
set -o pipefail

setup() {
    . "$BATS_TEST_DIRNAME/tensors.bash"
    cd "$BATS_TEST_TMPDIR"
    unset CELLRUN_SET CELLRUN_DATA CELLRUN_RUNS CELLRUN_THREADS
    TYPE=Float32
    if "$CELLRUN" version | grep float64 >/dev/null; then TYPE=Float64; fi
    pack 'f<*' 1 2.5 -0.125 4 0 6 | npy x.npy '<f4' '(2, 3)'
}

# net PRINTS: what is printed within a network of conv, BatchNorm, ReLU,
# Dropout and Dense, which run fused, folded and in place: net.yaml
net() {
    perl -e 'srand 7; print pack "f<*", map { rand(2) - 1 } 1 .. 20 * 32' |
        npy s.npy '<f4' '(20, 2, 4, 4)'
    pack 'l<*' 0 1 2 0 1 2 0 1 2 0 1 2 0 1 2 0 1 2 0 1 | npy l.npy '<i4' '(20,)'
    cat >net.yaml <<YAML
dataset:
  train: {NumpySlicesDataset: {data: [s.npy, l.npy], column_names: [x, label]}}
  eval: {NumpySlicesDataset: {data: [s.npy, l.npy], column_names: [x, label]}}
datapipe: {batch: {batch_size: 6}}
network:
  cells:
    conv: {Conv2d: {in_channels: 2, out_channels: 8, kernel_size: 3}}
    bn: {BatchNorm2d: 8}
    drop: {Dropout: {p: 0.5}}
    fc: {Dense: {out_channels: 3}}
    scale: {Parameter: {shape: [8, 1, 1], init: 1}}
  construct: |
    u = conv(x)
    v = bn(u)
    w = relu(v) * scale
    $1
    w = dropout(w, 0.2)
    d = drop(reshape(w, (shape(w, 0), -1)))
    unused = d * 2
    $2
    return fc(d)
loss: CrossEntropyLoss
optimizer: {SGD: {learning_rate: 0.1}}
train: {epochs: 2}
YAML
}

# both PRINTS PRINTS ARGUMENT...: trains with them and without, to the same end
both() {
    net '' ''
    "$CELLRUN" train net.yaml -q -o without "${@:3}"
    net "$1" "$2"
    "$CELLRUN" train net.yaml -q -o with "${@:3}" 2>err
    [ "$(grep -c Tensor err)" = 0 ] # -q
    grep '^d$' with/log.txt >/dev/null
    run -0 "$CELLRUN" ckpt diff without with --json
    [[ "$output" == *'"same": true'* && "$output" != *'"same": false'* ]]
    diff <(grep -o '"loss":[^,]*' without/metrics.jsonl) \
        <(grep -o '"loss":[^,]*' with/metrics.jsonl)
}

@test "tensors, numbers, texts and tuples, each on its line" {
    cat >n.yaml <<'YAML'
network:
  construct: |
    print("x is", x, shape(x, 1), (1, 2.5), None, True, (x[0, 0], 3))
    print()
    print(argmax(x, 1), x > 1)
    return x
YAML
    "$CELLRUN" trace n.yaml --feed x=x.npy >/dev/null 2>out
    diff out - <<END
x is
Tensor(shape=[2, 3], dtype=$TYPE, value=
[[ 1.     2.5   -0.125]
 [ 4.     0.     6.   ]])
3
(1, 2.5)
None
True
Tensor(shape=[], dtype=$TYPE, value=1.0)
3

Tensor(shape=[2], dtype=Int32, value=
[1 2])
Tensor(shape=[2, 3], dtype=Bool, value=
[[False  True False]
 [ True False  True]])
END
}

@test "control characters in a text are escaped" {
    cat >n.yaml <<'YAML'
network:
  construct: "print('red \e[31m', 'blé')\nreturn x"
YAML
    "$CELLRUN" trace n.yaml --feed x=x.npy >/dev/null 2>out
    diff out - <<<$'red \\x1b[31m\nblé'
}

@test "a tensor of more than 1000 elements is abridged" {
    perl -e 'print pack "f<*", 0 .. 1199' | npy big.npy '<f4' '(1, 1200)'
    cat >n.yaml <<'YAML'
network: {construct: "print(x)\nreturn x"}
YAML
    "$CELLRUN" trace n.yaml --feed x=big.npy >/dev/null 2>out
    diff out - <<END
Tensor(shape=[1, 1200], dtype=$TYPE, value=
[[0.000e+00 1.000e+00 2.000e+00 ... 1.197e+03 1.198e+03 1.199e+03]])
END
}

@test "train gives the same bytes with prints and without" {
    both 'print(u, v, w, scale)' 'print("d", d, unused)'
}

@test "the same under amp" {
    both 'print(u, v, w, scale)' 'print("d", d, unused)' amp.level=auto
}

@test "the same --eager" {
    both 'print(u, v, w, scale)' 'print("d", d, unused)' --eager
}

@test "the same with accumulated and clipped gradients" {
    both 'print(u, v, w, scale)' 'print("d", d)' \
        train.grad_accumulation=2 train.clip.norm=1
}

@test "train, eval, predict and trace print in the order of the text" {
    net 'print("first", shape(w, 0))' 'print("second")'
    "$CELLRUN" train net.yaml -o run train.epochs=1 2>err
    # batches of 6, 6, 6 and 2 samples, then the evaluation's
    [ "$(grep -A2 first err | grep -v '^--' | tr '\n' ' ')" = \
        "$(for i in 1 2; do for n in 6 6 6 2; do
            printf 'first %d second ' $n; done; done)" ]
    diff <(grep -A2 first err) <(grep -A2 first run/log.txt)
    "$CELLRUN" eval --ckpt run >/dev/null 2>err
    [ "$(grep -c '^second$' err)" = 4 ]
    "$CELLRUN" eval --ckpt run --eager >/dev/null 2>err2
    diff err err2
    "$CELLRUN" predict --ckpt run s.npy >/dev/null 2>err
    [ "$(tr '\n' ' ' <err)" = "first 20 second " ]
    "$CELLRUN" trace net.yaml --grad >/dev/null 2>err
    [ "$(tr '\n' ' ' <err)" = "first 6 second " ]
}

@test "print shows the values that trace writes" {
    local how
    net 'print(u)' ''
    for how in "" --eval --predict "--eval --eager"; do
        # shellcheck disable=SC2086
        "$CELLRUN" trace net.yaml $how -o all.npz 2>printed
        "$CELLRUN" ckpt show all.npz --values output.conv >kept
        diff printed <(sed 's/^output.conv: //' kept)
    done
}

@test "a call in a cell that is called twice prints twice, each its own" {
    cat >n.yaml <<'YAML'
network:
  cells:
    twice:
      construct: |
        y = x * 2
        print("y", y)
        return y
  construct: return twice(twice(x))
YAML
    "$CELLRUN" trace n.yaml --feed x=x.npy >/dev/null 2>out
    diff out - <<END
y
Tensor(shape=[2, 3], dtype=$TYPE, value=
[[ 2.    5.   -0.25]
 [ 8.    0.   12.  ]])
y
Tensor(shape=[2, 3], dtype=$TYPE, value=
[[ 4.  10.  -0.5]
 [16.   0.  24. ]])
END
}

# backward: a cell with bprop, whose dout is 0.5, at the front of one Dense of
# weight 0.5; no trainable parameter before it
backward() {
    cat >n.yaml <<'YAML'
dataset: {train: {NumpySlicesDataset: {data: [x.npy], column_names: [x]}}}
datapipe: {batch: {batch_size: 2}}
network:
  cells:
    double:
      construct: |
        print("forward")
        return x * 2
      bprop: |
        print("backward", dout, out)
        return dout * 2
    fc: {Dense: {out_channels: 1, weight_init: 0.5, has_bias: false}}
  construct: |
    return fc(double(x))
loss: {inputs: [y], construct: "print('loss', y)\nreturn sum(y)"}
optimizer: {SGD: {learning_rate: 1}}
train: {epochs: 1}
YAML
}

@test "bprop prints the gradient that arrives, after the forward pass" {
    backward
    "$CELLRUN" train n.yaml -o run 2>err
    diff <(sed -n '/^forward/,/^Epoch/p' err | grep -v Epoch) - <<END
forward
loss
Tensor(shape=[2, 1], dtype=$TYPE, value=
[[ 3.375]
 [10.   ]])
backward
Tensor(shape=[2, 3], dtype=$TYPE, value=
[[0.5 0.5 0.5]
 [0.5 0.5 0.5]])
Tensor(shape=[2, 3], dtype=$TYPE, value=
[[ 2.    5.   -0.25]
 [ 8.    0.   12.  ]])
END
    "$CELLRUN" trace n.yaml --grad --eager >/dev/null 2>out
    diff out <(sed -n '/^forward/,/^Epoch/p' err | grep -v Epoch)
}

@test "gradients are printed with the loss scale that they have" {
    backward
    "$CELLRUN" train n.yaml -o run \
        'amp.loss_scale={FixedLossScaleManager: {loss_scale: 8}}' 2>err
    grep -A2 '^backward' err | grep '^\[\[4\. 4\. 4\.\]$'
}

@test "low precision is printed as the type that it has" {
    if [ $TYPE = Float64 ]; then skip "figures of float32"; fi
    cat >n.yaml <<'YAML'
network:
  cells: {fc: {Dense: {out_channels: 1, weight_init: 0.1, has_bias: false}}}
  construct: |
    y = fc(x)
    print(x, y)
    return y
amp: {level: O3}
YAML
    "$CELLRUN" trace n.yaml --feed x=x.npy >/dev/null 2>out
    diff out - <<END
Tensor(shape=[2, 3], dtype=Float32, value=
[[ 1.     2.5   -0.125]
 [ 4.     0.     6.   ]])
Tensor(shape=[2, 1], dtype=Float16, value=
[[0.3374]
 [1.    ]])
END
}

@test "run.print: log and off" {
    net 'print("here")' ''
    "$CELLRUN" train net.yaml -o run run.print=log train.epochs=1 2>err
    [ "$(grep -c '^here$' run/log.txt)" = 8 ]
    run -1 grep here err
    "$CELLRUN" train net.yaml -o off run.print=off train.epochs=1 2>err
    run -1 grep here err off/log.txt
    "$CELLRUN" eval --ckpt run >/dev/null 2>err
    [ ! -s err ]
}

@test "other commands print nothing" {
    net 'print("here")' ''
    for c in check summary gradcheck "train --dry-run -q"; do
        # shellcheck disable=SC2086
        "$CELLRUN" $c net.yaml >out 2>&1
        run -1 grep '^here$' out
    done
}

@test "a drawing and the list of steps do not change" {
    net '' ''
    "$CELLRUN" summary net.yaml --dot a.dot -v >a
    net 'print(u, v, w)' 'print(d)'
    "$CELLRUN" summary net.yaml --dot b.dot -v >b
    diff a b
    diff a.dot b.dot
}

# refused TEXT MESSAGE: of a construct
refused() {
    printf 'network:\n  construct: |\n    %s\n    return x\n' "$1" >n.yaml
    run -2 "$CELLRUN" trace n.yaml --feed x=x.npy
    [[ "$output" == *"$2"* ]]
}

@test "print in an expression" {
    refused 'y = print(x)' 'print(...) returns no value: write it on its own line'
}

@test "an option of print" {
    refused "print(x, sep=',')" "print: unknown option 'sep'"
}

@test "more than 16 tensors in one print" {
    refused 'print(x,x,x,x,x,x,x,x,x,x,x,x,x,x,x,x,x)' 'more than 16 tensors'
}

@test "predict --against labels: the quick start's line of each sample" {
    net '' ''
    "$CELLRUN" train net.yaml -q -o run 'predict.labels=[cat, dog, fox]' \
        >/dev/null
    "$CELLRUN" predict --ckpt run --data eval --against labels >lines
    "$CELLRUN" predict --ckpt run --data eval --json |
        jq -r '"Predicted: \"\(.label)\", Actual: \"\(.actual)\""' >wanted
    [ "$(wc -l <lines)" = 20 ]
    diff lines wanted
    "$CELLRUN" predict --ckpt run x=s.npy label=l.npy --against labels | diff - wanted
    run -2 "$CELLRUN" predict --ckpt run x=s.npy --against labels
    [[ $output == *"--against labels: the input has no labels"* ]]
    run -2 --separate-stderr "$CELLRUN" predict --ckpt run s.npy --against labels
    [[ -z $output && $stderr == "s.npy: error: --against labels: the input has no labels [E0501]"* ]]
    run -2 "$CELLRUN" predict --ckpt run s.npy --against truth
    [[ "$output" == *"--against: found 'truth', expected labels"* ]]
}
