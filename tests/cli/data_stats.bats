#!/usr/bin/env bats
# data stats, data verify.

bats_require_minimum_version 1.5.0
set -o pipefail
load images
load tensors

setup() {
    unset CELLRUN_SET CELLRUN_DATA
    cd "$BATS_TEST_TMPDIR"
}

numbers() {
    pack 'f<*' 1 2.5 3 NaN -4 0.125 7 1000 3 NaN 2 -8 | npy x.npy '<f4' '(6, 2)'
    pack 'l<*' 0 1 1 0 2 1 | npy y.npy '<i4' '(6,)'
    pack 'f<*' 3 NaN 7 1000 9 9 | npy u.npy '<f4' '(3, 2)'
    pack 'l<*' 1 1 0 | npy v.npy '<i4' '(3,)'
    cat >n.yaml <<'END2'
dataset:
  train: {NumpySlicesDataset: {data: [x.npy, y.npy], column_names: [x, label]}}
  test: {NumpySlicesDataset: {data: [u.npy, v.npy], column_names: [x, label]}}
END2
}

# NumPy: count of numbers and NaN, min, max, mean, std(ddof=1), in float64
@test "stats: the numbers of NumPy, of all samples and of each class" {
    numbers
    run -0 "$CELLRUN" data stats n.yaml --split train --tsv --per-class
    [ "${lines[0]}" = \
        "$(printf 'split\tcolumn\tclass\tcount\tmissing\tmin\tmax\tmean\tstd')" ]
    cat >want <<'END2'
x[0] - 6 0 -4 7 2 3.5777087639996634
x[0] 0 2 0 1 7 4 4.2426406871192848
x[0] 1 3 0 -4 3 0.33333333333333331 3.7859388972001824
x[0] 2 1 0 3 3 3 -
x[1] - 4 2 -8 1000 248.65625 500.91600858452307
x[1] 0 2 0 2.5 1000 501.25 705.33901423358111
x[1] 1 2 1 -8 0.125 -3.9375 5.7452425971406988
x[1] 2 0 1 - - - -
END2
    tail -n +2 <<<"$output" | cut -f 2- |
        perl -F'\t' -lane '$#F = 7; print join " ",
            map { defined && length ? $_ : "-" } @F' >got
    # equal but for the last digit of mean and deviation
    paste -d ' ' got want | awk '{ for (i = 1; i <= 8; i++) {
        if ($i == $(i + 8)) continue
        d = $i / $(i + 8) - 1; if (d > 1e-15 || d < -1e-15) exit 1 } n++ }
        END { exit n != 8 }'
    run -0 "$CELLRUN" data stats n.yaml --json
    [ "$(jq -c '.splits[0].columns[0] | [.count, .missing, .min, .max, .mean]' \
        <<<"$output")" = '[6,0,-4,7,2]' ]
    [ "$(jq -c '[.splits[] | .classes | map(.samples)]' <<<"$output")" = \
        '[[2,3,1],[1,2]]' ]
}

@test "stats: duplicates in splits and between them, and their labels" {
    numbers
    run -0 "$CELLRUN" data stats n.yaml
    [[ "$output" == *"
duplicates in train: 1
duplicates in test: 0
duplicates between splits: 2
equal inputs with different labels: 2
"* ]]
    [[ "$output" == *"  train 1 = train 4
"* && "$output" == *"  train 1 = test 0"* && "$output" == *"  train 3 = test 1"* ]]
    run -0 "$CELLRUN" data stats n.yaml --json
    [ "$(jq -c '[.duplicates_between_splits, .contradictory,
        (.splits | map(.duplicates))]' <<<"$output")" = '[2,2,[1,0]]' ]
}

@test "stats: histogram, sizes of images, lengths of texts" {
    perl -e 'print pack "f<*", (0) x 8, 15, 16' | npy h.npy '<f4' '(10,)'
    echo 'dataset: {train: {NumpySlicesDataset: {data: h.npy, column_names: x}}}' >h.yaml
    run -0 "$CELLRUN" data stats h.yaml
    [[ "${lines[2]}" == *" █              ▂" ]]
    list=$("$CELLRUN" data stats h.yaml --json)
    [ "$("$CELLRUN" data stats h.yaml --json '~dataset.train.column_names' \
        dataset.train.data='{x: h.npy}')" = "$list" ]
    run -2 --separate-stderr "$CELLRUN" data stats h.yaml '~dataset.train.column_names'
    [[ "$stderr" == *"argument 'column_names' of NumpySlicesDataset is missing"*"data: {x: x.npy, label: y.npy}"* ]]
    run -2 --separate-stderr "$CELLRUN" data stats h.yaml dataset.train.data='{x: h.npy}'
    [[ "$stderr" == *"the keys of data name the columns"* ]]
    folder set 2 6 5
    pixels 9 7 3 0 | png set/ant/big.png 9 7
    echo 'dataset: {train: {ImageFolderDataset: {dataset_dir: set}}}
datapipe: {image: [{Resize: {size: [4, 4]}}]}' >i.yaml
    run -0 "$CELLRUN" data stats i.yaml
    [ "${lines[1]}" = "image: images of 6 x 5 to 9 x 7 pixels" ]
    [ "$(grep -c '█$' <<<"$output")" = 3 ]
    [[ "$output" == *"ant          3    0.4286  ██"* ]]
    [ "$("$CELLRUN" data stats i.yaml --json --threads 1)" = \
        "$("$CELLRUN" data stats i.yaml --json --threads 3)" ]
    printf 'text,label\nabc,0\nä,1\n,0\n' >t.csv
    cat >t.yaml <<'END2'
dataset: {train: {CSVDataset: {dataset_files: t.csv,
  columns: {text: {fields: text, type: string}, label: label}}}}
vocab: {text: {tokenizer: BasicTokenizer}}
datapipe: {text: [BasicTokenizer, {Lookup: {vocab: text}}, {PadEnd: {pad_shape: [2]}}]}
END2
    run -0 "$CELLRUN" data stats t.yaml --json
    [ "$(jq -c '.splits[0].columns[0] | [.column, .count, .min, .max]' \
        <<<"$output")" = '["text (bytes)",3,0,3]' ]
}

@test "verify lists every sample that cannot be read, and its file" {
    folder set 3 6 5
    echo 'dataset: {train: {ImageFolderDataset: {dataset_dir: set}}}' >i.yaml
    run -0 "$CELLRUN" data verify i.yaml
    [ "$output" = "dataset.train: ok, 9 samples" ]
    truncate -s 60 set/ant/1.png
    echo text >set/cat/2.png
    run -3 --separate-stderr "$CELLRUN" data verify i.yaml
    [[ "${lines[0]}" == "dataset.train: sample 1: set/ant/1.png: "* ]]
    [[ "${lines[1]}" == "dataset.train: sample 8: set/cat/2.png: "* ]]
    [ "${#lines[@]}" = 2 ]
    [[ "$stderr" == *"2 of 9 samples cannot be read, or have a value that is not finite or a label out of range [E0203]"* ]]
    run -3 --separate-stderr "$CELLRUN" data verify i.yaml --json --threads 2
    [ "$(jq -c '.[0] | [.samples, (.bad | map(.sample)), .bad[1].place]' \
        <<<"$output")" = '[9,[1,8],"set/cat/2.png"]' ]
    run -0 "$CELLRUN" data stats i.yaml --json
    [ "$(jq .splits[0].unreadable <<<"$output")" = 2 ]
}

@test "verify: labels that are negative, or that training does not have" {
    numbers
    echo 'datapipe: {x: [FillMissing]}' >>n.yaml
    run -0 "$CELLRUN" data verify n.yaml
    [ "$output" = "dataset.train: ok, 6 samples
dataset.test: ok, 3 samples" ]
    pack 'l<*' 1 3 -1 | npy v.npy '<i4' '(3,)'
    run -3 --separate-stderr "$CELLRUN" data verify n.yaml
    [ "$output" = "dataset.train: ok, 6 samples
dataset.test: sample 1: label 3, but the training data have classes 0 to 2
dataset.test: sample 2: label -1, but the training data have classes 0 to 2" ]
    run -3 --separate-stderr "$CELLRUN" data verify n.yaml --split test
    [ "$output" = "dataset.test: sample 2: label -1 is negative" ]
    run -2 --separate-stderr "$CELLRUN" data stats
    [[ "$stderr" == *"data stats: found no config"* ]]
}

@test "verify: values that are not finite" {
    numbers # with NaN
    run -3 --separate-stderr "$CELLRUN" data verify n.yaml --split train
    [[ "${lines[0]}" == "dataset.train: sample "*": value 1 of column 'x' is NaN" ]]
    [ "${#lines[@]}" = 2 ]
    [[ "$stderr" == *"2 of 6 samples cannot be read, or have a value that is not finite"* ]]
    pack 'd<*' 1 2 inf 4 5 -inf | npy w.npy '<f8' '(3, 2)'
    cat >w.yaml <<'END2'
dataset: {train: {NumpySlicesDataset: {data: [w.npy], column_names: [x]}}}
datapipe: {x: [FillMissing]}
END2
    run -3 --separate-stderr "$CELLRUN" data verify w.yaml
    [ "$output" = "dataset.train: sample 1: value 0 of column 'x' is infinite
dataset.train: sample 2: value 1 of column 'x' is -infinite" ]
}

@test "verify: labels of the value that the loss ignores are no fault" {
    numbers
    pack 'l<*' 0 1 1 255 -100 1 | npy y.npy '<i4' '(6,)'
    pack 'f<*' 1 2 3 4 5 6 7 8 9 10 11 12 | npy x.npy '<f4' '(6, 2)'
    ignore() { # with the loss $1 sample 3 (255) or 4 (-100) is the fault
        run -3 --separate-stderr "$CELLRUN" data verify n.yaml --split train \
            "loss=$1"
        [[ ${#lines[@]} = 1 && ${lines[0]} == *"sample $2: "*"label $3 "* ]]
    }
    ignore '{CrossEntropyLoss: {ignore_index: 255}}' 4 -100
    ignore '{NLLLoss: {ignore_index: 255}}' 4 -100
    ignore MSELoss 4 -100
    run -0 "$CELLRUN" data verify n.yaml --split train loss=CrossEntropyLoss
    cat >>n.yaml <<'END2'
blocks:
  Sum:
    inputs: [logits, label]
    cells:
      a: {CrossEntropyLoss: {ignore_index: 255}}
      b: CrossEntropyLoss
    construct: return a(logits, label) + b(logits, label)
END2
    run -0 "$CELLRUN" data verify n.yaml --split train loss=Sum
    # the ignored label adds no class
    pack 'l<*' 1 1 3 | npy v.npy '<i4' '(3,)'
    pack 'f<*' 1 2 3 4 5 6 | npy u.npy '<f4' '(3, 2)'
    run -3 --separate-stderr "$CELLRUN" data verify n.yaml loss=Sum
    [[ $output == *"label 3, but the training data have classes 0 to 1"* ]]
}
