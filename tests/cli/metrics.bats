# metrics written in the config: blocks below `metrics`.
bats_require_minimum_version 1.5.0

setup() {
    . "$BATS_TEST_DIRNAME/small.bash"
    unset CELLRUN_SET CELLRUN_DATA CELLRUN_RUNS CELLRUN_THREADS
    cd "$BATS_TEST_TMPDIR"
    config c.yaml
    cat >>c.yaml <<'END2'
blocks:
  Right:                               # one number for each sample
    inputs: [logits, label]
    construct: |
      return cast(argmax(logits, 1) == label, float32)
  Low:                                 # one number for a batch
    inputs: [logits, label]
    params: {scale: 1.0}
    cells: {ce: {CrossEntropyLoss: {reduction: mean}}}
    construct: |
      return ce(logits, label) * $scale
END2
    set='metrics=[accuracy, Right, loss, {Low: {scale: 2.0}, name: twice}]'
}

@test "the mean over samples, whatever the batches" {
    "$CELLRUN" train c.yaml -o run -q "$set" --epochs 2 >summary
    grep -q '^eval.Right: ' summary
    [ "$(sed -n 's/^eval.Right: //p' summary)" = \
      "$(sed -n 's/^eval.accuracy: //p' summary)" ]
    # the checkpoint keeps them
    run -0 --separate-stderr "$CELLRUN" eval --ckpt run/ckpt/last --json
    jq -e '.Right == .accuracy and (.twice / .loss - 2 | fabs < 0.3)' \
        <<<"$output"
    exact=$(jq .twice <<<"$output")
    for n in 1 7 100; do
        run -0 --separate-stderr "$CELLRUN" eval --ckpt run/ckpt/last --json \
            datapipe.batch.batch_size=$n
        jq -e --argjson e "$exact" \
            '.Right == .accuracy and (.twice / $e - 1 | fabs < 1e-5)' \
            <<<"$output"
    done
    # of batches of one the mean loss is the mean over samples
    run -0 --separate-stderr "$CELLRUN" eval --ckpt run/ckpt/last --json \
        datapipe.batch.batch_size=1
    jq -e '(.twice / .loss - 2) | fabs < 1e-6' <<<"$output"
    run -0 "$CELLRUN" eval --ckpt run/ckpt/last --metrics twice,Right --eager
    [ "$(cut -d: -f1 <<<"$output" | xargs)" = "twice Right" ]
    run -0 "$CELLRUN" eval --ckpt run/ckpt/last --metrics accuracy
    [ "${#lines[@]}" = 1 ]
}

@test "they change no training and may decide" {
    "$CELLRUN" train c.yaml -o a -q --epochs 2 >/dev/null
    "$CELLRUN" train c.yaml -o b -q --epochs 2 "$set" \
        'checkpoint.best={metric: twice, mode: min}' \
        --require 'twice<4' >summary
    grep -q '^best.twice: ' summary
    jq -rc 'select(.split == "train") | [.step, .loss]' a/metrics.jsonl >a.txt
    jq -rc 'select(.split == "train") | [.step, .loss]' b/metrics.jsonl >b.txt
    cmp a.txt b.txt
}

@test "what is wrong with one" {
    run -2 "$CELLRUN" check c.yaml \
        'metrics=[{inputs: [a, label], construct: "return a"}]'
    [[ $output == *"a metric written in the config needs a 'name'"* ]]
    run -2 "$CELLRUN" check c.yaml \
        'metrics=[{name: wide, inputs: [a, label], construct: "return sum(a, 0)"}]'
    [[ $output == *"a metric gives one number, or one or more for each sample, not (3,)"* ]]
    run -2 "$CELLRUN" check c.yaml \
        'metrics=[{name: deep, inputs: [a], cells: {fc: {Dense: [3, 1]}}, construct: "return fc(a)"}]'
    [[ $output == *"a metric has no parameters, but this one has metrics.deep.fc.weight"* ]]
    run -2 "$CELLRUN" check c.yaml \
        'metrics=[{name: lost, inputs: [a, nowhere], construct: "return a"}]'
    [[ $output == *"nowhere"* ]]
    run -2 "$CELLRUN" check c.yaml 'metrics=[Right, Right]'
    [[ $output == *"the metric 'Right' stands twice"* ]]
    run -2 "$CELLRUN" check c.yaml 'metrics=[Rigth]'
    [[ $output == *"did you mean 'Right'?"* ]]
    run -0 "$CELLRUN" check c.yaml 'metrics={Right: {}, name: right}'
}

@test "more than one number for a sample: their mean" {
    more='metrics=[{name: wide, inputs: [a, label], construct: "return a"}, {name: mean, inputs: [a, label], construct: "return mean(a, -1)"}]'
    run -0 "$CELLRUN" train c.yaml -o run -q --epochs 1 "$more"
    [ -n "$(value eval.wide)" ]
    [ "$(value eval.wide)" = "$(value eval.mean)" ]
    run -0 "$CELLRUN" help metrics
    [[ $(tr -s ' \n' ' ' <<<"$output") == *"or more, such as one for each word: their mean is the sample's"* ]]
}

@test "curves last as long as the run" {
    "$CELLRUN" train c.yaml -o run -q --epochs 3 'metrics=[auc, ROC]' >summary
    grep -q '^eval.roc: \[\[0, 0, ' summary
    run -0 "$CELLRUN" eval --ckpt run/ckpt/last --metrics roc
    [ "eval.$output" = "$(grep '^eval.roc' summary)" ]
}
