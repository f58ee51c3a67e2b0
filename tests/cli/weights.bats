# Weights of classes in the loss: balanced, and by the names of the data.
bats_require_minimum_version 1.5.0
set -o pipefail

setup() {
    . "$BATS_TEST_DIRNAME/small.bash"
    unset CELLRUN_SET CELLRUN_DATA CELLRUN_RUNS CELLRUN_THREADS
    cd "$BATS_TEST_TMPDIR"
    config c.yaml
    # 180, 90 and 30 samples
    perl -e 'print pack "l<*", map { $_ % 10 < 6 ? 0 : $_ % 10 < 9 ? 1 : 2 }
             0 .. 299' | npy train-y.npy '<i4' '(300,)'
}

balanced='loss={CrossEntropyLoss: {weight: balanced}}'
# 300 / (3 * 180) and so on
written='loss={CrossEntropyLoss: {weight: [0.5555555555555556, 1.1111111111111112, 3.3333333333333335]}}'

losses() {
    jq -rc 'select(.split == "train") | [.step, .loss]' "$1/metrics.jsonl"
}

@test "balanced is n / (classes * count)" {
    "$CELLRUN" train c.yaml -o a -q log.every='1 steps' "$balanced" >/dev/null
    "$CELLRUN" train c.yaml -o b -q log.every='1 steps' "$written" >/dev/null
    losses a >a.txt
    losses b >b.txt
    [ "$(wc -l <a.txt)" = 57 ]
    cmp a.txt b.txt
    # of the training split alone
    run -0 "$CELLRUN" train c.yaml -o c -q "$balanced" \
        '~dataset.eval' dataset.split='{eval_from_train: 20%, stratify: label}'
    # and of all of it
    "$CELLRUN" train c.yaml -o d -q "$balanced" train.limit='10 samples' \
        >/dev/null
    grep -aq 'label.balanced\\": *\[0.5555555555555556, *1.1111111111111112, *3.3333333333333335\]' \
        d/ckpt/last.safetensors
}

@test "a checkpoint contains the weights: training data are not needed" {
    "$CELLRUN" train c.yaml -o a -q "$balanced" >/dev/null
    rm train-x.npy train-y.npy
    run -0 --separate-stderr "$CELLRUN" eval --ckpt a --json
    first=$output
    run -0 --separate-stderr "$CELLRUN" eval --ckpt a --json "$written"
    [ "$output" = "$first" ]
    run -0 --separate-stderr "$CELLRUN" config c.yaml "$balanced" \
        --get loss.CrossEntropyLoss.weight
    [ "$output" = balanced ]
}

@test "a run with class weights resumes byte-identically" {
    "$CELLRUN" train c.yaml -o a -q "$balanced" >/dev/null
    "$CELLRUN" train c.yaml -o b -q "$balanced" train.epochs=1 >/dev/null
    "$CELLRUN" resume b -q train.epochs=3 >/dev/null
    equal losses a b
}

@test "all losses with class weights" {
    for loss in NLLLoss FocalLoss MultiMarginLoss; do
        net=$balanced
        set=()
        [ $loss != NLLLoss ] || set=('network.logs=LogSoftmax')
        [ $loss != FocalLoss ] || set=(
            'datapipe.label=[{OneHot: {num_classes: 3}}, {TypeCast: {data_type: float32}}]')
        case $loss in
        FocalLoss)
            run -2 "$CELLRUN" check c.yaml "loss={$loss: {weight: balanced}}" \
                "${set[@]}"
            [[ $output == *"'balanced': column 'label' of int32 labels not found"* ]] ;;
        *)
            run -0 "$CELLRUN" check c.yaml "loss={$loss: {weight: balanced}}" \
                "${set[@]}" ;;
        esac
    done
}

@test "classes by their names in the data" {
    cat >t.csv <<'END2'
a,b,label
1,2,cat
2,1,dog
3,1,dog
1,1,cat
2,2,ox
3,3,dog
END2
    cat >t.yaml <<'END2'
dataset:
  train: {CSVDataset: {dataset_files: t.csv, columns: {x: {fields: [a, b], type: float32}, label: label}}}
datapipe: {batch: {batch_size: 6}}
network: [{Dense: [2, 3]}]
loss: {CrossEntropyLoss: {weight: {dog: 2.0, ox: 0.5}}}
optimizer: {SGD: {learning_rate: 0.1}}
train: {steps: 3}
log: {every: 1 steps}
END2
    "$CELLRUN" train t.yaml -o a -q >/dev/null
    "$CELLRUN" train t.yaml -o b -q \
        'loss.CrossEntropyLoss.weight=[1.0, 2.0, 0.5]' >/dev/null
    equal losses a b
    run -0 "$CELLRUN" eval --ckpt a/ckpt/last.safetensors --data train
    run -2 "$CELLRUN" check t.yaml 'loss={CrossEntropyLoss: {weight: {cow: 2.0}}}'
    [[ $output == *"weight: 'cow' is not a class; classes are 0 to 2"* ]]
    # in the order of LabelIndex
    "$CELLRUN" train t.yaml -o c -q \
        'datapipe.label=[{LabelIndex: {classes: [ox, dog, cat]}}]' >/dev/null
    "$CELLRUN" train t.yaml -o d -q \
        'loss.CrossEntropyLoss.weight=[0.5, 2.0, 1.0]' \
        'datapipe.label=[{LabelIndex: {classes: [ox, dog, cat]}}]' >/dev/null
    equal losses c d
}

@test "labels that balanced cannot count" {
    run -0 "$CELLRUN" check c.yaml "$balanced" network.out='{Dense: [16, 4]}'
    [[ $output == *"class 3 has no training samples; its weight is set to 0"* ]]
    run -2 "$CELLRUN" check c.yaml 'loss={CrossEntropyLoss: {weight: even}}'
    [[ $output == *"expected a list, a map class: number, or balanced"* ]]
    run -2 "$CELLRUN" check c.yaml \
        'loss={inputs: [x, label], cells: {ce: {CrossEntropyLoss: {weight: balanced}}}, construct: "return ce(x, 2 - label)"}'
    [[ $output == *"'balanced' counts the labels of a data column, but this label is computed"* ]]
    run -0 "$CELLRUN" check c.yaml \
        'loss={inputs: [x, label], cells: {ce: {CrossEntropyLoss: {weight: balanced}}}, construct: "return ce(x, label)"}'
}

@test "an error in the weights is reported where they are" {
    run -2 --separate-stderr "$CELLRUN" check c.yaml 'loss={CrossEntropyLoss: {}}' \
        'loss.weight=[1, 2]'
    [[ ${stderr_lines[0]} == "command line, argument 4: error: weight: found 2 entries, expected one for each of 3 classes [E0101]" ]]
    sed '/^loss:/d' c.yaml >w.yaml
    printf 'loss:\n  CrossEntropyLoss:\n    weight:\n      [1, 2, x]\n' >>w.yaml
    run -2 --separate-stderr "$CELLRUN" check w.yaml
    [[ ${stderr_lines[0]} == "w.yaml:$(wc -l <w.yaml):7: error: class weight: found 'x', "* ]]
}
