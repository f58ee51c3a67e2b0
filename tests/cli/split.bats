# dataset.split: parts of the training data, by chance, class, group and time.
bats_require_minimum_version 1.5.0
set -o pipefail

setup_file() {
    export ROOT="$PWD"
    unset CELLRUN_SET CELLRUN_DATA CELLRUN_RUNS CELLRUN_THREADS
    cd "$BATS_FILE_TMPDIR"
    # 200 visits of 40 patients, one in five positive, in no order of time
    perl -e '
        print "visit,patient,day,a,b,label\n";
        for my $i (0 .. 199) {
            my $day = $i * 67 % 200;
            printf "%d,p%d,2024-%02d-%02d,%g,%g,%s\n", $i, $i * 7 % 40,
                1 + $day / 20, 1 + $day % 20, sin $i, cos 3 * $i,
                $i % 5 ? "no" : "yes" }' >visits.csv
}

setup() {
    cd "$BATS_FILE_TMPDIR"
}

# table SPLIT: a config over visits.csv
table() {
    cat >t.yaml <<EOF
dataset:
  train: {CSVDataset: {dataset_files: visits.csv, columns: {x: {numbers: [a, b]}, label: label}}}
  split: $1
network: [{Dense: {out_channels: 2}}]
loss: CrossEntropyLoss
optimizer: {SGD: {learning_rate: 0.1}}
train: {epochs: 1}
EOF
}

# parts SPLIT: trains, and writes the rows of each part into train, eval, test
parts() {
    table "$1"
    rm -rf run
    "$CELLRUN" train t.yaml -o run -q >/dev/null
    for part in train eval test; do
        : >$part
        if "$CELLRUN" predict --ckpt run/ckpt/last --data $part >rows 2>said; then
            perl -ne 'BEGIN { open my $f, "<", "visits.csv"; <$f>; @row = <$f> }
                      /#(\d+)\t/ and print $row[$1]' rows >$part
        fi
    done
    # every row in one part
    diff <(cat train eval test | sort) <(tail -n +2 visits.csv | sort)
}

# patients: makes the patient a column of t.yaml too
patients() {
    sed -i 's/label: label}/patient: {fields: patient, type: category}, &/
        s/^network: .*/datapipe: {patient: [CategoryIndex]}\n\
network: {inputs: [x], cells: {d: {Dense: {out_channels: 2}}}, construct: return d(x)}/' t.yaml
}

# field N FILE: that field of all rows, without repetition
field() {
    cut -d, -f"$1" "$2" | sort -u
}

@test "three parts have exact sizes, and are the same in every run" {
    parts '{train: 0.7, eval: 0.15, test: 0.15, seed: 4}'
    [ "$(wc -l <train) $(wc -l <eval) $(wc -l <test)" = "140 30 30" ]
    sort test >before
    parts '{eval: 15%, test: 30, seed: 4}'
    [ "$(wc -l <train) $(wc -l <eval) $(wc -l <test)" = "140 30 30" ]
    diff before <(sort test)
    parts '{eval: 15%, test: 30, seed: 5}'
    run ! diff before <(sort test)
    run -0 "$CELLRUN" eval --ckpt run --data test --json
    [[ $output == *'"samples":30}' ]]
}

@test "the part that is not given gets what the others leave" {
    parts '{train: 0.8}'
    [ "$(wc -l <train) $(wc -l <eval) $(wc -l <test)" = "160 40 0" ]
    parts '{train: 0.8, test: 0.2}'
    [ "$(wc -l <train) $(wc -l <eval) $(wc -l <test)" = "160 0 40" ]
    parts '{train: 0.8, eval: 0.1}'
    [ "$(wc -l <train) $(wc -l <eval) $(wc -l <test)" = "160 20 20" ]
    parts '{eval_from_train: 25%}'
    [ "$(wc -l <train) $(wc -l <eval) $(wc -l <test)" = "150 50 0" ]
}

@test "stratify keeps the shares of a column's classes, or of a field's values" {
    parts '{train: 0.7, eval: 0.15, test: 0.15, stratify: label}'
    [ "$(grep -c yes train) $(grep -c yes eval) $(grep -c yes test)" = "28 6 6" ]
    parts '{train: 0.6, eval: 0.2, test: 0.2, stratify: patient}'
    [ "$(cut -d, -f2 eval | sort | uniq -c | awk '$1 != 1' | wc -l)" = 0 ]
    [ "$(field 2 eval | wc -l)" = 40 ]
    [ "$(field 2 test | wc -l)" = 40 ]
}

@test "group keeps what belongs together in one part" {
    parts '{train: 0.7, eval: 0.15, test: 0.15, group: patient}'
    [ "$(wc -l <train) $(wc -l <eval) $(wc -l <test)" = "140 30 30" ]
    for pair in "train eval" "train test" "eval test"; do
        set -- $pair
        [ -z "$(comm -12 <(field 2 $1) <(field 2 $2))" ]
    done
    # also of cross-validation
    table '{folds: 4, fold: 1, eval_from_train: 20%, group: patient}'
    rm -rf run
    "$CELLRUN" train t.yaml -o run -q
    run -0 "$CELLRUN" eval --ckpt run --data test --json
    [[ $output == *'"samples":50}' ]]
    run -0 "$CELLRUN" eval t.yaml --kfold 4 -o folds --json
}

@test "groups and classes of a category column are the same from a checkpoint" {
    for by in group stratify; do
        table "{train: 0.7, eval: 0.15, test: 0.15, $by: patient}"
        patients
        rm -rf run
        "$CELLRUN" train t.yaml -o run -q --json >train.json
        "$CELLRUN" eval --ckpt run/ckpt/last --json >eval.json
        diff <(jq .eval.loss train.json) <(jq .loss eval.json)
        "$CELLRUN" eval --ckpt run --data train --json >eval.json
        [ "$(jq .samples eval.json)" = 140 ]
    done
    # words have no order in time
    table '{train: 0.7, eval: 0.3, time: patient}'
    patients
    run -3 "$CELLRUN" train t.yaml -o run -q --force
    [[ $output == *"split.time, field 'patient': found 'p0', expected numbers, or dates of one form"* ]]
}

@test "time tests on the latest, dates or numbers" {
    parts '{train: 0.7, eval: 0.15, test: 0.15, time: day}'
    [ "$(wc -l <train) $(wc -l <eval) $(wc -l <test)" = "140 30 30" ]
    [[ $(field 3 train | tail -1) < $(field 3 eval | head -1) ]]
    [[ $(field 3 eval | tail -1) < $(field 3 test | head -1) ]]
    parts '{train: 0.9, test: 0.1, time: visit}'
    [ "$(cut -d, -f1 test | sort -n | head -1)" = 180 ]
    # month first would be another order
    sed -E 's/2024-(..)-(..)/\2.\1.2024/' visits.csv >dots.csv
    "$CELLRUN" predict --ckpt run/ckpt/last --data test | cut -f1 | wc -l >n
    sed 's/visits.csv/dots.csv/; s/time: visit/time: day/' t.yaml >dots.yaml
    rm -rf dots
    "$CELLRUN" train dots.yaml -o dots -q
    "$CELLRUN" predict --ckpt dots/ckpt/last --data test |
        perl -ne 'BEGIN { open my $f, "<", "dots.csv"; <$f>; @row = <$f> }
                  /#(\d+)\t/ and print $row[$1]' | cut -d, -f3 >days
    [ "$(grep -c '\.10\.2024' days)" = 20 ]
}

@test "classes of other data sets are shared out too" {
    cat >digits.yaml <<'EOF'
dataset:
  train: {NumpySlicesDataset: {data: [x.npy, y.npy], column_names: [x, label]}}
  split: {train: 0.5, eval: 0.25, test: 0.25, stratify: label}
network: [{Dense: {out_channels: 3}}]
loss: CrossEntropyLoss
optimizer: {SGD: {learning_rate: 0.1}}
train: {epochs: 1}
EOF
    perl -e '
        sub npy { my ($name, $type, $shape, $data) = @_;
            my $h = "{\x27descr\x27: \x27$type\x27, \x27fortran_order\x27: False, \x27shape\x27: $shape, }";
            $h .= " " x (117 - length $h) . "\n";
            open my $f, ">", $name; binmode $f;
            print $f "\x93NUMPY\1\0", pack("v", length $h), $h, $data }
        npy("x.npy", "<f4", "(80, 2)", pack "f<*", map { sin } 1 .. 160);
        npy("y.npy", "<i4", "(80,)", pack "l<*", map { $_ % 8 ? $_ % 2 : 2 } 0 .. 79)'
    rm -rf digits
    "$CELLRUN" train digits.yaml -o digits -q
    for part in eval test; do
        "$CELLRUN" predict --ckpt digits/ckpt/last --data $part | cut -f2 |
            sort | uniq -c | awk '{ print $1 }' | xargs >shares
        # of 30, 40 and 10
        grep -Eq '^(7|8) 10 (2|3)$' shares || { cat shares; false; }
    done
}

@test "errors say what to write" {
    said() {
        table "$1"
        run -"$2" --separate-stderr "$CELLRUN" check t.yaml
        [[ $stderr == *"$3"* ]] || { echo "$stderr"; false; }
    }
    said '{train: 0.8, eval: 0.1, test: 0.2}' 2 \
        "found parts that add up to 1.1 of the data, expected 1 [E0006]"
    said '{train: 0.5, eval: 0.1, test: 0.2}' 2 \
        "remove one of them to give it the remaining samples"
    said '{train: 0.5, eval_from_train: 10%}' 2 \
        "found train and eval_from_train, expected one of them [E0016]"
    said '{train: 0.8, group: patient, time: day}' 2 \
        "found group and time, expected one of them [E0016]"
    said '{train: 0.8, group: pacient}' 2 \
        "field 'pacient' not found in rows of 6 fields [E0014]"
    [[ $stderr == *"did you mean 'patient'?"* ]]
    said '{train: 0.8, group: label}' 0 ""
    said '{train: 0.6, eval: 0.2, group: label}' 3 \
        "split.group: found too few groups in 'label', expected enough for each part [E0205]"
    said '{train: 0.8, time: patient}' 3 \
        "visits.csv:2:3: error: split.time, field 'patient': found 'p0', expected numbers, or dates of one form [E0203]"
    said '{train: 500}' 2 "split.train is larger than the number of samples, 200"
    said '{train: 2 epochs}' 2 "split.train: expected a number of samples, a fraction or a percentage"
    said '{train: 1.8}' 2 \
        "train': found the number 1.8, expected a fraction below 1 or a number of samples [E0006]"
    said '{eval: -0.5}' 2 \
        "eval': found the number -0.5, expected a fraction below 1 or a number of samples [E0006]"
    said '{test: -20%}' 2 "expected a fraction below 1 or a number of samples [E0006]"
    said '{eval_from_train: 2.5 samples}' 2 "expected a fraction below 1 or a number of samples [E0006]"
    run -2 --separate-stderr "$CELLRUN" check t.yaml dataset.split.eval_from_train=2.5
    [[ $stderr == *"found the number 2.5, expected a fraction below 1 or a number of samples [E0006]"* ]]
    said '{eval_from_train: 20.0}' 0 ""
    table '{train: 0.8, test: 0.2}'
    sed -i 's/^dataset:/&\n  test: {CSVDataset: {dataset_files: visits.csv}}/' t.yaml
    run -2 --separate-stderr "$CELLRUN" check t.yaml
    [[ $stderr == *"found 'dataset.split.test' and 'dataset.test', expected one of them [E0016]"* ]]
}
