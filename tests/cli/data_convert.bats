#!/usr/bin/env bats
# data convert.

bats_require_minimum_version 1.5.0
set -o pipefail
load images
load tensors

setup() {
    unset CELLRUN_SET CELLRUN_DATA
    cd "$BATS_TEST_TMPDIR"
}

numbers() {
    pack 'f<*' 1 2.5 3 NaN -4 0.125 7 1e30 3 0.1 2 -8 | npy x.npy '<f4' '(6, 2)'
    pack 'q<*' 0 1 1 0 2 1 | npy y.npy '<i8' '(6,)'
    cat >n.yaml <<'END'
dataset:
  train: {NumpySlicesDataset: {data: [x.npy, y.npy], column_names: [x, label]}}
END
}

# losses CONFIG...: of the records, all digits
losses() {
    "$CELLRUN" train -q "$@" run.dir=runs run.name=l --force >/dev/null
    grep -ho '"loss":[^,}]*' runs/l/*/metrics.jsonl >losses
    rm -r runs
    [ -s losses ] && cat losses
}

@test "npy and idx hold the stored samples and classes: training has the same losses" {
    folder d/train 6 8 6
    folder d/eval 3 8 6
    cat >c.yaml <<'END'
dataset:
  train: {ImageFolderDataset: {dataset_dir: d/train, decode: true}}
  eval: {ImageFolderDataset: {dataset_dir: d/eval, decode: true}}
datapipe:
  image: [{Rescale: {rescale: 0.00392, shift: 0}}, HWC2CHW]
  batch: {batch_size: 4}
network: [Flatten, {Dense: {out_channels: 3}}]
loss: CrossEntropyLoss
metrics: [accuracy]
optimizer: {SGD: {learning_rate: 0.1}}
train: {epochs: 2}
END
    losses c.yaml >want
    for to in npy idx; do
        "$CELLRUN" data convert c.yaml --to "$to" -o "$to"
        losses c.yaml "$to/dataset.yaml" >got
        cmp got want
        grep -qx 'predict: {labels: \[ant, bee, cat\]}' "$to/dataset.yaml"
    done
    [ "$(tail -c 432 npy/train-image.npy | md5sum)" = \
        "$(tail -c 432 idx/train-image.idx | md5sum)" ]
}

@test "csv holds every digit, and dataset.split becomes data sets" {
    cat >p.yaml <<'END'
dataset:
  train: {CSVDataset: {dataset_files: p.csv, columns: {x: {fields: "0:2", type: float32}, label: {fields: s}}}}
  split: {eval: 2}
datapipe: {x: [Standardize], batch: {batch_size: 3}}
network: [{Dense: {out_channels: 3}}]
loss: CrossEntropyLoss
optimizer: {SGD: {learning_rate: 0.1}}
train: {epochs: 2}
END
    perl -e 'print "a,b,s\n"; printf "%.7g,%.3g,%s\n", sin($_), exp(9 * cos $_),
        ("ox", "cow", "owl, \"b\"")[$_ % 3] =~ s/(.*".*)/(my $q = $1) =~
        s{"}{""}g; "\"$q\""/er for 1 .. 12' >p.csv
    losses p.yaml >want
    for to in csv npy; do
        "$CELLRUN" data convert p.yaml --to "$to" -o "$to"
        losses p.yaml "$to/dataset.yaml" >got
        cmp got want
    done
    [ "$(wc -l <csv/train.csv) $(wc -l <csv/eval.csv)" = '11 3' ]
}

@test "num_samples and shuffle stay, with a split too" {
    pack 'f<*' $(seq 80) | npy x.npy '<f4' '(40, 2)'
    perl -e 'print pack "l<*", map { $_ % 3 } 1 .. 40' | npy y.npy '<i4' '(40,)'
    cat >n.yaml <<'END'
dataset:
  train: {NumpySlicesDataset: {data: [x.npy, y.npy], column_names: [x, label], num_samples: 12}}
  eval: {NumpySlicesDataset: {data: [x.npy, y.npy], column_names: [x, label], num_samples: 8, shuffle: false}}
datapipe: {x: [Standardize], batch: {batch_size: 3}}
network: [{Dense: {out_channels: 3}}]
loss: CrossEntropyLoss
metrics: [accuracy]
optimizer: {SGD: {learning_rate: 0.1}}
train: {epochs: 3}
END
    sed 's/^  eval:.*/  split: {eval_from_train: 25%}/' n.yaml >s.yaml
    for c in n s; do
        losses $c.yaml >want
        "$CELLRUN" data convert $c.yaml -o $c
        losses $c.yaml $c/dataset.yaml >got
        cmp got want
    done
    # of all that was written, they say nothing
    "$CELLRUN" data convert n.yaml -n 5 -o five
    run ! grep num_samples five/dataset.yaml
}

@test "integers and NaN in every format; -n and --split" {
    numbers
    "$CELLRUN" data convert n.yaml --to csv -n 3 -o csv
    printf '"x0","x1","label"\n1,2.5,0\n3,nan,1\n-4,0.125,1\n' |
        cmp - csv/train.csv
    "$CELLRUN" data convert n.yaml --split train -o npy
    cmp npy/train-x.npy x.npy
    cmp npy/train-label.npy y.npy
    run -0 "$CELLRUN" data convert n.yaml --to idx -o idx --json
    [ "$(jq -c '[.config, .splits[0].samples, .splits[0].files]' \
        <<<"$output")" = \
        '["idx/dataset.yaml",6,["idx/train-x.idx","idx/train-label.idx"]]' ]
    [ "$(od -An -tx1 idx/train-label.idx | tr -d ' \n')" = \
        "00000c0100000006$(printf %08d 0 1 1 0 2 1)" ]
}

@test "texts go to csv, with their quotes" {
    printf 'text,label\n"say ""no"", now",0\n"a\nb",1\n' >t.csv
    cat >t.yaml <<'END'
dataset:
  train: {CSVDataset: {dataset_files: t.csv, columns: {text: {fields: text, type: string}, label: {fields: label, type: int32}}}}
datapipe: {text: [{LabelIndex: {classes: ["say \"no\", now", "a\nb"]}}]}
END
    run -2 "$CELLRUN" data convert t.yaml -o npy
    [[ "$output" == *"column 'text' contains texts; use --to csv"* ]]
    "$CELLRUN" data convert t.yaml --to csv -o csv
    printf '"text","label"\n"say ""no"", now",0\n"a\nb",1\n' |
        cmp - csv/train.csv
}

@test "what cannot be converted leaves the folder as it was" {
    numbers
    "$CELLRUN" data convert n.yaml -o out
    (cd out && md5sum *) >before
    # labels beyond IDX, in the last sample
    pack 'q<*' 0 1 1 0 2 3000000000 | npy y.npy '<i8' '(6,)'
    run -2 "$CELLRUN" data convert n.yaml --to idx -o out
    [[ "$output" == *"column 'label' has an integer beyond int32"* ]]
    # images of two sizes
    folder d 2 8 6
    pixels 5 5 1 1 | png d/cat/9.png 5 5
    echo 'dataset: {train: {ImageFolderDataset: {dataset_dir: d, decode: true}}}' >d.yaml
    run -2 "$CELLRUN" data convert d.yaml -o out
    [[ "$output" == *"samples of different shapes: (6, 8, 3) and (5, 5, 3)"* ]]
    # a file that cannot be decoded
    head -c 60 d/ant/0.png >cut
    mv cut d/ant/1.png
    run -3 "$CELLRUN" data convert d.yaml -o out
    [[ "$output" == *d/ant/1.png* ]]
    # categories, whose words are in the table only
    printf 'a,c,label\n1,u,0\n2,v,1\n' >t.csv
    cat >t.yaml <<'END'
dataset:
  train: {CSVDataset: {dataset_files: t.csv, columns: {x: {numbers: a, categories: c}, label: {fields: label, type: int32}}}}
datapipe: {x: [OneHot]}
END
    run -2 "$CELLRUN" data convert t.yaml -o out
    [[ "$output" == *"column 'x' has categories"* ]]
    run -2 "$CELLRUN" data convert n.yaml
    [[ "$output" == *"expected -o FOLDER"* ]]
    (cd out && md5sum *) | cmp - before
}

@test "NaN in csv is a missing value that may stay; infinity is an error" {
    pack 'L<*' 1065353216 2143289344 1077936128 2143289344 | npy x.npy '<f4' '(2, 2)'
    pack 'l<*' 1 2 | npy y.npy '<i4' '(2,)'
    cat >n.yaml <<'END'
dataset:
  train: {NumpySlicesDataset: {data: [x.npy, y.npy], column_names: [x, label]}}
END
    "$CELLRUN" data convert n.yaml --to csv -q -o a
    grep -q 'x: {fields: "0:2", type: float32, default: nan}' a/dataset.yaml
    grep -q 'label: {fields: 2, type: int32}}' a/dataset.yaml
    "$CELLRUN" data convert a/dataset.yaml --to npy -q -o b
    cmp b/train-x.npy x.npy
    pack 'f<*' 1 2 3 -inf | npy x.npy '<f4' '(2, 2)'
    rm -r a
    run -2 "$CELLRUN" data convert n.yaml --to csv -o a
    [[ $output = *"column 'x' has an infinite value, which tables lack; use --to npy"* ]]
    [ ! -e a/train.csv ]
}

@test "an input is not overwritten" {
    printf '%s\n' a,label 1,0 2,1 3,0 >train.csv
    cp train.csv kept.csv
    cat >c.yaml <<'END'
dataset:
  train: {CSVDataset: {dataset_files: train.csv, columns: {x: {fields: 0, type: float32}, label: label}}}
END
    run -2 "$CELLRUN" data convert c.yaml --to csv -n 1 -o .
    [[ $output = *"-o . would overwrite the input 'train.csv'"* ]]
    cmp train.csv kept.csv
    mkdir d
    ln train.csv d/train.csv
    run -2 "$CELLRUN" data convert c.yaml --to csv -n 1 -o d
    cmp train.csv kept.csv
    # other files of the folder are
    "$CELLRUN" data convert c.yaml --to npy -q -o .
    run -2 "$CELLRUN" data convert dataset.yaml --to csv -o .
    [[ $output = *"would overwrite the input"* ]]
    cmp train.csv kept.csv
    cp dataset.yaml own.yaml
    run -2 "$CELLRUN" data convert own.yaml --to npy -n 1 -o .
    [[ $output = *"would overwrite the input"*"train-x.npy'"* ]]
    mv own.yaml dataset.yaml
    run -2 "$CELLRUN" data convert dataset.yaml --to csv -o .
    [[ $output = *"would overwrite the input"* ]]
}

@test "a convert that fails leaves no empty folder, and one that was there stays" {
    numbers
    printf 'a,text\n1,x\n2,yy\n' >t.csv
    cat >t.yaml <<'END'
dataset:
  train: {CSVDataset: {dataset_files: t.csv, columns: {x: {fields: a, type: float32}, text: {fields: text, type: string}}}}
END
    run ! "$CELLRUN" data convert t.yaml --to idx -o new
    [ ! -e new ]
    mkdir old
    run ! "$CELLRUN" data convert t.yaml --to idx -o old
    [ -d old ]
}
