# metrics written in the config: blocks below `metrics`.
bats_require_minimum_version 1.5.0
set -o pipefail

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

@test "a metric block is the mean over samples for any batch size" {
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

@test "metric blocks change no training and can select the best checkpoint" {
    "$CELLRUN" train c.yaml -o a -q --epochs 2 >/dev/null
    "$CELLRUN" train c.yaml -o b -q --epochs 2 "$set" \
        'checkpoint.best={metric: twice, mode: min}' \
        --require 'twice<4' >summary
    grep -q '^best.twice: ' summary
    jq -rc 'select(.split == "train") | [.step, .loss]' a/metrics.jsonl >a.txt
    jq -rc 'select(.split == "train") | [.step, .loss]' b/metrics.jsonl >b.txt
    cmp a.txt b.txt
}

@test "errors in a metric block" {
    run -2 "$CELLRUN" check c.yaml \
        'metrics=[{inputs: [a, label], construct: "return a"}]'
    [[ $output == *"'name' is missing: a metric written in the config needs one"* ]]
    run -2 "$CELLRUN" check c.yaml \
        'metrics=[{name: wide, inputs: [a, label], construct: "return sum(a, 0)"}]'
    [[ $output == *"metric: found (3,), expected one number, or one or more numbers for each sample"* ]]
    run -2 "$CELLRUN" check c.yaml \
        'metrics=[{name: deep, inputs: [a], cells: {fc: {Dense: [3, 1]}}, construct: "return fc(a)"}]'
    [[ $output == *"a metric cannot have parameters, but this one has metrics.deep.fc.weight"* ]]
    run -2 "$CELLRUN" check c.yaml \
        'metrics=[{name: lost, inputs: [a, nowhere], construct: "return a"}]'
    [[ $output == *"nowhere"* ]]
    run -2 "$CELLRUN" check c.yaml 'metrics=[Right, Right]'
    [[ $output == *"duplicate metric 'Right'"* ]]
    run -2 "$CELLRUN" check c.yaml 'metrics=[Rigth]'
    [[ $output == *"did you mean 'Right'?"* ]]
    run -0 "$CELLRUN" check c.yaml 'metrics={Right: {}, name: right}'
}

@test "several numbers for a sample are averaged" {
    more='metrics=[{name: wide, inputs: [a, label], construct: "return a"}, {name: mean, inputs: [a, label], construct: "return mean(a, -1)"}]'
    run -0 "$CELLRUN" train c.yaml -o run -q --epochs 1 "$more"
    [ -n "$(value eval.wide)" ]
    [ "$(value eval.wide)" = "$(value eval.mean)" ]
    run -0 "$CELLRUN" help metrics
    [[ $(tr -s ' \n' ' ' <<<"$output") == *"or several per sample, such as one per word, which are averaged"* ]]
}

@test "the memory of ROC curves lives as long as the run" {
    "$CELLRUN" train c.yaml -o run -q --epochs 3 'metrics=[auc, ROC]' >summary
    grep -q '^eval.roc: \[\[0, 0, ' summary
    run -0 "$CELLRUN" eval --ckpt run/ckpt/last --metrics roc
    [ "eval.$output" = "$(grep '^eval.roc' summary)" ]
}

@test "a confusion matrix of single outputs with a threshold" {
    perl -e 'print pack "l<*", map { $_ * 7 % 3 > 0 } 0 .. 299' |
        npy train-y.npy '<i4' '(300,)'
    perl -e 'print pack "l<*", map { $_ * 7 % 3 > 0 } 0 .. 99' |
        npy eval-y.npy '<i4' '(100,)'
    sed -i 's/^  out: .*/  out: {Dense: [16, 1]}/; s/^loss: .*/loss: {inputs: [z, label], cells: {bce: BCEWithLogitsLoss}, construct: "return bce(z, expand_dims(cast(label, float32), 1))"}/' c.yaml
    sed -i '/^blocks:/,$d' c.yaml
    many='metrics=[{ConfusionMatrix: {threshold: 0.0}}, {ConfusionMatrix: {threshold: 0.0, normalize: target}}, loss]'
    "$CELLRUN" train c.yaml -o run -q "$many" --json >out.json
    # 34 samples of class 0, 66 of class 1
    jq -e '.eval.confusion_matrix | map(add) == [34, 66]' out.json
    jq -e '.eval.confusion_matrix | .[1][1] > 55' out.json
    jq -e '.eval.confusion_matrix_target | map(add | . * 1000 | round) == [1000, 1000]' out.json
    run -0 "$CELLRUN" eval --ckpt run -q --confusion - --metrics loss
    [ "$(grep -A2 '^truth,' <<<"$output" | cut -d, -f1 | xargs)" = "truth 0 1" ]
    run -0 "$CELLRUN" train c.yaml -o wide -q --json --steps 2 \
        'metrics=[{ConfusionMatrix: {num_classes: 4}}]'
    jq -e '.eval.confusion_matrix | length == 4 and (map(add) == [34, 66, 0, 0])' <<<"$output"
}

@test "what MindSpore does not support is an error" {
    run -0 "$CELLRUN" check c.yaml 'metrics=[{ConfusionMatrix: {num_classes: 5}}]'
    run -2 "$CELLRUN" check c.yaml 'metrics=[{ConfusionMatrix: {num_classes: 2}}]'
    [[ $output == *"the metric 'confusion_matrix' needs a 'num_classes' of at least the number of classes of the output; the output is (16, 3)"* ]]
    run -0 "$CELLRUN" train c.yaml -q -o run --json --steps 2 \
        'metrics=[{ConfusionMatrix: {num_classes: 5}}, precision, recall, F1]'
    jq -e '.eval.confusion_matrix | map(length) == [5, 5, 5, 5, 5]' <<<"$output"
    run -0 "$CELLRUN" eval --ckpt run -q --per-class
    [[ $output == *"class"*"precision"* ]]
    # positions and classes: rates of samples
    perl -e 'print pack "f<*", map { sin } 1 .. 8 * 3 * 4' | npy m.npy '<f4' '(8, 3, 4)'
    perl -e 'print pack "l<*", map { $_ % 3 } 1 .. 32' | npy l.npy '<i4' '(8, 4)'
    cat >map.yaml <<'END'
dataset:
  train: {NumpySlicesDataset: {data: [m.npy, l.npy], column_names: [x, label]}}
  eval: {NumpySlicesDataset: {data: [m.npy, l.npy], column_names: [x, label]}}
datapipe: {batch: {batch_size: 4}}
network: {p: {PReLU: {channel: 3}}}
loss: CrossEntropyLoss
optimizer: {SGD: {learning_rate: 0.1}}
train: {epochs: 1}
END
    rate() {
        run "-$1" "$CELLRUN" check map.yaml "metrics=[{ConfusionMatrixMetric: {calculation_method: true, decrease: $2}}]" "${@:3}"
    }
    rate 0 sum
    rate 2 none
    [[ $output == *"needs one class to count (decrease: mean and sum accept any number)"* ]]
    rate 2 sum_channel
    [[ $output == *"needs batches of one sample (decrease: mean and sum accept any size)"* ]]
    rate 0 sum_channel datapipe.batch.batch_size=1
    rate 2 mean_batch
    [[ $output == *"expected none, mean, sum, sum_batch, mean_channel or sum_channel"* ]]
}

@test "checkpoint.best takes the smallest error rate" {
    for rate in miss_rate fall_out false_discovery_rate false_omission_rate \
        prevalence_threshold; do
        "$CELLRUN" train c.yaml -o "$rate" -q --epochs 3 >/dev/null \
            "metrics=[{ConfusionMatrixMetric: {metric_name: $rate}}]" --json
        jq -e --arg n "confusion_matrix_$rate" '.best.metric == $n and
            .best.mode == "min"' "$rate/record.json"
        jq -e -s --slurpfile r "$rate/record.json" --arg n \
            "confusion_matrix_$rate" 'map(select(.split == "eval") | .[$n]) |
            length == 3 and max > min and min == $r[0].best.value' \
            "$rate/metrics.jsonl"
    done
    "$CELLRUN" train c.yaml -o more -q --epochs 1 >/dev/null \
        'metrics=[{ConfusionMatrixMetric: {metric_name: specificity}}]'
    jq -e '.best.mode == "max"' more/record.json
}

@test "options of a metric without effect have a warning" {
    run -0 --separate-stderr "$CELLRUN" check c.yaml \
        'metrics=[{ConfusionMatrixMetric: {decrease: sum}}, {ConfusionMatrix: {threshold: 0.7}}]'
    [[ $stderr == *"warning: the metric 'confusion_matrix_sensitivity': 'decrease' requires calculation_method: true, so it has no effect"* ]]
    [[ $stderr == *"warning: the metric 'confusion_matrix': 'threshold' applies only to outputs without an axis of classes, so it has no effect"* ]]
    run -0 --separate-stderr "$CELLRUN" check c.yaml \
        'metrics=[{ConfusionMatrixMetric: {decrease: sum, calculation_method: true}}, ConfusionMatrix]'
    [[ $stderr != *"has no effect"* ]]
}

@test "log_loss is the cross entropy, balanced_accuracy the accuracy of equal classes" {
    run -0 "$CELLRUN" train c.yaml -q -o run --json --epochs 2 \
        'metrics=[accuracy, balanced_accuracy, matthews, sample_loss, log_loss, average_precision, pr_auc, confusion_matrix]'
    jq -e '.eval | (.log_loss / .sample_loss - 1 | fabs) < 1e-5' <<<"$output"
    # right / actual of each class, from the confusion matrix
    jq -e '.eval | ([range(3) as $c | .confusion_matrix[$c] | .[$c] / add] |
        add / 3) - .balanced_accuracy | fabs < 1e-12' <<<"$output"
    jq -e '.eval | .matthews > 0.2 and .matthews < 1 and
        .average_precision > 0.4 and .average_precision < 1 and
        (.pr_auc - .average_precision | fabs) < 0.02' <<<"$output"
    run -0 "$CELLRUN" eval --ckpt run --per-class --metrics matthews,mcc
    [ "$(sed -n 1p <<<"$output")" = "$(sed -n 2p <<<"$output")" ]
}

@test "r2 is 1 - mse / variance of the labels" {
    perl -e 'print pack "f<*", map { sin($_) } 1 .. 300' |
        npy train-y.npy '<f4' '(300, 1)'
    perl -e 'print pack "f<*", map { sin($_) } 1 .. 100' |
        npy eval-y.npy '<f4' '(100, 1)'
    sed -i 's/^  out: .*/  out: {Dense: [16, 1]}/; s/^loss: .*/loss: MSELoss/; /^blocks:/,$d' c.yaml
    run -0 "$CELLRUN" train c.yaml -q -o run --json --epochs 2 \
        metrics='[r2, mse]'
    variance=$(perl -e '$m += sin $_ for 1 .. 100; $v += (sin($_) - $m / 100) ** 2 for 1 .. 100; print $v / 100')
    jq -e --argjson v "$variance" \
        '.eval.r2 - (1 - .eval.mse / $v) | fabs < 1e-5' <<<"$output"
    jq -e '.best.metric == "r2" and .best.mode == "max"' run/record.json
    run -2 "$CELLRUN" check c.yaml 'metrics=[balanced_accuracy, pr_auc, {log_loss: {logit: true}}]'
    [[ $output == *"did you mean 'logits'?"* ]]
}

@test "predict uses the threshold chosen on the eval data" {
    perl -e 'print pack "l<*", map { $_ * 7 % 3 > 1 } 0 .. 299' |
        npy train-y.npy '<i4' '(300,)'
    perl -e 'print pack "l<*", map { $_ * 7 % 3 > 1 } 0 .. 99' |
        npy eval-y.npy '<i4' '(100,)'
    sed -i 's/^  out: .*/  out: {Dense: [16, 2]}/; /^blocks:/,$d' c.yaml
    "$CELLRUN" train c.yaml -o run -q --epochs 2 --json >out.json \
        metrics='[accuracy, {best_threshold: {maximize: F1}}, loss]'
    t=$(jq .eval.best_threshold out.json)
    jq -n -e --argjson t "$t" '$t > 0.02 and $t < 0.98'
    run -0 --separate-stderr "$CELLRUN" eval --ckpt run/ckpt/last --json
    [ "$(jq .best_threshold <<<"$output")" = "$t" ]
    "$CELLRUN" predict --ckpt run/ckpt/last eval-x.npy --probs --json >own.txt
    "$CELLRUN" predict --ckpt run/ckpt/last eval-x.npy --probs --json \
        --threshold "$t" | cmp - own.txt
    jq -s -e --argjson t "$t" 'length == 100 and
        all((.probs[1] >= $t) == (.label == 1)) and
        ([.[] | select(.label == 1)] | length) > 20' own.txt
    run -0 --separate-stderr "$CELLRUN" predict --ckpt run/ckpt/last \
        eval-x.npy -v
    [[ $stderr == *"threshold: "*", the best_threshold of the checkpoint"* ]]
    run -2 "$CELLRUN" check c.yaml 'network.out={Dense: [16, 3]}' \
        'metrics=[best_threshold]'
    [[ $output == *"needs an output of two classes, or of one number"* ]]
}

# evaluated RUN SPLIT METRICS: eval writes evaluated.json; how many samples of class
# 1 it counts as said, and how many predict says
evaluated() {
    "$CELLRUN" eval --ckpt "$1/ckpt/last" --data "$2" --json \
        --metrics "$3,confusion_matrix" >evaluated.json 2>said
    jq '.confusion_matrix | .[0][1] + .[1][1]' evaluated.json
    "$CELLRUN" predict --ckpt "$1/ckpt/last" --data "$2" --json |
        jq -s 'map(select(.label == 1 or .label == "1")) | length'
}

@test "eval uses the threshold of the checkpoint on any data, as predict" {
    perl -e 'print "a,b,y\n";
        for my $i (0 .. 299) { my ($a, $b) = (sin(7 * $i), cos(3 * $i));
            printf "%.4f,%.4f,%d\n", $a, $b, $a > $b + 0.9 }' >t.csv
    cat >two.yaml <<'EOF'
seed: 1
dataset:
  train: {CSVDataset: {dataset_files: t.csv, columns: {x: {fields: [a, b], type: float32}, label: {fields: y, type: int32}}}}
  split: {train: 0.6, eval: 0.2, test: 0.2}
datapipe: {batch: {batch_size: 10}}
network: [{Dense: {out_channels: 2}}]
loss: CrossEntropyLoss
optimizer: {SGD: {learning_rate: 0.1}}
metrics: [best_threshold, accuracy]
train: {epochs: 2}
EOF
    sed 's/^datapipe: {/&label: [{OneHot: {num_classes: 2}}, {TypeCast: float32}], /
        s/^loss:.*/loss: {SoftmaxCrossEntropyWithLogits: {sparse: false, reduction: mean}}/' \
        two.yaml >onehot.yaml
    sed 's/y, type: int32/[y], type: float32/; s/out_channels: 2/out_channels: 1/
        s/^loss:.*/loss: BCEWithLogitsLoss/
        s/^metrics:.*/metrics: [matthews, {best_threshold: {logits: true}}]/' \
        two.yaml >logit.yaml
    run -0 "$CELLRUN" train logit.yaml -o p -q 'metrics=[best_threshold, log_loss]'
    for name in best_threshold log_loss; do
        [[ $output == *"the metric '$name' takes the output for a probability, but it is a logit of BCEWithLogitsLoss"* ]]
    done
    for name in two onehot logit; do
        "$CELLRUN" train $name.yaml -o $name -q --json >$name.json
        t=$(jq .eval.best_threshold $name.json)
        jq -n -e --argjson t "$t" '$t > 0.05 and $t < 0.95'
        for data in eval test train; do
            mapfile -t said < <(evaluated $name $data best_threshold)
            [ "${said[0]}" = "${said[1]}" ]
            [ "$(jq .best_threshold evaluated.json)" = "$t" ]
        done
        [ ! -s said ]
    done
    "$CELLRUN" eval --ckpt two/ckpt/last 2>said >/dev/null
    [[ $(<said) == "threshold: "*", the best_threshold of the checkpoint" ]]
    # it says where, not how good
    jq -e '.best | has("accuracy")' two.json
    # which is not where the larger output says
    "$CELLRUN" eval --ckpt two/ckpt/last --json >evaluated.json
    run ! jq -e --slurpfile e evaluated.json '.eval.accuracy == $e[0].accuracy' \
        two.json
    # a threshold set for the metric is kept
    "$CELLRUN" eval --ckpt logit/ckpt/last --json >evaluated.json \
        'metrics=[{confusion_matrix: {threshold: -1e9}}, {best_threshold: {logits: true}}]'
    jq -e '.confusion_matrix | .[0][0] + .[1][0] == 0' evaluated.json
}

# multi_hot FILE N: (N, 3) labels, 0 to 3 of them 1
multi_hot() {
    perl -e 'print pack "f<*", map { my $i = $_; my $k = $i * 7 % 3;
        ($k == 0, $k == 1 || $i % 4 == 0, $k == 2 && $i % 5 > 0) }
        0 .. shift() - 1' "$2" | npy "$1" '<f4' "($2, 3)"
}

@test "F1, precision and recall count labels that are not one-hot by themselves" {
    config m.yaml
    multi_hot train-m.npy 300
    multi_hot eval-m.npy 100
    sed -i 's/-y.npy/-m.npy/; s/CrossEntropyLoss/BCEWithLogitsLoss/' m.yaml
    run -0 --separate-stderr "$CELLRUN" train m.yaml -o m -q --epochs 8 \
        metrics='[F1, {Fbeta: {beta: 2}}, {Accuracy: {eval_type: multilabel, threshold: 0}}]'
    [ "$stderr" = "" ]
    "$CELLRUN" predict --ckpt m --data eval --json >p
    run -0 --separate-stderr "$CELLRUN" eval --ckpt m --per-class --json \
        --metrics F1,precision,recall
    jq -e --slurpfile p p 'def n(f): [$p[] | select(f)] | length;
        def near($a; $b; $c):
            $a - (if $c == 0 then 0 else $b / $c end) | fabs < 1e-9;
        . as $s | [range(3)] | map(. as $k |
            n((.labels | index($k)) and .actual[$k] == 1) as $right |
            n(.labels | index($k)) as $found |
            n(.actual[$k] == 1) as $all | $s.per_class[$k] |
            near(.precision; $right; $found) and
            near(.recall; $right; $all) and
            near(.F1; 2 * $right; $found + $all) and .samples == $all) |
        all' <<<"$output"
    jq -e '(.F1 - ([.per_class[].F1] | add / 3)) | fabs < 1e-12' <<<"$output"
    # the others say that they see one class
    run -0 --separate-stderr "$CELLRUN" eval --ckpt m -q \
        --metrics accuracy,matthews,auc
    [[ $stderr == *"the metric 'accuracy' compares one class of each sample, but there are samples with no label 1 or with several"*"use {accuracy: {eval_type: multilabel, threshold: 0}}"* ]]
    [[ $stderr == *"the metric 'matthews' compares"* ]]
    [[ $stderr != *"'auc'"* ]]
    # one-hot labels are classes, as in MindSpore
    perl -e 'print pack "f<*", map { my $k = $_ * 7 % 3;
        ($k == 0, $k == 1, $k == 2) } 0 .. 99' | npy eval-m.npy '<f4' '(100, 3)'
    run -0 --separate-stderr "$CELLRUN" eval --ckpt m -q --json \
        --metrics F1,accuracy --per-class --confusion c.csv
    [ "$stderr" = "" ]
    jq -e '[.per_class[].samples] == [34, 33, 33]' <<<"$output"
    jq -e '(.accuracy - ([.per_class[] | .recall * .samples] | add / 100)) |
        fabs < 1e-9' <<<"$output"
}
