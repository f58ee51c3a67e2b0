# watch with `hook`: MindSpore's four forms that look and replace.
bats_require_minimum_version 1.5.0
set -o pipefail

setup() {
    . "$BATS_TEST_DIRNAME/tensors.bash"
    cd "$BATS_TEST_TMPDIR"
    unset CELLRUN_SET CELLRUN_DATA CELLRUN_RUNS CELLRUN_THREADS
    pack 'f<*' 5 | npy x.npy '<f4' '(1, 1)'
    # x 5, a 10, b 30: the loss is b, gradients of b.weight 10, a.weight 15
    cat >one.yaml <<'YAML'
dataset: {train: {NumpySlicesDataset: {data: [x.npy], column_names: [x]}}}
datapipe: {batch: {batch_size: 1}}
network:
  a: {Dense: {out_channels: 1, weight_init: 2, has_bias: false}}
  b: {Dense: {out_channels: 1, weight_init: 3, has_bias: false}}
loss: {inputs: [y], construct: return sum(y)}
optimizer: {SGD: {learning_rate: 1}}
metrics: [loss]
train: {epochs: 1}
YAML
}

# small: a network with Dropout and ReLU on random numbers, small.yaml
small() {
    perl -e 'srand 7; print pack "f<*", map { rand(2) - 1 } 1 .. 20 * 6' |
        npy s.npy '<f4' '(20, 6)'
    pack 'l<*' 0 1 2 0 1 2 0 1 2 0 1 2 0 1 2 0 1 2 0 1 | npy l.npy '<i4' '(20,)'
    cat >small.yaml <<'YAML'
dataset:
  train: {NumpySlicesDataset: {data: [s.npy, l.npy], column_names: [x, label]}}
datapipe: {batch: {batch_size: 6}}
network:
  a: {Dense: {out_channels: 8}}
  r: ReLU
  d: {Dropout: {p: 0.5}}
  b: {Dense: {out_channels: 3}}
loss: CrossEntropyLoss
optimizer: {Momentum: {learning_rate: 0.1, momentum: 0.9}}
train: {epochs: 2}
YAML
}

# mean NAME: of that tensor in a table of `trace` on stdin
mean() {
    awk -v name="$1" '$1 == name { sub(/.*\) */, ""); print $1 }'
}

# traced ENTRY...: loss, a, b, and the gradients of both weights
traced() {
    local list
    list=$(printf ', {%s}' "$@")
    run -0 "$CELLRUN" trace one.yaml --grad "watch=[${list#, }]"
    output=$(awk '{ at = $1; sub(/.*\) */, ""); v[at] = $1 } END {
        n = split("loss output.a output.b grad.a.weight grad.b.weight", k, " ")
        for (i = 1; i <= n; i++) printf "%s ", k[i] in v ? v[k[i]] : "-"
        }' <<<"$output")
    echo "$output"
}

# records DIR: of the taps
records() {
    jq -r 'select(.split == "watch") | "\(.step) \(.at) \(.what) \(.mean)"' \
        "$1/metrics.jsonl"
}

@test "each form replaces what it is about" {
    traced 'at: a'
    [ "$output" = '30 10 30 15 10 ' ]
    traced 'at: b, hook: forward_pre, scale: 0.5'
    [ "$output" = '15 10 15 7.5 5 ' ]
    traced 'at: a, hook: forward, scale: 0.5'
    [ "$output" = '15 5 15 7.5 5 ' ]
    traced 'at: a, hook: backward_pre, scale: 2'
    [ "$output" = '30 10 30 30 10 ' ]
    # what leaves b arrives at a; b's own parameter is not asked
    traced 'at: b, hook: backward, scale: 2'
    [ "$output" = '30 10 30 30 10 ' ]
    traced 'at: b, hook: backward_pre, scale: 2'
    [ "$output" = '30 10 30 30 20 ' ]
}

@test "clamp, zero and a text; a constant cuts the gradient" {
    traced 'at: a, hook: forward, clamp: [-4, 4]'
    [ "$output" = '12 4 12 0 4 ' ]
    traced 'at: a, hook: backward_pre, clamp: [-1, 1.5]'
    [ "$output" = '30 10 30 7.5 10 ' ]
    traced 'at: a, hook: forward, zero: true'
    [[ "$output" = '0 0 0 '[-0]' 0 ' ]]
    traced 'at: a, hook: backward_pre, zero: true'
    [ "$output" = '30 10 30 0 10 ' ]
    traced 'at: b, hook: forward_pre, construct: "return inputs * inputs"'
    [ "$output" = '300 10 300 300 100 ' ]
    traced 'at: b, hook: forward, construct: "return output + inputs"'
    [ "$output" = '40 10 40 20 10 ' ]
    traced 'at: a, hook: backward_pre, construct: "return grad_output ** 2"'
    [ "$output" = '30 10 30 45 10 ' ]
    traced 'at: b, hook: backward, construct: "return grad_input - grad_output"'
    [ "$output" = '30 10 30 10 10 ' ]
    traced 'at: a, hook: forward, construct: "return 7 * ones_like(output)"'
    [[ "$output" = '21 7 21 '[-0]' 7 ' ]]
    for form in forward_pre forward backward_pre backward; do
        traced "at: b, hook: $form, construct: return None"
        [ "$output" = '30 10 30 15 10 ' ]
    done
}

@test "entries of one form follow each other, forms in MindSpore's order" {
    local twice='at: b, hook: backward, scale: 2'
    traced 'at: a, hook: forward, scale: 2' \
        'at: a, hook: forward, construct: "return output + 1"'
    [[ "$output" = *' 21 63 '* ]]
    traced 'at: a, hook: forward, construct: "return output + 1"' \
        'at: a, hook: forward, scale: 2'
    [[ "$output" = *' 22 66 '* ]]
    # 3 leaves b: doubled and bounded, or bounded and doubled
    traced "$twice" 'at: b, hook: backward, clamp: [0, 4]'
    [ "$output" = '30 10 30 20 10 ' ]
    traced 'at: b, hook: backward, clamp: [0, 4]' "$twice"
    [ "$output" = '30 10 30 30 10 ' ]
    traced 'at: b, hook: backward_pre, scale: 3' \
        'at: b, hook: backward_pre, clamp: [0, 2]'
    [ "$output" = '30 10 30 30 20 ' ]
    # forward is outside: backward_pre gets the gradient from after it
    traced 'at: b, hook: forward, scale: 5' \
        'at: b, hook: backward_pre, clamp: [0, 2]'
    [ "$output" = '150 10 150 30 20 ' ]
    # and backward's grad_output is what backward_pre lets through
    traced 'at: b, hook: backward_pre, scale: 4' \
        'at: b, hook: backward, construct: "return grad_output * 1"'
    [ "$output" = '30 10 30 20 40 ' ]
}

@test "taps of every form observe the value before a replacement" {
    run -0 --separate-stderr "$CELLRUN" train one.yaml -o run 'watch=[
        {at: b, hook: forward_pre, scale: 0.5, every: 1 steps},
        {at: b, hook: forward, what: [input, output], every: 1 steps},
        {at: b, hook: forward, scale: 2, print: true},
        {at: b, every: 1 steps},
        {at: b, hook: backward_pre, scale: 4, every: 1 steps},
        {at: b, hook: backward, every: 1 steps}]'
    [ "$(records run | sort | xargs -L1)" = "$(sort <<'END'
1 b input 10
1 b input 5
1 b output 15
1 b output 15
1 b output 30
1 b grad 2
1 b grad 8
1 b grad_input 24
END
)" ]
    [[ "$stderr" == *"watch  step 1  b output mean 15 "* ]]
}

@test "the gradient of the network's own input is seen, too" {
    "$CELLRUN" train one.yaml -q -o run \
        'watch=[{at: a, hook: backward, every: 1 steps}]' >/dev/null
    [ "$(records run | sort)" = '1 a grad 3
1 a grad_input 6' ]
}

@test "where values go two ways a cell's own gradient is seen and replaced" {
    cat >two.yaml <<'YAML'
base: one.yaml
network: !replace
  cells:
    a: {Dense: {out_channels: 1, weight_init: 2, has_bias: false}}
    b: {Dense: {out_channels: 1, weight_init: 3, has_bias: false}}
  construct: |
    y = a(x)
    return b(y) + 10 * y
YAML
    "$CELLRUN" train two.yaml -q -o run 'watch=[{at: b, what: grad_input}]' \
        >/dev/null
    [ "$(records run)" = '1 b grad_input 3' ]
    run -0 "$CELLRUN" trace two.yaml --grad \
        'watch=[{at: b, hook: backward, scale: 2}]'
    [ "$(mean grad.a.weight <<<"$output")" = 80 ]
}

@test "tuples and several inputs" {
    cat >many.yaml <<'YAML'
base: one.yaml
network: !replace
  cells:
    split:
      cells: {a: {Dense: {out_channels: 1, weight_init: 2, has_bias: false}}}
      construct: return a(x), x
    join: {inputs: [p, q], construct: return p * q}
  construct: |
    u, v = split(x)
    return join(u, v)
YAML
    # u 10, v 5: 50, and the gradient of split.a.weight 25
    check() {
        run -0 "$CELLRUN" trace many.yaml --grad "watch=[{$1}]"
        [ "$(mean loss <<<"$output") $(mean grad.split.a.weight <<<"$output")" = "$2" ]
    }
    check 'at: join' '50 25'
    check 'at: split, hook: forward, scale: 2' '200 100'
    check 'at: split, hook: forward, construct: "return output[1] + output[0], None"' '75 25'
    check 'at: join, hook: forward_pre, construct: "return inputs[0], inputs[1] + 1"' '60 30'
    check 'at: join, hook: backward, construct: "return grad_input[1], None"' '50 50'
    check 'at: join, hook: backward, scale: 3' '50 75'
    check 'at: split, hook: backward_pre, construct: "return grad_output[0] * 2, None"' '50 50'
    "$CELLRUN" train many.yaml -q -o run \
        'watch=[{at: join, what: [input, grad_input]}, {at: split, what: grad}]' \
        >/dev/null
    [ "$(records run | sort)" = '1 join#.0 grad_input 5
1 join#.0 input 10
1 join#.1 grad_input 10
1 join#.1 input 5
1 split#.0 grad 5
1 split#.1 grad 10' ]
}

@test "hook_backward: a point of a construct, by its name" {
    cat >point.yaml <<'YAML'
base: one.yaml
network: !replace
  cells:
    a: {Dense: {out_channels: 1, weight_init: 2, has_bias: false}}
    in:
      cells: {b: {Dense: {out_channels: 1, weight_init: 3, has_bias: false}}}
      construct: return b(hook_backward(x, 'z'))
  construct: return in(hook_backward(a(x), 'z'))
YAML
    grad() {
        "$CELLRUN" trace point.yaml --grad ${1:+"watch=[{$1}]"} |
            mean grad.a.weight
    }
    [ "$(grad)" = 15 ]
    [ "$(grad 'at: z, hook: hook_backward, scale: 2')" = 30 ]
    [ "$(grad 'at: "in.*", hook: hook_backward, construct: return grad + 1')" = 20 ]
    [ "$(grad 'at: "*", hook: hook_backward, scale: 2')" = 60 ]
    "$CELLRUN" train point.yaml -q -o run 'watch=[
        {at: in.z, hook: hook_backward, scale: 2, what: grad},
        {at: z, hook: hook_backward}]' >/dev/null
    [ "$(records run | sort)" = '1 in.z grad 3
1 z grad 6' ]
    run -0 "$CELLRUN" summary point.yaml \
        'watch=[{at: "*", hook: hook_backward, scale: 2}]'
    [[ "$output" == *"hook: hook_backward of z, in.z: scale 2.0"* ]]
}

@test "in half precision, channels last, and of a cell that is called twice" {
    perl -e 'srand 3; print pack "f<*", map { rand(2) - 1 } 1 .. 3*2*6*6' |
        npy i.npy '<f4' '(3, 2, 6, 6)'
    pack 'l<*' 0 1 2 | npy l.npy '<i4' '(3,)'
    cat >conv.yaml <<'YAML'
dataset:
  train: {NumpySlicesDataset: {data: [i.npy, l.npy], column_names: [x, label]}}
datapipe: {batch: {batch_size: 3}}
network:
  cells:
    c: {Conv2d: {out_channels: 8, kernel_size: 3}}
    n: BatchNorm2d
    k: {Conv2d: {out_channels: 8, kernel_size: 3}}
    g: {SequentialCell: [Flatten, {Dense: {out_channels: 3}}]}
  construct: |
    y = relu(n(c(x)))
    return g(k(relu(k(y))))
loss: CrossEntropyLoss
optimizer: {SGD: {learning_rate: 0.1}}
train: {epochs: 3}
YAML
    hooks='watch=[{at: "c n k", hook: backward, clamp: [-0.01, 0.01]},
        {at: k, hook: forward, scale: 0.5}, {at: k, hook: forward_pre, scale: 2},
        {at: n, hook: backward_pre, construct: "return grad_output * 3"}]'
    scale='amp.loss_scale={FixedLossScaleManager: {loss_scale: 8}}'
    losses() { "$CELLRUN" train conv.yaml -q log.every=1 -o "$@" >/dev/null; jq .loss "$1/metrics.jsonl"; }
    for level in O0 O2; do
        paste <(losses fused$level amp.level=$level "$scale" "$hooks") \
            <(losses eager$level amp.level=$level "$scale" "$hooks" --eager) |
            awk -v t="$([ $level = O0 ] && echo 1e-5 || echo 1e-2)" '
                { d = $1 - $2; n++; if (d * d > t * t * $2 * $2) bad = 1 }
                END { exit bad || n != 3 }'
    done
    [ "$(losses bare | tail -1)" != "$(jq .loss fusedO0/metrics.jsonl | tail -1)" ]
}

@test "in low precision, a result of which nothing is made" {
    small
    cat >lstm.yaml <<'YAML'
base: small.yaml
network: !replace
  cells: {lstm: {LSTM: {hidden_size: 4}}, out: {Dense: {out_channels: 3}}}
  construct: |
    y, _ = lstm(reshape(x, (1, shape(x, 0), 6)))
    return out(y[0])
watch: [{at: lstm, hook: backward_pre, scale: 0.5}]
YAML
    for level in O0 O2 O3 auto; do
        run -0 "$CELLRUN" train lstm.yaml -q -o run --force amp.level=$level
    done
}

@test "a hook that changes nothing changes no random number" {
    small
    "$CELLRUN" train small.yaml -q -o bare >/dev/null
    "$CELLRUN" train small.yaml -q -o same >/dev/null 'watch=[
        {at: "*", hook: forward_pre, construct: return inputs},
        {at: "*", hook: forward, construct: return output},
        {at: "*", hook: backward_pre, construct: return grad_output},
        {at: "*", hook: backward, construct: return grad_input}]'
    run -0 "$CELLRUN" ckpt diff bare same
    [[ "$output" == *"no differences"* ]]
}

@test "a handle is removed, disabled or changed on the command line" {
    small
    echo 'watch: [{at: r, hook: forward, scale: 2, name: twice}, {at: b, hook: backward_pre, scale: 0.5, name: half}]' >>small.yaml
    "$CELLRUN" train small.yaml -q -o with >/dev/null
    "$CELLRUN" train small.yaml -q -o bare '~watch' >/dev/null
    "$CELLRUN" train small.yaml -q -o removed '~watch.twice' '~watch.half' >/dev/null
    "$CELLRUN" train small.yaml -q -o disabled watch.twice.enabled=false \
        watch.half.scale=1 >/dev/null
    run -0 "$CELLRUN" ckpt diff bare removed
    [[ "$output" == *"no differences"* ]]
    run -0 "$CELLRUN" ckpt diff bare disabled
    [[ "$output" == *"no differences"* ]]
    run -6 "$CELLRUN" ckpt diff bare with
    [[ "$output" != *"no differences"* ]]
    run -2 --separate-stderr "$CELLRUN" train small.yaml '~watch.halve'
    [[ "$stderr" == *"'halve' is not a member of a list of 2"*"did you mean 'half'?"* ]]
    run -2 --separate-stderr "$CELLRUN" train small.yaml watch.other.enabled=false
    [[ "$stderr" == *"'other' is not a member of a list of 2"* ]]
}

@test "summary: cells with hooks, and the steps that are not fused" {
    small
    run -0 "$CELLRUN" summary small.yaml \
        'watch=[{at: r, hook: backward, scale: 0.5, name: half}, {at: "a b"}]'
    [[ "$output" == *"hook half: backward of r: scale 0.5"$'\n'* ]]
    [[ "$output" == *"hook: tap of a, b: observes output"$'\n'* ]]
    [[ "$output" == *"unfused because of a hook: relu of r, otherwise part of linear of a"* ]]
    run -0 "$CELLRUN" summary small.yaml '~network.d' network.r=GELU \
        'watch=[{at: r, hook: backward_pre, scale: 0.5}]'
    [[ "$output" == *"unfused because of a hook: gelu of r in the backward pass, otherwise part of the next step"* ]]
    run -0 "$CELLRUN" summary small.yaml 'watch=[{at: b, hook: backward, scale: 0.5}]'
    [[ "$output" != *"split"* ]]
    run -0 "$CELLRUN" summary small.yaml 'watch=[{at: a, what: [output, grad]}]'
    [[ "$output" != *"split"* ]]
    run -0 "$CELLRUN" summary small.yaml --json \
        'watch=[{at: "?", hook: forward, zero: true}]'
    jq -e '.hooks == [{name: null, hook: "forward", at: "a, r, d, b",
        replaces: "zero"}] and .split == [{name: "r", op: "relu",
        backward: false, from: "a"}, {name: "d", op: "dropout",
        backward: false, from: "a"}]' <<<"$output"
}

@test "a hook that scales by 1 changes no type: the numbers stay" {
    cat >half.yaml <<'END'
network:
  inputs: {x: {shape: [4]}}
  cells: {r: ReLU}
  construct: |
    h = r(cast(x, float16))
    return h * 3.1
END
    pack 'f<*' 1 .3 -.7 .123 | npy x4.npy '<f4' '(1, 4)'
    "$CELLRUN" trace half.yaml --feed x=x4.npy --grad -o want.safetensors
    for hook in forward_pre forward backward_pre backward; do
        "$CELLRUN" trace half.yaml "watch=[{at: r, hook: $hook, scale: 1}]" \
            --feed x=x4.npy --grad -o got.safetensors
        for name in output grad.x; do
            [ "$(tensor got.safetensors $name)" = "$(tensor want.safetensors $name)" ]
        done
    done
}

@test "a hook that no gradient passes has a warning" {
    run -0 "$CELLRUN" summary one.yaml 'watch=[{at: a, hook: backward, scale: 2}]'
    [[ "$output" == *"pruned from the backward pass: a: its hook affects no trainable parameter"* ]]
    run -0 "$CELLRUN" summary one.yaml --dot - \
        'watch=[{at: a, hook: backward, scale: 2}]'
    [[ "$output" == *"a Dense"* && "$output" != *"no gradient needed"* ]]
    run -0 "$CELLRUN" summary one.yaml \
        'watch=[{at: a, hook: forward, construct: "return ones_like(output)"}]'
    [[ "$output" == *"not trained: a.weight: "* ]]
}

@test "forward hooks apply in prediction, backward hooks split nothing there" {
    small
    "$CELLRUN" train small.yaml -q -o run >/dev/null \
        'watch=[{at: a, hook: forward, scale: 0, name: h}]'
    run -0 "$CELLRUN" trace run --feed x=s.npy
    [ "$(mean output.a <<<"$output")" = 0 ]
    run -0 "$CELLRUN" trace run --feed x=s.npy '~watch.h'
    [ "$(mean output.a <<<"$output")" != 0 ]
    run -0 "$CELLRUN" summary small.yaml '~loss' '~dataset' '~datapipe' '~optimizer' \
        'network.inputs={x: {shape: [6]}}' \
        'watch=[{at: a, hook: backward_pre, scale: 0.5}]'
    [[ "$output" == *"hook: backward_pre of a: scale 0.5"* ]]
    [[ "$output" == *"step of prediction"* && "$output" != *"split"* ]]
}

@test "gradcheck: with hooks on the forward pass, without those on gradients" {
    small
    run -0 "$CELLRUN" gradcheck small.yaml 'watch=[
        {at: r, hook: forward, construct: "return tanh(output) + 0.1 * sum(inputs)"},
        {at: b, hook: forward_pre, clamp: [-0.3, 2]},
        {at: b, hook: backward, construct: "return grad_input"}]'
    run -0 "$CELLRUN" gradcheck small.yaml
    plain=$output
    for hook in "{at: r, hook: backward, scale: 2}" \
        "{at: b, hook: backward_pre, clamp: [-0.01, 0.01]}"; do
        run -0 "$CELLRUN" gradcheck small.yaml "watch=[$hook]"
        [ "$output" = "$plain
compared without the hooks of watch that replace gradients" ]
    done
}

@test "an interrupted run resumes to the same bytes, with any threads" {
    small
    cat >>small.yaml <<'YAML'
watch:
  - {at: r, hook: forward, clamp: [0, 0.5]}
  - {at: d, hook: backward, construct: "return where(grad_input > 0, grad_input, 0.5 * grad_input)"}
  - {at: "*", what: [grad, grad_input], every: 3 steps}
YAML
    "$CELLRUN" train small.yaml -q -o whole train.epochs=4 --threads 1 >/dev/null
    "$CELLRUN" train small.yaml -q -o part train.epochs=2 --threads 3 >/dev/null
    "$CELLRUN" resume part train.epochs=4 -q >/dev/null
    run -0 "$CELLRUN" ckpt diff whole part
    [[ "$output" == *"no differences"* ]]
    [ "$(records whole | wc -l)" -gt 20 ]
    equal records whole part
}

# wrong ENTRY...: what check says
wrong() {
    local list
    list=$(printf ', {%s}' "$@")
    { cat one.yaml; echo "watch: [${list#, }]"; } >wrong.yaml
    run -2 --separate-stderr "$CELLRUN" check wrong.yaml
}

@test "errors are reported with their place" {
    wrong 'at: c, hook: forward, scale: 2'
    [[ "$stderr" == "wrong.yaml:10:14: error: pattern 'c' matches no cell "* ]]
    wrong 'at: a, hook: hook_backward'
    [[ "$stderr" == *"pattern 'a' matches no hook_backward"* ]]
    wrong 'at: a, scale: 2'
    [[ "$stderr" == *"'hook' is missing: set it to"* ]]
    wrong 'at: a, hook: forwards'
    [[ "$stderr" == *"did you mean 'forward'?"* ]]
    wrong 'at: a, hook: forward, scale: 2, zero: true'
    [[ "$stderr" == *"set only one of scale"* ]]
    wrong 'at: a, hook: forward, clamp: [1, 0]'
    [[ "$stderr" == *"clamp: expected two bounds, the lower one first"* ]]
    wrong 'at: a, name: h' 'at: b, name: h'
    [[ "$stderr" == "wrong.yaml:10:41: error: two entries of watch are called 'h' "* ]]
    wrong 'at: a, name: 1st'
    [[ "$stderr" == *"expected a lower-case letter, then letters"* ]]
    wrong 'at: a, hook: forward, construct: "return outputs"'
    [[ "$stderr" == "wrong.yaml:10:51: error: 'outputs' is not defined "*"did you mean 'output'?"*"in a"* ]]
    wrong 'at: b, hook: backward, construct: "return sum(grad_input)"'
    [[ "$stderr" == "wrong.yaml:10:52: error: result of the hook: found a tensor (), expected a tensor (1, 1) "* ]]
    wrong 'at: b, hook: backward, construct: "return 1, 2"'
    [[ "$stderr" == *"result of the hook: found a tuple of 2, expected a tensor (1, 1)"* ]]
    wrong 'at: b, hook: forward, construct: "return output, 2"'
    [[ "$stderr" == *"result of the hook: found a tuple of 2, expected a tensor"* ]]
    wrong 'at: b, hook: forward, construct: "y = output"'
    [[ "$stderr" == *"the last line must be 'return EXPRESSION'"* ]]
    sed -e '/^network/,/^  b:/d' one.yaml >point.yaml
    echo "network: {cells: {a: {Dense: {out_channels: 1}}}, construct: 'return a(hook_backward(x, 1))'}" >>point.yaml
    run -2 --separate-stderr "$CELLRUN" check point.yaml
    [[ "$stderr" == *"name: found 1, expected a string of letters, digits and _"* ]]
}

@test "MindSpore's vectors with hooks are not those without" {
    local dir n=0
    for dir in "$BATS_TEST_DIRNAME"/../golden/ms/hook_*; do
        n=$((n + 1))
        run -6 "$CELLRUN" trace "$dir/config.yaml" --feed "x=$dir/x.npy" \
            --feed "label=$dir/label.npy" --ckpt "$dir/weights.safetensors" \
            $(cat "$dir/cmd") --against "$dir/ref.safetensors" '~watch'
    done
    [ "$n" -ge 14 ]
}
