# watch: statistics of outputs and gradients, which change nothing.
bats_require_minimum_version 1.5.0
set -o pipefail

setup() {
    cd "$BATS_TEST_TMPDIR"
    unset CELLRUN_SET CELLRUN_DATA
    npy x.npy '<f4' '(4, 3)' 'f<*' 1 2 3 -1 0.5 0 0 -2 1 4 1 -1
    npy y.npy '<i4' '(4,)' 'l<*' 0 1 1 0
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

# npy FILE DESCR SHAPE PACK NUMBERS...
npy() {
    local file=$1 descr=$2 shape=$3
    shift 3
    {
        printf '\x93NUMPY\x01\x00\x76\x00%-117s\n' \
            "{'descr': '$descr', 'fortran_order': False, 'shape': $shape, }"
        perl -e 'print pack(shift, @ARGV)' "$@"
    } >"$file"
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
    [[ "$output" == *"none differs"* ]]
}

@test "what cannot be watched" {
    run -2 --separate-stderr "$CELLRUN" train net.yaml -o run \
        'watch=[{at: q}, {at: a, what: outputs}, {at: a, stats: men}, {stats: max}, {at: a, every: 1 min}]'
    [[ "$stderr" == *"'q' matches no cell"* ]]
    [[ "$stderr" == *"there is no 'outputs'"*"did you mean 'output'?"* ]]
    [[ "$stderr" == *"there is no 'men'"*"did you mean 'mean'?"* ]]
    [[ "$stderr" == *"'at' is missing"* ]]
    [[ "$stderr" == *"counts steps, epochs, samples or percent"* ]]
    run -2 --separate-stderr "$CELLRUN" train net.yaml -o run watch=r
    [[ "$stderr" == *"watch is a list of taps"* ]]
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
