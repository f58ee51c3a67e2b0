# What a loss written in the config returns in addition: aux and has_aux.
bats_require_minimum_version 1.5.0
set -o pipefail
load tensors

setup() {
    cd "$BATS_TEST_TMPDIR"
    unset CELLRUN_SET CELLRUN_DATA CELLRUN_RUNS CELLRUN_THREADS
    perl -e 'srand 3; print pack "f<*", map { rand() - 0.5 } 1 .. 30' |
        npy x.npy '<f4' '(10, 3)'
    perl -e 'srand 4; print pack "f<*", map { rand() - 0.5 } 1 .. 20' |
        npy y.npy '<f4' '(10, 2)'
    cat >c.yaml <<'END'
cellrun: 1
dataset:
  train: {NumpySlicesDataset: {data: [x.npy, y.npy], column_names: [x, label], shuffle: false}}
  eval: {NumpySlicesDataset: {data: [x.npy, y.npy], column_names: [x, label]}}
datapipe: {batch: {batch_size: 4}}
network:
  fc: {Dense: {out_channels: 2}}
loss:
  inputs: [y, label]
  aux: [penalty, size]
  construct: |
    e = y - label
    return mean(e * e), mean(y * y), abs(y)
optimizer: {SGD: {learning_rate: 0.1}}
metrics:
  - loss
  - penalty
  - {name: root, inputs: [y, penalty], construct: "return sqrt(penalty)"}
train: {epochs: 2}
log: {every: 1 steps}
checkpoint: {best: {metric: penalty, mode: min}}
END
}

# tensor FILE NAME: its numbers
tensor() {
    unzip -qo "$1" "$2.npy"
    perl -0777 -e '$_ = <STDIN>; my $n = 10 + unpack "x8v", $_;
        printf "%.9g\n", $_ for unpack substr($_, 0, $n) =~ /<f8/ ? "d<*" : "f<*",
            substr $_, $n' <"$2.npy"
}

records() {
    jq -c "select(.split == \"$2\") | $3" "$1/metrics.jsonl"
}

@test "records have the means, and so do the metrics of these names" {
    "$CELLRUN" train c.yaml -q -o run >said
    [ "$(records run train 'has("penalty") and has("size")' | sort | uniq -c |
        xargs)" = "6 true" ]
    # the first record and trace's tensors
    "$CELLRUN" trace c.yaml -o o.npz
    tensor o.npz loss.penalty >a
    tensor o.npz loss.size | awk '{ s += $1 } END { print s / NR }' >b
    records run train '[.penalty, .size]' | head -1 | jq '.[]' | paste - \
        <(cat a b) | awk '{ d = $1 - $2; exit d * d > 1e-12 }'
    # the metric: the mean over the samples of 4 + 4 + 2
    "$CELLRUN" trace run --eval --feed x=x.npy --feed label=y.npy \
        -o o.npz
    records run eval '.penalty' | tail -1 >metric
    tensor o.npz loss.penalty | paste - metric |
        awk '{ d = $1 - $2; exit d * d > 1e-12 }'
    grep -q '^eval.penalty: ' said
    grep -q '^eval.root: ' said
    grep -q '^best.penalty: ' said
    run -0 "$CELLRUN" eval --ckpt run --json
    [ "$(jq -c '[.penalty, .root]' <<<"$output")" = \
      "$(records run eval '[.penalty, .root]' | tail -1)" ]
    run -0 "$CELLRUN" eval --ckpt run --metrics penalty --require 'penalty<1'
}

@test "they change no parameter: the bytes of a run without them" {
    "$CELLRUN" train c.yaml -q -o with >/dev/null
    "$CELLRUN" train c.yaml -q -o without ~checkpoint ~loss.aux 'metrics=[loss]' \
        'loss.construct=return mean((y - label) * (y - label))' >/dev/null
    run -0 "$CELLRUN" ckpt diff with without
    for more in --eager train.grad_accumulation=2 \
        'amp={loss_scale: {StaticLossScaler: 128}}' 'amp={level: O2}'; do
        rm -rf with without
        "$CELLRUN" train c.yaml -q -o with "$more" >/dev/null
        "$CELLRUN" train c.yaml -q -o without ~checkpoint ~loss.aux 'metrics=[loss]' \
            'loss.construct=return mean((y - label) * (y - label))' "$more" \
            >/dev/null
        run -0 "$CELLRUN" ckpt diff with without
    done
}

@test "has_aux: false differentiates the sum of all" {
    for more in seed=2 --eager train.grad_accumulation=2 \
        'amp={loss_scale: {StaticLossScaler: 128}}'; do
        rm -rf joint sum
        "$CELLRUN" train c.yaml -q -o joint loss.has_aux=false "$more" \
            >/dev/null
        "$CELLRUN" train c.yaml -q -o sum ~checkpoint ~loss.aux 'metrics=[loss]' "$more" \
            'loss.construct=return mean((y - label) * (y - label)) + mean(y * y) + sum(abs(y))' \
            >/dev/null
        run -0 "$CELLRUN" ckpt diff joint sum --rtol 1e-5 --atol 1e-6
    done
    # the loss that is reported is the first value in both
    run -0 "$CELLRUN" trace c.yaml -o a.safetensors
    run -0 "$CELLRUN" trace c.yaml loss.has_aux=false -o b.safetensors
    cmp a.safetensors b.safetensors
    run -0 "$CELLRUN" gradcheck c.yaml loss.has_aux=false
    run -0 "$CELLRUN" gradcheck c.yaml
}

@test "micro-batches: a record has the mean over those of an update" {
    "$CELLRUN" train c.yaml -q -o one train.steps=2 'optimizer.learning_rate=0.0' \
        >/dev/null
    "$CELLRUN" train c.yaml -q -o two train.steps=1 train.grad_accumulation=2 \
        'optimizer.learning_rate=0.0' >/dev/null
    records one train .penalty | awk '{ s += $1 } END { print s / NR }' >a
    records two train .penalty | paste - a |
        awk '{ d = $1 - $2; exit NR != 1 || d * d > 1e-10 }'
}

@test "an interrupted run resumes to the same bytes" {
    "$CELLRUN" train c.yaml -q -o whole loss.has_aux=false >/dev/null
    "$CELLRUN" train c.yaml -q -o half loss.has_aux=false train.epochs=1 \
        >/dev/null
    "$CELLRUN" resume half -q train.epochs=2 >/dev/null
    run -0 "$CELLRUN" ckpt diff whole half
    [ "$(records whole train '[.step, .penalty]')" = \
      "$(records half train '[.step, .penalty]')" ]
}

wrong() {
    run -2 --separate-stderr "$CELLRUN" check c.yaml "${@:2}"
    [[ "$stderr" == *"$1"* ]] || {
        echo "$stderr"
        false
    }
}

@test "errors of aux say what to write" {
    wrong 'found 0 names of further values, expected 2: it returns 3 values; name those after the first, `aux: [NAME]`' ~checkpoint ~loss.aux 'metrics=[loss]'
    wrong 'aux: found 1 name, expected 2: the loss returns 3 values' \
        'loss.aux=[penalty]'
    wrong "duplicate name 'penalty'" 'loss.aux=[penalty, penalty]'
    wrong "'lr' is a member of training records" 'loss.aux=[penalty, lr]'
    wrong 'expected a name: a lower-case letter' 'loss.aux=[penalty, 3]'
    wrong 'has_aux: found the number 2, expected true or false' loss.has_aux=2
    wrong "'aux' is allowed in the section loss only" \
        'network=!replace {aux: [a], cells: {fc: {Dense: {out_channels: 2}}}, construct: return fc(x)}'
    wrong "expected a float tensor" \
        'loss.construct=return mean(y), mean(y * y), argmax(y, 1)'
    wrong "penalti" 'metrics=[loss, penalti]'
}

@test "an auxiliary value that decides: the assumed direction is reported" {
    for key in checkpoint.best.metric train.early_stop.monitor; do
        run -0 --separate-stderr "$CELLRUN" check c.yaml ~checkpoint $key=penalty \
            train.early_stop.patience=1
        [[ "$stderr" == *"warning: ${key%.*}: assuming that smaller values of 'penalty' are better; set mode to min or max"* ]]
        run -0 --separate-stderr "$CELLRUN" check c.yaml ~checkpoint $key=penalty \
            train.early_stop.patience=1 "${key%.*}.mode=max"
        [[ "$stderr" != *"assuming that"* ]]
    done
    # by itself it selects nothing
    sed -i '/^checkpoint:/d' c.yaml
    run -0 --separate-stderr "$CELLRUN" train c.yaml -q -o by-loss \
        'metrics=[loss, penalty]'
    [[ "$output" == *"best.loss: "* ]]
}
