#!/usr/bin/env bats
# The shell idioms of cellrun(1), EXAMPLES, with the commands of others.

bats_require_minimum_version 1.5.0
set -o pipefail
load images
load small

setup() {
    unset CELLRUN_SET CELLRUN_DATA CELLRUN_RUNS
    cd "$BATS_TEST_TMPDIR"
    cellrun() { "$CELLRUN" "$@"; }
}

@test "an accuracy in a shell variable" {
    config m.yaml
    acc=$(cellrun train m.yaml optimizer.learning_rate=0.1 -q --json |
        jq -r .eval.accuracy)
    run -0 cellrun runs --tsv --cols eval.accuracy
    [ "${lines[1]}" = "$acc" ]
}

@test "train, then evaluate the best of all runs" {
    config a.yaml
    cellrun train a.yaml -q train.steps=1 seed=4
    cellrun train a.yaml -q && acc=$(cellrun eval --ckpt \
        "$(cellrun runs best --metric eval.accuracy --path)" --json \
        --require 'accuracy>=0.5' | jq .accuracy)
    [ "$acc" = \
        "$(cellrun runs --sort eval.accuracy --tsv --cols best.accuracy |
            sed -n 2p)" ]
}

@test "a loop over seeds, and a table of the runs" {
    config m.yaml
    seq 3 | while read s; do cellrun train m.yaml train.epochs=1 seed=$s -q; done >all
    [ "$(grep -c '^run: ' all)" = 3 ]
    run -0 cellrun runs --sort eval.accuracy --tsv --cols seed,eval.accuracy
    [ "$(tail -n +2 <<<"$output" | cut -f 1 | sort | xargs)" = "1 2 3" ]
    tail -n +2 <<<"$output" | cut -f 2 | sort -rgc
}

@test "find names images, predict labels them" {
    folder set 3 8 8
    cat >c.yaml <<'END2'
dataset: {train: {ImageFolderDataset: {dataset_dir: set}}}
datapipe:
  image: [{Rescale: [0.00392, 0.0]}, HWC2CHW]
  batch: {batch_size: 9}
network: [Flatten, {Dense: [192, 3]}]
loss: CrossEntropyLoss
optimizer: {SGD: {learning_rate: 0.1}}
train: {epochs: 1}
END2
    cellrun train c.yaml -q -o best
    find set -name '*.png' | sort | cellrun predict --ckpt best - --topk 3 \
        >labels.tsv
    [ "$(cut -f 1 labels.tsv)" = "$(find set -name '*.png' | sort)" ]
    # after its class each row has all three, most probable first
    awk "\$2 != \$3 { exit 1 }" labels.tsv
    [ "$(cut -f 3- labels.tsv | tr '\t' '\n' | sort | uniq -c | xargs)" = \
        "9 ant 9 bee 9 cat" ]
}

@test "optuna chooses the learning rate" {
    command -v optuna || skip "no optuna"
    config m.yaml
    S=sqlite:///$PWD/study.db
    SPACE='{"lr": {"name": "FloatDistribution", "attributes":
        {"low": 0.001, "high": 0.1, "log": true, "step": null}}}'
    optuna create-study --storage "$S" --study-name s --direction maximize
    for i in 1 2; do
        t=$(optuna ask --storage "$S" --study-name s --search-space "$SPACE" \
            -f json)
        v=$(cellrun train m.yaml train.epochs=1 -q --json \
            optimizer.learning_rate="$(jq .params.lr <<<"$t")" |
            jq .eval.accuracy)
        optuna tell --storage "$S" --study-name s \
            --trial-number "$(jq .number <<<"$t")" --values "$v"
    done
    [ "$(optuna trials --storage "$S" --study-name s -f json |
        jq 'map(select(.state == "COMPLETE")) | length')" = 2 ]
    [ "$(cellrun runs --tsv | wc -l)" = 3 ]
}
