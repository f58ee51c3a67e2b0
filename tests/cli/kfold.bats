# eval --kfold: a run for each part of the training data, evaluated on that part.
bats_require_minimum_version 1.5.0
set -o pipefail

setup() {
    . "$BATS_TEST_DIRNAME/small.bash"
    unset CELLRUN_SET CELLRUN_DATA CELLRUN_RUNS CELLRUN_THREADS
    cd "$BATS_TEST_TMPDIR"
    config c.yaml
    sed -i '/^  eval: /d' c.yaml
}

@test "the same as a loop by hand" {
    run -0 --separate-stderr "$CELLRUN" eval --kfold 3 c.yaml -o k --json -q
    folds=$output
    for k in 0 1 2; do
        "$CELLRUN" train c.yaml dataset.split.folds=3 dataset.split.fold=$k \
            dataset.split.stratify=label -o "hand-$k" -q >/dev/null
        run -0 --separate-stderr "$CELLRUN" eval --ckpt "hand-$k" --data test \
            --json
        jq -e --argjson f "$folds" --argjson k $k '$f.folds[$k] as $a |
            .accuracy == $a.accuracy and .loss == $a.loss and
            .samples == $a.samples' <<<"$output"
        cmp "hand-$k/metrics.jsonl" "k/fold-$k/metrics.jsonl" ||
            diff <(jq 'del(.t, .samples_per_s)' "hand-$k/metrics.jsonl") \
                <(jq 'del(.t, .samples_per_s)' "k/fold-$k/metrics.jsonl")
    done
    # mean, and deviation as numpy.std has it
    jq -e '([.folds[].accuracy] | add / 3) as $m |
        (.accuracy - $m | fabs) < 1e-12 and
        (.deviation.accuracy - ([.folds[].accuracy - $m | . * .] | add / 3 | sqrt)
            | fabs) < 1e-12 and .samples == 300' <<<"$folds"
}

@test "folds keep the classes' shares and cover all samples" {
    run -0 --separate-stderr "$CELLRUN" eval --kfold 7 c.yaml -o k --json -q \
        train.epochs=1
    # 300 samples: parts of 42 and 43
    jq -e '[.folds[].samples] | sort == [42, 43, 43, 43, 43, 43, 43]' <<<"$output"
    for k in 0 3 6; do
        run -0 --separate-stderr "$CELLRUN" eval --ckpt "k/fold-$k" \
            --data test --json --metrics confusion_matrix
        jq -e '.confusion_matrix | map(add) | all(. == 14 or . == 15)' <<<"$output"
    done
}

@test "evaluations while training see another part, the early end too" {
    run -0 --separate-stderr "$CELLRUN" eval --kfold 3 c.yaml -o k --json -q \
        dataset.split.eval_from_train=20% 'train.early_stop={monitor: loss, patience: 2}'
    jq -e '.samples == 300' <<<"$output"
    run -0 --separate-stderr "$CELLRUN" eval --ckpt k/fold-1 --data eval --json
    jq -e '.samples == 40' <<<"$output"
    run -0 --separate-stderr "$CELLRUN" eval --ckpt k/fold-1 --data train --json
    jq -e '.samples == 160' <<<"$output"
}

@test "a warning of every fold is printed once" {
    run -0 --separate-stderr "$CELLRUN" eval --kfold 3 c.yaml -o k \
        train.epochs=1 'vocab.none={tokens: [x]}'
    [ "$(grep -c warning: <<<"$stderr")" = 1 ]
    [[ $stderr == *"warning: the data set has no column 'none'"*"fold 0 of 3"*"fold 2 of 3"* ]]
}

@test "finished folds are not trained again, an unfinished one is resumed" {
    run -0 --separate-stderr "$CELLRUN" eval --kfold 3 c.yaml -o k
    [[ $output == "accuracy: "*" +- "* ]]
    [[ $stderr == *"fold 2 of 3: accuracy "* ]]
    first=$output
    stat -c '%n %Y %i' k/fold-0/record.json k/fold-2/record.json >before
    rm -r k/fold-1
    run -0 --separate-stderr "$CELLRUN" eval --kfold 3 c.yaml -o k
    [ "$output" = "$first" ]
    stat -c '%n %Y %i' k/fold-0/record.json k/fold-2/record.json | cmp - before
    # a shorter run is continued, as train --resume auto does
    run -0 --separate-stderr "$CELLRUN" eval --kfold 3 c.yaml -o k train.epochs=5
    [ "$(jq .epochs k/fold-0/record.json)" = 5 ]
    # a longer run is not the one that is asked for
    run -2 --separate-stderr "$CELLRUN" eval --kfold 3 c.yaml -o k train.epochs=1
    [[ $stderr == *"(5 epochs), but should end after "*"[E0006]"*"use --force to start over in it"* ]]
    [ -z "$output" ]
    run -0 "$CELLRUN" eval --kfold 3 c.yaml -o k-fresh -q train.epochs=1
    run -0 "$CELLRUN" eval --kfold 3 c.yaml -o k-fresh -q train.epochs=1
    # another config is another run
    run -2 "$CELLRUN" eval --kfold 3 c.yaml -o k network.out.out_channels=4
    [[ $output == *"the run directory belongs to a run with a different config"* ]]
    run -0 "$CELLRUN" eval --kfold 3 c.yaml -o k -q --force network.out.out_channels=4
}

@test "regression, --require, and the directory without -o" {
    perl -e 'print pack "f<*", map { sin($_) } 1 .. 300' |
        npy train-y.npy '<f4' '(300, 1)'
    sed -i 's/^  out: .*/  out: {Dense: [16, 1]}/; s/^loss: .*/loss: MSELoss/' c.yaml
    run -0 --separate-stderr "$CELLRUN" eval --kfold 2 c.yaml -q \
        metrics='[r2, mae]' --require 'mae<2'
    [ "$(ls runs/c | wc -l)" = 2 ]
    run -6 "$CELLRUN" eval --kfold 2 c.yaml -q metrics='[r2, mae]' \
        --require 'mae<0.1'
    run -0 --separate-stderr "$CELLRUN" eval --kfold 2 c.yaml -q --json \
        --metrics mse
    jq -e '.mse > 0 and (has("r2") | not)' <<<"$output"
}

@test "assignments apply once: variables, and lists that are extended" {
    cat >v.yaml <<'END'
base: c.yaml
vars: {rate: 0.1}
optimizer: {SGD: {learning_rate: $rate}}
metrics: [loss]
END
    run -0 --separate-stderr "$CELLRUN" eval --kfold 2 v.yaml -q -o k --json \
        vars.rate=0.2 metrics='!append [accuracy]'
    jq -e '.folds | length == 2 and all(.accuracy >= 0 and .loss > 0)' \
        <<<"$output"
    grep -q 'learning_rate: 0.2' k/fold-1/resolved.yaml
}

@test "errors are plain" {
    run -2 "$CELLRUN" eval --kfold 3
    [[ $output == *"--kfold: found no config, expected FILE.yaml"* ]]
    run -2 "$CELLRUN" eval --kfold 3 c.yaml --ckpt x
    [[ $output == *"--kfold cannot be combined with --ckpt: it trains its own checkpoints"* ]]
    run -2 "$CELLRUN" eval c.yaml
    [[ $output == *"--ckpt is missing"* ]]
    run -2 "$CELLRUN" eval --kfold 1 c.yaml
    run -2 "$CELLRUN" eval --kfold 301 c.yaml -o k
    [[ $output == *"found 301 folds of 300 samples"* ]]
    run -2 "$CELLRUN" train c.yaml dataset.split.folds=3
    [[ $output == *"found 3 folds of 300 samples and no fold, expected a fold from 0 to 2"* ]]
    run -2 "$CELLRUN" eval --kfold 3 c.yaml optimizer.learning_rat=1
}
