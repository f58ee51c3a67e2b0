# watch: statistics of outputs and gradients, which change nothing.
bats_require_minimum_version 1.5.0
set -o pipefail
load two_layers

setup() {
    cd "$BATS_TEST_TMPDIR"
    unset CELLRUN_SET CELLRUN_DATA
    four_samples
    cat >net.yaml <<'END'
dataset:
  train:
    NumpySlicesDataset: {data: [x.npy, y.npy], column_names: [x, label]}
datapipe: {batch: {batch_size: 3}}
network:
  a: {Dense: {in_channels: 3, out_channels: 2, weight_init: One, bias_init: Zero}}
  r: ReLU
  b: {Dense: [2, 2]}
loss: CrossEntropyLoss
optimizer: {SGD: {learning_rate: 0.1}}
train: {epochs: 2}
END
}

records() {
    jq -c 'select(.split == "watch") | del(.t)' "$1/metrics.jsonl"
}

@test "numbers of an output, by hand" {
    # rows sum to 6, -0.5, -1, 4; a step of three of them, then one of one
    "$CELLRUN" train net.yaml -q -o run datapipe.batch.batch_size=4 \
        'watch=[{at: r, stats: [mean, std, min, max, norm, nan_count, zero_fraction, histogram]}]' \
        >/dev/null
    [ "$(records run | wc -l)" = 1 ]
    records run | jq -e '.step == 1 and .at == "r" and .what == "output" and
        .mean == 2.5 and .min == 0 and .max == 6 and .nan_count == 0 and
        .zero_fraction == 0.5 and (.std - 2.598076 | fabs) < 1e-6 and
        (.norm - 10.198039 | fabs) < 1e-6 and
        .low == 0 and .high == 6 and
        .bins == [4,0,0,0,0,0,0,0,0,0,0,0,0,2,0,0,0,0,0,2]'
}

@test "steps, cells and gradients that are asked for" {
    "$CELLRUN" train net.yaml -q -o run \
        'watch=[{at: "a b", what: [grad, output], every: 2 steps}, {at: r, every: 1}]' \
        >/dev/null
    [ "$(records run | jq -r '"\(.step) \(.at) \(.what)"' | sort | xargs)" = \
      "1 a grad 1 a output 1 b grad 1 b output 1 r output 2 r output 3 a grad 3 a output 3 b grad 3 b output 3 r output 4 r output" ]
}

@test "print, too" {
    run -0 --separate-stderr "$CELLRUN" train net.yaml -o run \
        'watch=[{at: r, stats: max, print: true}]'
    [[ "$stderr" == *"watch  step 1  r output max "* ]]
}

@test "the run is the same without it" {
    "$CELLRUN" train net.yaml -q -o one >/dev/null
    "$CELLRUN" train net.yaml -q -o two >/dev/null \
        'watch=[{at: "*", what: [output, grad], every: 1}]'
    run -0 "$CELLRUN" ckpt diff one two
    [[ "$output" == *"no differences"* ]]
}

@test "params: the parameters before the update" {
    "$CELLRUN" train net.yaml -q -o run train.epochs=1 >/dev/null \
        'watch=[{at: a, what: params, stats: values, every: 1}]'
    [ "$(records run | jq -r '"\(.step) \(.at)"' | xargs)" = \
        "1 a.weight 1 a.bias 2 a.weight 2 a.bias" ]
    [ "$(records run | jq -c .values | head -2 | xargs)" = "[1,1,1,1,1,1] [0,0]" ]
    "$CELLRUN" train net.yaml -q -o one --steps 1 >/dev/null
    diff <(records run | jq -c 'select(.step == 2 and .at == "a.weight") | .values') \
        <("$CELLRUN" ckpt show one --values a.weight --json |
            jq -c '.["a.weight"] | flatten')
    run -2 --separate-stderr "$CELLRUN" check net.yaml \
        'watch=[{at: a, what: params, in: eval}]'
    [[ "$stderr" == *"gradients and parameters are observed in training only"* ]]
}

@test "log.histograms records all parameters and gradients, log.csv a table of all records" {
    "$CELLRUN" train net.yaml -q -o off >/dev/null
    "$CELLRUN" train net.yaml -q -o run >/dev/null log.histograms='1 epoch' \
        log.csv=true log.tensorboard=true
    [ "$(records run | jq -r '"\(.step) \(.what) \(.at)"' | xargs)" = "$(
        for step in 1 3; do
            for what in params grad_params; do
                echo $step $what {a,b}.{weight,bias}
            done
        done | awk '{ for (i = 3; i <= NF; i++) print $1, $2, $i }' | xargs)" ]
    records run | jq -es 'all(.[]; (.bins | add) ==
        ({"a.weight": 6, "a.bias": 2, "b.weight": 4, "b.bias": 2}[.at]))'
    LC_ALL=C grep -qa 'watch/a.weight/grad_params' run/events.out.tfevents.*
    "$CELLRUN" ckpt diff off run
    [ "$(wc -l <run/metrics.csv)" = $(($(wc -l <run/metrics.jsonl) + 1)) ]
    diff run/metrics.csv <("$CELLRUN" runs export run | cut -d, -f2-)
    run -2 --separate-stderr "$CELLRUN" check net.yaml log.histograms='3 min'
    [[ "$stderr" == *"'log.histograms': expected off or a number of steps, epochs"* ]]
    "$CELLRUN" train net.yaml -q -o none log.histograms=off >/dev/null
    [ -z "$(records none)" ]
    [ ! -e none/metrics.csv ]
}

@test "what cannot be watched" {
    run -2 --separate-stderr "$CELLRUN" train net.yaml -o run \
        'watch=[{at: q}, {at: a, what: outputs}, {at: a, stats: men}, {stats: max}, {at: a, every: 1 min}]'
    [[ "$stderr" == *"'q' matches no cell"* ]]
    [[ "$stderr" == *"'outputs' is not one of the values"*"did you mean 'output'?"* ]]
    [[ "$stderr" == *"'men' is not one of the values"*"did you mean 'mean'?"* ]]
    [[ "$stderr" == *"'at' is missing"* ]]
    [[ "$stderr" == *"expected a number of steps, epochs, samples or percent"* ]]
    run -2 --separate-stderr "$CELLRUN" train net.yaml -o run watch=r
    [[ "$stderr" == *"expected a list of entries"* ]]
}

@test "of several batches a step has it is the first that is seen" {
    sed -i 's/^  r: ReLU/  r: {Dropout: {p: 0.5}}/' net.yaml
    for n in 1 2; do
        "$CELLRUN" train net.yaml -q -o "run$n" train.epochs=4 \
            datapipe.batch.batch_size=1 optimizer.learning_rate=0.0 \
            "train.grad_accumulation=$n" \
            'watch=[{at: r, every: 1, stats: [mean, norm]}]' >/dev/null
        records "run$n" | jq -c '[.mean, .norm]' >"seen$n"
    done
    [ "$(wc -l <seen2)" = 8 ]
    cmp seen2 <(sed -n '1~2p' seen1)
}

# evaluated: net.yaml with the training data as its evaluation's too
evaluated() {
    sed -i 's/^datapipe/  eval:\n    NumpySlicesDataset: {data: [x.npy, y.npy], column_names: [x, label]}\n&/' \
        net.yaml
}

# Rows of x sum to 6, -0.5, -1 and 4: both numbers of r are max(sum, 0).
@test "evaluations, eval, predict and trace observe where 'in' says" {
    evaluated
    "$CELLRUN" train net.yaml -q -o run optimizer.learning_rate=0.0 \
        'watch=[{at: r, in: [eval, predict], stats: values},
            {at: r, in: predict, stats: max}, {at: r, stats: mean, name: t}]' \
        >/dev/null
    # two evaluations of 3 samples and 1; the first batch of each is looked at
    records run | jq -s -e 'map(select(.in)) | length == 2 and
        all(.in == "eval" and .batch == 1 and .shape == [3, 2] and
            .values == [6, 6, 0, 0, 0, 0]) and map(.step) == [2, 4]'
    records run | jq -s -e 'map(select(.in | not)) | map(.step) == [1]'
    run -0 --separate-stderr "$CELLRUN" eval --ckpt run
    [[ "$stderr" == "watch  batch 1  r output"$'\n'"Tensor(shape=[3, 2], "*"[[6. 6.]
 [0. 0.]
 [0. 0.]])" ]]
    run -0 --separate-stderr "$CELLRUN" predict --ckpt run x.npy
    [[ "$stderr" == *"[[6. 6.]
 [0. 0.]
 [0. 0.]
 [4. 4.]])"*"watch  batch 1  r output max 6" ]]
    set -- trace --ckpt run net.yaml --feed x=x.npy \
        'watch=[{at: r, in: predict, stats: max}]'
    run -0 --separate-stderr "$CELLRUN" "$@" --predict --as-run
    [ "$stderr" = "watch  batch 1  r output max 6" ]
    run -0 --separate-stderr "$CELLRUN" "$@"
    [ -z "$stderr" ]
}

@test "results of eval and predict are the same with entries that look" {
    evaluated
    "$CELLRUN" train net.yaml -q -o one >/dev/null
    "$CELLRUN" train net.yaml -q -o two >/dev/null \
        'watch=[{at: "network loss *", in: [eval, predict], every: 1}]'
    for c in eval "predict x.npy"; do
        # shellcheck disable=SC2086
        "$CELLRUN" $c --ckpt one --json >one.json
        # shellcheck disable=SC2086
        "$CELLRUN" $c --ckpt two --json 2>lines >two.json
        grep -q network lines
        cmp one.json two.json
    done
}

@test "the whole network, the loss and cells inside it" {
    sed -i 's/^loss:.*/loss:\n  inputs: [y, label]\n  cells: {half: {construct: return x \/ 2}}\n  construct: return half(sum(y))/' \
        net.yaml
    "$CELLRUN" train net.yaml -q -o run >/dev/null \
        'watch=[{at: network, what: [input, output, grad], stats: [mean, norm]},
            {at: "loss loss.half", what: [output, grad], stats: mean}]'
    # the gradient of half of a sum is 0.5 at the network's six results, 1 at
    # the loss and 1 at half
    records run | jq -s -e 'map({"\(.at) \(.what)": .mean}) | add |
        ."network grad" == 0.5 and ."loss grad" == 1 and
        ."loss.half grad" == 1 and
        ."loss output" == ."loss.half output" and
        (."loss output" - 3 * ."network output" | fabs) < 1e-5 and
        has("network input")'
    # of a loss by its type too
    sed -i '/^loss:/,/return half/d' net.yaml
    echo 'loss: {MSELoss: {reduction: sum}}' >>net.yaml
    sed -i 's/y.npy/t.npy/' net.yaml
    pack 'f<*' 0 0 0 0 0 0 0 0 | npy t.npy '<f4' '(4, 2)'
    "$CELLRUN" train net.yaml -q -o mse train.steps=1 \
        'watch=[{at: loss, what: output, stats: mean}]' >/dev/null
    diff <(records mse | jq .mean) \
        <(jq 'select(.split == "train") | .loss' mse/metrics.jsonl)
}

@test "a replacement of the network's output and of the loss" {
    "$CELLRUN" trace net.yaml --eval -o plain.npz >/dev/null
    "$CELLRUN" trace net.yaml --eval -o hooked.npz \
        'watch=[{at: network, hook: forward, scale: 2}, {at: loss, hook: forward, scale: 4}]' \
        >/dev/null
    "$CELLRUN" ckpt show plain.npz --values 'output*' --json |
        jq -c '.output | map(map(. * 2))' >twice
    "$CELLRUN" ckpt show hooked.npz --values 'output*' --json |
        jq -c .output | diff - twice
    "$CELLRUN" trace net.yaml --eval -o loss.npz \
        'watch=[{at: network, hook: forward, scale: 2}]' >/dev/null
    diff <("$CELLRUN" ckpt show hooked.npz --values loss --json | jq .loss) \
        <("$CELLRUN" ckpt show loss.npz --values loss --json | jq '.loss * 4')
}

@test "until: the entry is removed after that many steps" {
    "$CELLRUN" train net.yaml -q -o run \
        'watch=[{at: a, every: 1, until: 2 steps}, {at: b, every: 1, until: 50%}, {at: r, every: 1}]' \
        >/dev/null
    [ "$(records run | jq -r '"\(.step)\(.at)"' | sort | xargs)" = \
        "1a 1b 1r 2a 2b 2r 3r 4r" ]
}

@test "gradients scaled, unscaled and clipped" {
    local scale='amp.loss_scale={FixedLossScaleManager: {loss_scale: 8}}'
    for as in scaled unscaled clipped; do
        "$CELLRUN" train net.yaml -q -o $as "$scale" train.clip.norm=0.01 \
            "watch=[{at: network, what: grad_params, stats: norm, as: $as}]" \
            >/dev/null
        # the global norm, and those of its parameters
        records $as | jq -s 'map(.norm * .norm) | add | sqrt' >$as.norm
        [ "$(records $as | jq -r .at | sort | xargs)" = \
            "a.bias a.weight b.bias b.weight" ]
    done
    jq -n -e --argjson s "$(cat scaled.norm)" --argjson u "$(cat unscaled.norm)" \
        --argjson c "$(cat clipped.norm)" \
        --argjson n "$(jq 'select(.split == "train" and .step == 1).grad_norm' \
            scaled/metrics.jsonl)" \
        '($s / 8 - $u | fabs) < 1e-6 and ($u - $n | fabs) < 1e-6 and
            ($c - 0.01 | fabs) < 1e-8'
    # of outputs as well
    for as in scaled unscaled; do
        "$CELLRUN" train net.yaml -q --force -o $as "$scale" \
            "watch=[{at: r, what: grad, stats: norm, as: $as}]" >/dev/null
        records $as | jq .norm >$as.norm
    done
    jq -n -e --argjson s "$(cat scaled.norm)" \
        --argjson u "$(cat unscaled.norm)" '($s / 8 - $u | fabs) < 1e-6'
    run -2 "$CELLRUN" train net.yaml -o no train.grad_accumulation=2 \
        'watch=[{at: a, what: grad_params, as: clipped}]'
    [[ "$output" == *"'as: clipped' requires train.grad_accumulation of 1"* ]]
}

@test "save: a file per step, of what trace writes" {
    evaluated
    "$CELLRUN" train net.yaml -q -o run optimizer.learning_rate=0.0 >/dev/null \
        'watch=[{at: "a r", every: 2 steps, save: seen.npz, what: [output, grad], in: [train, eval]}]'
    [ "$(cd run && echo seen*)" = \
        "seen-1.npz seen-3.npz seen-eval-2-1.npz seen-eval-4-1.npz" ]
    pack 'f<*' 1 2 3 -1 0.5 0 0 -2 1 | npy head.npy '<f4' '(3, 3)'
    "$CELLRUN" trace --ckpt run net.yaml --predict --feed x=head.npy \
        -o all.npz >/dev/null
    diff <("$CELLRUN" ckpt show run/seen-eval-4-1.npz --values r.output --json |
        jq -c '."r.output"') \
        <("$CELLRUN" ckpt show all.npz --values output.r --json |
            jq -c '."output.r"')
    [ "$("$CELLRUN" ckpt show run/seen-3.npz --values '*' --json |
        jq -r keys[] | xargs)" = "a.grad a.output r.grad r.output" ]
    "$CELLRUN" eval --ckpt run 2>/dev/null >/dev/null
    [ -e seen-1.npz ]
}

@test "entries that match nothing" {
    for at in '""' '[]' '["", " "]'; do
        run -2 "$CELLRUN" check net.yaml "watch=[{at: $at}]"
        [[ "$output" == *"'at' is empty"* ]]
    done
    for at in netwrk:network los:loss loss.x:loss; do
        run -2 "$CELLRUN" check net.yaml "watch=[{at: ${at%:*}}]"
        [[ "$output" == *"closest: ${at#*:}"* ]]
    done
    run -2 "$CELLRUN" check net.yaml 'watch=[{at: a, in: eval, what: grad}]'
    [[ "$output" == *"gradients and parameters are observed in training only"* ]]
    run -2 "$CELLRUN" check net.yaml 'watch=[{at: a, as: clipped}]'
    [[ "$output" == *"'as: clipped' needs 'what: grad_params'"* ]]
    run -2 "$CELLRUN" check net.yaml 'watch=[{at: a, save: a.txt}]'
    [[ "$output" == *"found 'a.txt', expected a file *.npz or *.safetensors"* ]]
    run -2 "$CELLRUN" check net.yaml \
        'watch=[{at: a, hook: forward, zero: true, until: 1}]'
    [[ "$output" == *"'until' ends observation only"* ]]
}
