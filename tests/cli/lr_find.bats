# lr-find: the range test of learning rates.
bats_require_minimum_version 1.5.0
set -o pipefail

setup() {
    . "$BATS_TEST_DIRNAME/small.bash"
    unset CELLRUN_SET CELLRUN_DATA CELLRUN_RUNS CELLRUN_THREADS
    unset LC_CTYPE LANG
    export COLUMNS=60 LC_ALL=C
    ROOT=$(realpath "$BATS_TEST_DIRNAME/../..")
    digits=${DIGITS:-${BUILD:-$ROOT/build/plain}/digits}
    cd "$BATS_TEST_TMPDIR"
    config c.yaml
}

@test "a rate for the digits that trains them, the same each time" {
    "$digits" data >/dev/null
    set=(dataset.train.dataset_dir="$PWD/data"
         dataset.eval.dataset_dir="$PWD/data")
    run -0 --separate-stderr "$CELLRUN" lr-find "$ROOT/configs/digits.yaml" \
        "${set[@]}"
    first=$output
    [ -z "$stderr" ]
    rate=$(value suggestion)
    # 0.1 is known to be good
    awk -v r="$rate" 'BEGIN { exit !(r >= 0.01 && r <= 1) }'
    [[ $output == "loss, smoothed, by learning rate"$'\n'* ]]
    [ "$(value diverged)" != none ]
    [ "$(grep -c ' lr$' <<<"$output")" = 1 ]
    run -0 --separate-stderr "$CELLRUN" lr-find "$ROOT/configs/digits.yaml" \
        "${set[@]}" --threads 1
    [ "$output" = "$first" ]
    run -0 "$CELLRUN" train "$ROOT/configs/digits.yaml" "${set[@]}" -q -o run \
        train.steps=100 optimizer.learning_rate="$rate" \
        --require 'accuracy>=0.8'
}

@test "it writes nothing but what -o names" {
    : >before
    ls >before
    "$CELLRUN" lr-find c.yaml >text
    run -0 "$CELLRUN" lr-find c.yaml -o lr.svg
    [ "$output" = "$(tail -n 5 text)" ]
    [[ $(<lr.svg) == '<svg '*'</svg>' ]]
    run ! grep -q 'nan\|inf' lr.svg
    rm text lr.svg
    ls | diff before -
    run -1 "$CELLRUN" lr-find c.yaml -o /nowhere/lr.svg
}

@test "--json: rates by equal factors, losses, and the smoothed ones" {
    run -0 --separate-stderr "$CELLRUN" lr-find c.yaml --json --min 0.001 \
        --max 1000 --steps 60
    jq -e '.points as $p | (.steps == ($p | length)) and .steps < 60 and
           $p[0][0] == 0.001 and
           ([range(1; .steps) | $p[.][0] / $p[. - 1][0]] |
            max - min < 1e-9) and
           ($p[0][1] - $p[0][2] | fabs < 1e-12) and
           .diverged == $p[-1][0] and
           ([.suggestion, .steepest] | .[0] <= .[1]) and
           .suggestion <= .diverged / 10 * 1.0001' <<<"$output"
    # s_1 = (0.95 * 0.05 l_0 + 0.05 l_1) / (1 - 0.95^2)
    jq -e '.points | ((0.0475 * .[0][1] + 0.05 * .[1][1]) / 0.0975 -
                      .[1][2]) | fabs < 1e-12' <<<"$output"
    # the first loss is that of the fresh network
    "$CELLRUN" train c.yaml -o run -q train.steps=1 >/dev/null
    [ "$(jq '.points[0][1]' <<<"$output")" = \
      "$(jq 'select(.split == "train") | .loss' run/metrics.jsonl)" ]
}

@test "no rate where the loss falls; rates that end at once; groups" {
    run -0 --separate-stderr "$CELLRUN" lr-find c.yaml -q --min 1e-30 \
        --max 1e-29
    [ "$(value diverged)" = none ]
    run -0 "$CELLRUN" lr-find c.yaml --min 1e5 --max 1e6 --steps 10
    [ "$(value suggestion)" = none ]
    run -0 "$CELLRUN" lr-find c.yaml -q --json
    first=$output
    run -0 "$CELLRUN" lr-find c.yaml -q --json \
        'optimizer.Momentum.group_params=[{params: "*.bias", learning_rate: 0.3, weight_decay: 1e-4}]'
    [ "$output" = "$first" ]
}

@test "wrong use, wrong config" {
    run -2 "$CELLRUN" lr-find c.yaml --min 1 --max 0.1
    [[ $output == *"--min must be less than --max"* ]]
    run -2 "$CELLRUN" lr-find c.yaml '~loss'
    [[ $output == *"the section 'loss' is missing"*"Nothing was run."* ]]
    rm train-x.npy
    run -3 "$CELLRUN" lr-find c.yaml
}

@test "updates that the loss scaler skips have no rate" {
    # all data in a batch, so that batches skipped with them change nothing
    set=(datapipe.batch.batch_size=300 network.drop.Dropout.p=0 --max 1)
    "$CELLRUN" lr-find c.yaml --json "${set[@]}" >plain
    "$CELLRUN" lr-find c.yaml --json "${set[@]}" amp.level=O2 >half
    "$CELLRUN" train c.yaml -q -o run amp.level=O2 train.steps=20 >summary
    grep -q '^skipped: [1-9]' summary
    jq -es '.[0].points as $p | .[1].points as $q | ($p | length) == 100 and
            ($q | length) == 100 and
            ([range(100) | $p[.][1] - $q[.][1] | fabs] | max) < 0.02 and
            $p[99][1] < $p[0][1] - 0.2' plain half
}

@test "-o -: the picture on standard output, the numbers on standard error" {
    "$CELLRUN" lr-find c.yaml -q -o c.svg >numbers
    run -0 --separate-stderr "$CELLRUN" lr-find c.yaml -q -o -
    [ "$output" = "$(cat c.svg)" ]
    [ "$stderr" = "$(cat numbers)" ]
    [ ! -e ./- ]
    run -2 "$CELLRUN" lr-find c.yaml --json -o -
}
