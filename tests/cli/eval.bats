# eval: a checkpoint evaluated on its own.
bats_require_minimum_version 1.5.0
set -o pipefail

setup_file() {
    . "$BATS_TEST_DIRNAME/small.bash"
    unset CELLRUN_SET CELLRUN_DATA CELLRUN_RUNS CELLRUN_THREADS
    cd "$BATS_FILE_TMPDIR"
    config c.yaml
    "$CELLRUN" train c.yaml -o run -q --epochs 6 >summary
}

setup() {
    . "$BATS_TEST_DIRNAME/small.bash"
    unset CELLRUN_SET CELLRUN_DATA CELLRUN_RUNS CELLRUN_THREADS
    data=$BATS_FILE_TMPDIR
    cd "$BATS_TEST_TMPDIR"
}

@test "the same numbers as training's best" {
    run -0 --separate-stderr "$CELLRUN" eval --ckpt "$data/run"
    [ -z "$stderr" ]
    [ "${#lines[@]}" = 2 ]
    best=$(sed -n 's/^best.accuracy: \([0-9.]*\) at.*/\1/p' "$data/summary")
    [ "$(value accuracy)" = "$best" ]
    run -0 "$CELLRUN" eval --ckpt "$data/run/ckpt/last.safetensors"
    [ "$(value accuracy)" = \
      "$(sed -n 's/^eval.accuracy: //p' "$data/summary")" ]
    [ "$(value loss)" = "$(sed -n 's/^eval.loss: //p' "$data/summary")" ]
    run -0 "$CELLRUN" eval --ckpt "$data/run/ckpt/c-2_19"
}

@test "--json has all digits and the samples" {
    run -0 --separate-stderr "$CELLRUN" eval --ckpt "$data/run/ckpt/last" --json
    [[ $output =~ ^\{\"accuracy\":0\.[0-9]+,\"loss\":0\.[0-9]{8,},\"samples\":100\}$ ]]
    loss=$(sed 's/.*"loss":\([0-9.e-]*\),.*/\1/' <<<"$output")
    grep -q "\"split\":\"eval\".*\"loss\":$loss[,}]" "$data/run/metrics.jsonl"
}

@test "other splits, folders' YAML, metrics, batches" {
    run -0 "$CELLRUN" eval --ckpt "$data/run" --data train --json
    [[ $output == *'"samples":300}' ]]
    cp "$data"/train-[xy].npy .
    cat >other.yaml <<'END2'
dataset:
  test: {NumpySlicesDataset: {data: [train-x.npy, train-y.npy], column_names: [x, label]}}
END2
    run -0 "$CELLRUN" eval --ckpt "$data/run" --data other.yaml --json
    [[ $output == *'"samples":300}' ]]
    run -0 "$CELLRUN" eval --ckpt "$data/run" \
        --metrics 'F1,top_1_accuracy,precision'
    [ "$(cut -d: -f1 <<<"$output" | xargs)" = "F1 top_1_accuracy precision" ]
    run -0 "$CELLRUN" eval --ckpt "$data/run" --metrics accuracy
    first=$output
    run -0 "$CELLRUN" eval --ckpt "$data/run" --metrics accuracy \
        datapipe.batch.batch_size=7 --threads 1
    [ "$output" = "$first" ]
    run -0 "$CELLRUN" eval --ckpt "$data/run" --eager --metrics accuracy
    [ "$output" = "$first" ]
    run -3 "$CELLRUN" eval --ckpt "$data/run" --data nowhere
    [[ $output == *"--data: No such file"* ]]
    echo 'a: text: of words' >"$BATS_TEST_TMPDIR/text.txt"
    run -3 "$CELLRUN" eval --ckpt "$data/run" --data "$BATS_TEST_TMPDIR/text.txt"
    [[ $output == *"text.txt: error: is a file, but the type of dataset.eval,\
 NumpySlicesDataset, does not read such files [E0203]"* ]]
    cp "$BATS_TEST_TMPDIR/text.txt" text
    run -2 "$CELLRUN" eval --ckpt "$data/run" --data text
    [[ $output == *"--data takes a split, a folder, a table"*"such as dataset.eval.files=FILE"* ]]
    run -2 "$CELLRUN" eval --ckpt "$data/run" --metrics accu
    [[ $output == *"unknown metric 'accu'"* ]]
}

@test "--data takes a text or an array in place of the files" {
    . "$BATS_TEST_DIRNAME/small.bash"
    . "$BATS_TEST_DIRNAME/text.bash"
    lm lm.yaml
    "$CELLRUN" train lm.yaml -q -o lm --steps 40
    cp text other.txt
    # all of the text, whatever the span of the data set
    run -0 --separate-stderr "$CELLRUN" eval --ckpt lm --data other.txt --json
    all=$output
    run -0 --separate-stderr "$CELLRUN" eval --ckpt lm --json \
        'dataset.eval.span=[0%, 100%]'
    [ "$output" = "$all" ]
    printf 'the cat QQ' >>other.txt
    run -3 --separate-stderr "$CELLRUN" eval --ckpt lm --data other.txt
    [[ $stderr == *"the character 'Q' is not in the vocabulary of the training\
 data [E0204]"* ]]
    # messages name the file, not those of the config
    printf 'abc' >short.txt
    run -3 --separate-stderr "$CELLRUN" eval --ckpt lm --data short.txt
    [[ $stderr == "short.txt: error: the text has 3 characters here, but"* ]]
    [[ $stderr != *"files:"* ]]
    # an array for a data set of one column
    cp "$data"/{train-x,eval-x}.npy .
    cat >auto.yaml <<'END2'
cellrun: 1
dataset:
  train: {NumpySlicesDataset: {data: {x: train-x.npy}}}
  eval: {NumpySlicesDataset: {data: {x: train-x.npy}}}
network: [Flatten, {Dense: {out_channels: 4}}]
loss: {inputs: [y, x], construct: "return mean(y) + mean(cast(x, float32))"}
optimizer: {SGD: {learning_rate: 0.01}}
train: {steps: 1}
END2
    "$CELLRUN" train auto.yaml -q -o auto
    # the loss takes the input again: predict finds it, too
    run -0 --separate-stderr "$CELLRUN" predict --ckpt auto eval-x.npy -n 2
    [ "${#lines[@]}" = 2 ]
    mkdir elsewhere
    cd elsewhere
    run -0 --separate-stderr "$CELLRUN" eval --ckpt ../auto --json \
        --data ../eval-x.npy
    [[ $output == *'"samples":100}' ]]
    # but not for one of several
    run -3 --separate-stderr "$CELLRUN" eval --ckpt "$data/run" \
        --data ../eval-x.npy
    [[ $stderr == *"eval-x.npy: error: is one array, but the data set has 2"* ]]
    [[ $stderr == *"name a YAML file: dataset: {eval: {NumpySlicesDataset: {data: {x: x.npy, label: label.npy}}}}"* ]]
    cp ../train-x.npy x.npy
    cp "$data/train-y.npy" label.npy
    sed -n 's/.*a YAML file: //p' <<<"$stderr" >d.yaml
    run -0 --separate-stderr "$CELLRUN" eval --ckpt "$data/run" --json \
        --data d.yaml
    [[ $output == *'"samples":300}' ]]
    run -0 "$CELLRUN" predict --ckpt "$data/run" --data d.yaml -n 1
    run -0 --separate-stderr "$CELLRUN" eval --ckpt "$data/run" --json \
        dataset.eval.data="[$PWD/../train-x.npy, $data/train-y.npy]"
    [[ $output == *'"samples":300}' ]]
}

@test "eval.max_batches counts on this command line alone" {
    run -0 --separate-stderr "$CELLRUN" eval --ckpt "$data/run" --json \
        eval.max_batches=2
    jq -e '.samples == 32' <<<"$output"
    run -0 --separate-stderr "$CELLRUN" eval --ckpt "$data/run" --json \
        --set eval.max_batches=1 datapipe.batch.batch_size=7
    jq -e '.samples == 7' <<<"$output"
    cp "$data"/*.npy .
    run -0 "$CELLRUN" train "$data/c.yaml" -o r -q --epochs 1 \
        eval.max_batches=2
    run -0 --separate-stderr "$CELLRUN" eval --ckpt r --json
    jq -e '.samples == 100' <<<"$output"
}

@test "eval.use_ema without means is a warning" {
    run -0 --separate-stderr "$CELLRUN" eval --ckpt "$data/run" \
        eval.use_ema=true
    [[ $stderr == *"warning: 'eval.use_ema' has no effect: the checkpoint contains no moving averages"* ]]
    run -2 "$CELLRUN" eval --ckpt "$data/run" eval.use_ema=true --strict
    run -0 --separate-stderr "$CELLRUN" check "$data/c.yaml" eval.use_ema=true
    [[ $stderr$output == *"'eval.use_ema' has no effect: set train.ema"* ]]
}

@test "--require" {
    run -0 "$CELLRUN" eval --ckpt "$data/run" --require 'accuracy>=0.4'
    run -0 "$CELLRUN" eval --ckpt "$data/run" --require 'eval.accuracy>=0.4'
    run -6 "$CELLRUN" eval --ckpt "$data/run" --require 'accuracy>=1.01'
    [[ $output == *"not met: accuracy is 0."*"[E0402]"* ]]
    [[ $(value accuracy) =~ ^0\.[0-9]{4}$ ]]
    run -2 "$CELLRUN" eval --ckpt "$data/run" --require 'F1>=0.5'
    run -0 "$CELLRUN" eval --ckpt "$data/run" --metrics F1 --require 'F1>=0.2'
}

@test "the confusion matrix adds up" {
    run -0 "$CELLRUN" eval --ckpt "$data/run" --confusion m.csv --json
    right=$(sed 's/.*"accuracy":\([0-9.]*\).*/\1/' <<<"$output")
    [ "$(head -1 m.csv)" = "truth,0,1,2" ]
    [ "$(tail -n +2 m.csv | tr ',' '\n' | awk 'NR % 4 != 1 { n += $1 }
        END { print n }')" = 100 ]
    [ "$(awk -F, 'NR > 1 { n += $NR } END { print n / 100 }' m.csv)" = "$right" ]
    run -0 "$CELLRUN" eval --ckpt "$data/run" --confusion -
    [[ $output == *"$(cat m.csv)" ]]
    run -2 --separate-stderr "$CELLRUN" eval --ckpt "$data/run" --json \
        --confusion -
    [ -z "$output" ]
    [[ $stderr == *"--json and --confusion - both write to standard output"* && $stderr == *E0501* ]]
    run -0 "$CELLRUN" eval --ckpt "$data/run" --metrics confusion_matrix
    [[ $output =~ ^confusion_matrix:\ \[\[[0-9]+,\ [0-9]+,\ [0-9]+\],\  ]]
    run -0 "$CELLRUN" eval --ckpt "$data/run" \
        'predict.labels=[cat, "a,b", dog]' --confusion -
    [[ $output == *'truth,cat,"a,b",dog'* ]]
}

@test "--per-class" {
    run -0 "$CELLRUN" eval --ckpt "$data/run" --per-class \
        --metrics precision,F1
    [ "$(sed -n 3p <<<"$output" | xargs)" = "class precision recall F1 samples" ]
    mean=$(sed -n '4,6p' <<<"$output" | awk '{ s += $2 } END { print s / 3 }')
    awk -v a="$mean" -v b="$(value precision)" \
        'BEGIN { d = a - b; exit !(d < 1e-4 && d > -1e-4) }'
    [ "$(sed -n '4,6p' <<<"$output" | awk '{ n += $5 } END { print n }')" = 100 ]
    run -0 "$CELLRUN" eval --ckpt "$data/run" --per-class --json
    [[ $output == *'"per_class":[{"class":"0","precision":'*'"samples":34}'* ]]
}

@test "the file itself: missing, damaged, without a config" {
    run -4 "$CELLRUN" eval --ckpt nowhere
    [[ $output == *"[E0301]"* ]]
    cp "$data/run/ckpt/last.safetensors" f.safetensors
    truncate -s -1 f.safetensors
    run -4 "$CELLRUN" eval --ckpt f
    [[ $output == *"[E0303]"* ]]
    "$CELLRUN" trace "$data/c.yaml" --step -o t.safetensors
    run -4 "$CELLRUN" eval --ckpt t.safetensors
    [[ $output == *"the checkpoint contains no config; name a config file"* ]]
    run -2 "$CELLRUN" eval
    [[ $output == *"--ckpt is missing"* ]]
    cp "$data/run/ckpt/last.safetensors" g.safetensors
    run -4 "$CELLRUN" eval --ckpt g --trust 'network.fc={Dense: [8, 17]}' \
        'network.out={Dense: [17, 3]}'
    [[ $output == *"[E0305]"* ]]
}

@test "data to evaluate of another type or shape than the training's" {
    local real=float32
    [[ $("$CELLRUN" version) == *"real: float32"* ]] || real=float64
    cp "$data"/*.npy .
    perl -e 'print pack "C*", map { $_ % 7 } 1 .. 800' |
        npy bytes.npy '|u1' '(100, 8)'
    run -2 "$CELLRUN" train "$data/c.yaml" -o r -q \
        dataset.eval.NumpySlicesDataset.data=[bytes.npy,eval-y.npy]
    [[ $output == *"column 'x' of the evaluation data is uint8 (8,), expected $real (8,)"* ]]
    perl -e 'print pack "f*", 1 .. 900' | npy nine.npy '<f4' '(100, 9)'
    run -2 "$CELLRUN" train "$data/c.yaml" -o r -q \
        dataset.eval.NumpySlicesDataset.data=[nine.npy,eval-y.npy]
    [[ $output == *"column 'x' of the evaluation data is $real (9,), expected $real (8,)"* ]]
}

@test "a network that does not classify: only the loss" {
    cp "$data"/*.npy .
    sed -e 's/CrossEntropyLoss/MSELoss/; s/\[16, 3\]/[16, 8]/; /^metrics/d' \
        -e 's/-y.npy/-x.npy/g' "$data/c.yaml" >r.yaml
    run -0 "$CELLRUN" train r.yaml -o r -q
    [ -z "$(value eval.accuracy)" ]
    [[ $(value eval.loss) =~ ^[0-9.]+$ ]]
    run -0 "$CELLRUN" eval --ckpt r
    [[ $output =~ ^loss:\ [0-9.]+$ ]]
    sed -e 's/\[16, 3\]/[16, 1]/; s/CrossEntropyLoss/MSELoss/' \
        "$data/c.yaml" >one.yaml
    run -2 "$CELLRUN" train one.yaml -o s -q
}

@test "metrics by MindSpore's names and with arguments" {
    run -2 "$CELLRUN" eval --ckpt "$data/run" 'metrics=[acc, Accuracy]'
    [[ $output == *"duplicate metric 'accuracy'"* ]]
    run -0 --separate-stderr "$CELLRUN" eval --ckpt "$data/run" \
        'metrics=[acc, auc, {Fbeta: {beta: 2}}, {ROC: {pos_label: 2}}, {ConfusionMatrix: {normalize: all}}]' \
        --json --confusion matrix.csv
    jq -e '.auc > 0.7 and .auc < 1 and .F2 > 0.5 and (.roc[0][0:2] == [0, 0])
           and (.roc[-1][0:2] == [1, 1])
           and ([.confusion_matrix_all[][]] | add - 1 | fabs < 1e-12)' \
        <<<"$output"
    [ "$(awk -F, "NR > 1 { for (i = 2; i <= NF; i++) n += \$i } END { print n }" \
        matrix.csv)" = 100 ]
    # whatever the batches
    first=$(jq -c '[.auc, .roc]' <<<"$output")
    run -0 --separate-stderr "$CELLRUN" eval --ckpt "$data/run" \
        'metrics=[auc, {ROC: {pos_label: 2}}]' datapipe.batch.batch_size=7 --json
    [ "$(jq -c '[.auc, .roc]' <<<"$output")" = "$first" ]
    run -0 "$CELLRUN" eval --ckpt "$data/run" --per-class \
        'metrics=[ROC, loss]'
    [[ $output == *"roc: [[0, 0, "* && $output == *"class"* ]]
}

@test "numbers and marks" {
    perl -e 'print pack "f<*", map { $_ * 7 % 4 < 2 } 0 .. 299' |
        npy marks.npy '<f4' '(100, 3)'
    cp "$data"/eval-x.npy .
    set=dataset.eval='{NumpySlicesDataset: {data: [eval-x.npy, marks.npy], column_names: [x, label]}}'
    run -0 --separate-stderr "$CELLRUN" eval --ckpt "$data/run" "$set" \
        loss=MSELoss \
        'metrics=[mae, mse, {Accuracy: {eval_type: multilabel}}, {Precision: {eval_type: multilabel, threshold: 0.0}}, {Recall: {eval_type: multilabel}}, auc, dice, loss]' \
        --json
    jq -e '((.mse / 3 / .loss - 1) | fabs < 0.2) and .mae > 0 and
           (.accuracy_multilabel | . >= 0 and . < 1) and
           (.precision_multilabel | . > 0 and . < 1) and
           (.recall_multilabel | . > 0 and . < 1) and .auc > 0' <<<"$output"
    run -2 "$CELLRUN" eval --ckpt "$data/run" --metrics mae
    [[ $output == *"the metric 'mae' needs one label for each number of the output; the output is ("*", 3), a sample of the label column 'label' is ()"* ]]
    run -2 "$CELLRUN" eval --ckpt "$data/run" \
        'metrics=[HausdorffDistance, {ROC: {pos_label: 3}}, BleuScore, {Accuracy: {eval_type: multilabel}}]'
    [[ $output == *"the metric 'hausdorff_distance' needs an output of shape (n, classes, height, width)"* ]]
    [[ $output == *"the metric 'roc' needs a 'pos_label' that is one of the classes"* ]]
    [[ $output == *"the metric 'bleu_score' needs an output of shape (n, classes, length)"* ]]
    [[ $output == *"the metric 'accuracy_multilabel' needs one label for each"* ]]
    [ "$(grep -c 'error: the metric' <<<"$output")" = 4 ]
}

@test "eval.batch_size counts here too" {
    "$CELLRUN" train "$data/c.yaml" -o run -q train.epochs=1 \
        eval.batch_size=30 metrics='[loss, sample_loss]' >summary
    run -0 "$CELLRUN" eval --ckpt run/ckpt/last.safetensors
    [ "$(value loss)" = "$(sed -n 's/^eval.loss: //p' summary)" ]
    run -0 "$CELLRUN" eval --ckpt run/ckpt/last.safetensors --json
    thirty=$output
    run -0 "$CELLRUN" eval --ckpt run/ckpt/last.safetensors --json \
        eval.batch_size=100
    # the batches of 30, 30, 30 and 10 have other means than all at once
    [ "$(jq .loss <<<"$output")" != "$(jq .loss <<<"$thirty")" ]
    jq -s -e '(.[0].sample_loss - .[1].sample_loss | fabs) < 1e-6 and
              (.[1].loss - .[1].sample_loss | fabs) < 1e-6' \
        <<<"$thirty$output"
}

@test "loss is the mean of batches, sample_loss and mse that of samples" {
    cp "$data"/*.npy .
    sed -e 's/CrossEntropyLoss/MSELoss/' -e '/^  out/s/16, 3/16, 1/' \
        -e '/Dropout/d' "$data/c.yaml" >mse.yaml
    perl -e 'print pack "f<*", map { $_ ** 2 } 1 .. 100' |
        npy eval-y.npy '<f4' '(100, 1)'
    perl -e 'print pack "f<*", map { $_ ** 2 } 1 .. 300' |
        npy train-y.npy '<f4' '(300, 1)'
    "$CELLRUN" train mse.yaml -o run -q train.steps=1 \
        optimizer.learning_rate=1e-9 metrics='[mse]'
    run -0 "$CELLRUN" eval --ckpt run --json --metrics loss,sample_loss,mse
    jq -e '(.mse - .sample_loss | fabs) < 1e-5 * .mse and
           (.mse - .loss | fabs) > 0.01 * .mse' <<<"$output"
}

@test "--confusion of a regression is an error and writes no file" {
    cp "$data"/*.npy .
    sed -e 's/CrossEntropyLoss/MSELoss/' -e '/^  out/s/16, 3/16, 1/' \
        "$data/c.yaml" >mse.yaml
    perl -e 'print pack "f<*", map { $_ ** 2 + 10 } 1 .. 100' |
        npy eval-y.npy '<f4' '(100, 1)'
    perl -e 'print pack "f<*", map { $_ ** 2 + 10 } 1 .. 300' |
        npy train-y.npy '<f4' '(300, 1)'
    "$CELLRUN" train mse.yaml -o run -q train.steps=1 \
        optimizer.learning_rate=1e-9 metrics='[mse]'
    run -2 --separate-stderr "$CELLRUN" eval --ckpt run --confusion m.csv
    [[ "$stderr" == *"--confusion: found no class indices in the labels"*"metrics mae and r2"* ]]
    [ ! -e m.csv ]
}

@test "evaluation data are named in one place" {
    cp "$data"/{c.yaml,*.npy} .
    for command in check train; do
        run -2 --separate-stderr "$CELLRUN" $command c.yaml \
            dataset.split='{eval_from_train: 10%}'
        [[ "$stderr" == "command line, argument 3: error: found 'dataset.split.eval_from_train' and 'dataset.eval', expected one of them [E0016]"* ]]
        [[ "$stderr" == *"dataset.eval is set at c.yaml:4:3"* ]]
        [ "$(grep -c error: <<<"$stderr")" -eq 1 ]
    done
    "$CELLRUN" check c.yaml '~dataset.eval' \
        dataset.split='{eval_from_train: 10%}'
}

@test "--wrong: the rows of predict --wrong, and the metrics" {
    "$CELLRUN" eval --ckpt "$data/run" >plain
    "$CELLRUN" predict --ckpt "$data/run" --data eval --wrong >want
    run -0 "$CELLRUN" eval --ckpt "$data/run" --wrong got.tsv
    [ "$output" = "$(<plain)" ]
    cmp got.tsv want
    # 100 samples: accuracy and the number of rows are one figure
    [ "$(value accuracy)" = "$(awk 'END { printf "%.4f", 1 - NR / 100 }' want)" ]
    # the largest loss is first
    sort -c -k4,4gr got.tsv
    run -0 --separate-stderr "$CELLRUN" eval --ckpt "$data/run" --json \
        --data train --wrong got.jsonl
    jq -e .samples <<<"$output"
    "$CELLRUN" predict --ckpt "$data/run" --data train --wrong --json |
        cmp - got.jsonl
    run -0 "$CELLRUN" eval --ckpt "$data/run" --wrong -
    [ "$output" = "$(cat plain want)" ]
}

@test "--wrong is written although --require is not met" {
    run -6 "$CELLRUN" eval --ckpt "$data/run" --wrong got.csv \
        --require 'accuracy>=1'
    [ -s got.csv ]
    run -2 --separate-stderr "$CELLRUN" eval --ckpt "$data/run" --json --wrong -
    [[ "$stderr" == *"--json and --wrong - both write to standard output"* ]]
    run -2 --separate-stderr "$CELLRUN" eval --ckpt "$data/run" --wrong a.pdf
    [[ "$stderr" == *"--wrong"*".tsv"* ]]
    run -2 --separate-stderr "$CELLRUN" eval --kfold 2 "$data/c.yaml" --wrong a.csv
    [[ "$stderr" == *"--kfold cannot be combined with --wrong"* ]]
}
