# Tables with missing values and categories, from CSV to predictions. What
# scikit-learn makes of the same table is in tests/golden/sk.
bats_require_minimum_version 1.5.0
set -o pipefail

setup_file() {
    export ROOT="$PWD"
    unset CELLRUN_SET CELLRUN_DATA CELLRUN_RUNS CELLRUN_THREADS
    cd "$BATS_FILE_TMPDIR"
    cp "$ROOT"/tests/golden/sk/*.{csv,npy} .
    cat >rest.yaml <<'EOF'
network: [{Dense: {out_channels: 8}}, ReLU, {Dense: {out_channels: 2}}]
loss: CrossEntropyLoss
optimizer: {Adam: {learning_rate: 0.01}}
train: {epochs: 5}
log: {every: 1 steps}
metrics: [accuracy, loss]
EOF
    cat >csv.yaml <<'EOF'
base: rest.yaml
vars: {columns: {x: {numbers: [age, fare], categories: [sex, port, deck]}, label: label}}
dataset:
  train: {CSVDataset: {dataset_files: train.csv, columns: $columns}}
  eval: {CSVDataset: {dataset_files: rows.csv, columns: $columns}}
datapipe:
  x:
    - FillMissing: {strategy: median, indicator: true}
    - Standardize
    - OneHot: {unknown: zeros}
  batch: {batch_size: 8}
EOF
    cat >npy.yaml <<'EOF'
base: rest.yaml
dataset:
  train: {NumpySlicesDataset: {data: [train.npy, train_label.npy], column_names: [x, label]}}
  eval: {NumpySlicesDataset: {data: [rows.npy, rows_label.npy], column_names: [x, label]}}
datapipe: {batch: {batch_size: 8}}
EOF
    "$CELLRUN" train csv.yaml -o csv -q
    "$CELLRUN" train npy.yaml -o npy -q
}

setup() {
    cd "$BATS_FILE_TMPDIR"
}

# losses RUN: every loss of the run's log, in 5 digits
losses() {
    perl -MJSON::PP -ne 'printf "%.5f\n", decode_json($_)->{loss}' \
        "$1/metrics.jsonl"
}

# chances RUN INPUT: class and probabilities of each row
chances() {
    "$CELLRUN" predict --ckpt "$1/ckpt/last" "$2" --topk 2 --probs |
        cut -f 4,6 | perl -pe 's/([0-9.]+)/sprintf "%.4f", $1/ge'
}

# fitted RUN NAME: what a checkpoint keeps, in 3 digits
fitted() {
    "$CELLRUN" ckpt show "$1/ckpt/last" | sed -n "s/^fitted.$2: //p" |
        perl -pe 's/,//g; s/(\.[0-9]{3})[0-9]*/$1/g; s/\.0+\b//g'
}

@test "a network trained on the table is the one trained on what scikit-learn makes of it" {
    losses csv >csv.losses
    losses npy >npy.losses
    [ "$(wc -l <csv.losses)" -ge 40 ]
    diff csv.losses npy.losses
}

@test "eval and predict from the checkpoint agree, with words and missing values that training had not" {
    grep -q ',X,' rows.csv
    grep -q 'null' rows.csv
    run -0 "$CELLRUN" eval --ckpt csv/ckpt/last --data eval
    want=$output
    run -0 "$CELLRUN" eval --ckpt npy/ckpt/last --data eval
    [ "$output" = "$want" ]
    chances csv rows.csv >a
    chances npy rows.npy >b
    [ "$(wc -l <a)" = 30 ]
    diff a b
}

@test "the checkpoint has fields, words and numbers, and ckpt show prints them" {
    [ "$(fitted csv x.fields)" = "number age number fare category sex category port category deck" ]
    # median of age and fare, then which of them have an indicator
    [ "$(fitted csv x.0)" = "$(perl -e '
        open my $f, "<", "train.csv"; <$f>;
        while (<$f>) { my @v = split /,/;
            for (0, 1) { push @{$c[$_]}, $v[$_] if $v[$_] =~ /^[0-9.]+$/ } }
        for (@c) { my @s = sort { $a <=> $b } @$_; my $n = @s;
            my $m = ($s[($n - 1) / 2] + $s[$n / 2]) / 2;
            print $m =~ s/(\.[0-9]{3})[0-9]*$/$1/r, " " }
        print "0 0 0 1 0 0 0 0"')" ] ||
        { fitted csv x.0; false; }
    run -0 "$CELLRUN" ckpt show csv/ckpt/last
    [[ $output == *$'\nvocab.x.port: , C, Q, S\n'* ]]
    [[ $output == *$'\nfitted.x.fields: number age, number fare, category sex, '* ]]
    run -0 "$CELLRUN" ckpt show csv/ckpt/last --meta cellrun.vocab
    [ "$output" = '{"x.deck":{"joint":"","tokens":["","2","3","10"]},"x.port":{"joint":"","tokens":["","C","Q","S"]},"x.sex":{"joint":"","tokens":["","female","male"]}}' ]
}

@test "stopped and resumed is the same as never stopped" {
    "$CELLRUN" train csv.yaml train.epochs=2 -o half -q
    "$CELLRUN" resume half --epochs 5 -q
    tail -c 700 csv/ckpt/last.safetensors >a
    tail -c 700 half/ckpt/last.safetensors >b
    cmp a b
}

@test "reading finds the columns: type: auto trains the same network" {
    cp csv.yaml auto.yaml
    sed -i 's/x: {numbers.*}, label: label/x: {type: auto}, label: label/' auto.yaml
    # deck is a number there
    "$CELLRUN" train auto.yaml -o auto -q
    [ "$(fitted auto x.fields)" = "number age number fare category sex category port number deck" ]
    run -0 --separate-stderr "$CELLRUN" predict --ckpt auto rows.csv
    [ "${#lines[@]}" = 30 ]
    # in another order, and with fields that are not used
    awk -F, -v OFS=, '{ print NR, $5, $4, $3, $2, $1 }' rows.csv >turned.csv
    diff <(chances auto rows.csv) <(sed 1s/^1,/n,/ turned.csv >t.csv; chances auto t.csv)
}

@test "every field is a column of the type that its values have" {
    cat >every.yaml <<'EOF'
dataset: {train: {CSVDataset: {dataset_files: train.csv}}}
datapipe:
  age: [{FillMissing: mean}, Standardize]
  fare: [MinMax]
  sex: [CategoryIndex]
  port: [CategoryIndex]
  batch: {batch_size: 8}
network:
  inputs: [age, fare, deck, sex, port]
  cells:
    by_sex: {Embedding: [$vocab.sex.size, 2]}
    by_port: {Embedding: [$vocab.port.size, 3]}
    out: {Dense: [8, 2]}
  construct: |
    n = stack((age, fare, deck), axis=1)
    return out(concat((n, by_sex(sex), by_port(port)), axis=1))
loss: CrossEntropyLoss
optimizer: {Adam: {learning_rate: 0.01}}
train: {epochs: 2}
EOF
    "$CELLRUN" train every.yaml -o every -q
    run -0 "$CELLRUN" summary every.yaml
    [[ $output == *"by_sex"*"3 × 2"* || $output == *"(3, 2)"* || $output == *" 6"* ]]
    run -0 "$CELLRUN" ckpt show every/ckpt/last
    [[ $output == *"by_sex.embedding_table"*"(3, 2)"* ]]
    [[ $output == *"by_port.embedding_table"*"(4, 3)"* ]]
}

@test "fitted values come from the training split alone" {
    # a row that no other resembles: with some seeds it is set aside
    { cat train.csv; echo 9000,7000,other,Z,99,up; } >more.csv
    cat >part.yaml <<'EOF'
base: rest.yaml
dataset:
  train: {CSVDataset: {dataset_files: more.csv, columns: {x: {numbers: [age, fare], categories: [sex, port, deck]}, label: label}}}
  split: {eval_from_train: 20%, seed: 0}
datapipe:
  x: [{FillMissing: mean}, MinMax, OneHot]
train: {epochs: 1}
EOF
    with=0 without=0
    for seed in 1 2 3 4 5 6 7 8; do
        rm -rf part
        "$CELLRUN" train part.yaml dataset.split.seed=$seed -o part -q
        max=$(fitted part x.1 | cut -d' ' -f6)
        words=$("$CELLRUN" ckpt show part/ckpt/last --meta cellrun.vocab)
        if [ "$max" = 9000 ]; then
            with=$((with + 1))
            [[ $words == *'"Z"'*'"other"'* ]]
        else
            without=$((without + 1))
            [[ $words != *Z* && $words != *other* && $words != *99* ]]
        fi
    done
    [ "$with" -ge 1 ]
    [ "$without" -ge 1 ]
}

@test "default replaces missing values of every type" {
    printf 'n,i,w,t,d,label\n1,2,a,good,2024-03-05,up\n,,,,,\nNA,?,b,bad,-,down\n' >d.csv
    cat >d.yaml <<'EOF'
dataset:
  train:
    CSVDataset:
      dataset_files: d.csv
      columns:
        n: {fields: n, type: float32, default: 7}
        i: {fields: i, type: int32, default: -3}
        w: {fields: w, type: category, default: b}
        t: {fields: t, type: string, default: good}
        d: {dates: d, default: 1970-01-11}
        label: {fields: label, default: down}
datapipe:
  w: [CategoryIndex]
  t: [{LabelIndex: {classes: [bad, good]}}]
  shuffle: false
network:
  inputs: [n, i, w, t, d]
  cells: {all: Identity, out: {Dense: [5, 2]}}
  construct: |
    return out(all(stack((n, cast(i, float32), cast(w, float32), cast(t, float32), d), axis=1)))
loss: CrossEntropyLoss
optimizer: {SGD: {learning_rate: 0.0}}
train: {epochs: 1}
EOF
    "$CELLRUN" trace d.yaml -o d.npz -q
    bytes=4
    [[ $("$CELLRUN" version) == *"real: float32"* ]] || bytes=8
    run -0 bash -c "unzip -p d.npz output.all.npy | tail -c $((15 * bytes)) | od -An -v -t f$bytes | xargs -n 5"
    [ "$output" = "1 2 1 1 19787
7 -3 2 1 10
7 -3 2 0 10" ]
}

@test "names and words that are not UTF-8 are kept" {
    printf 'gr\xf6sse,art,label\n1,gr\xfcn,a\n2,rot,b\n3,gr\xfcn,a\n' >latin.csv
    cat >latin.yaml <<'EOF'
dataset: {train: {CSVDataset: {dataset_files: latin.csv, columns: {x: {type: auto}, label: label}}}}
datapipe: {x: [Standardize, {OneHot: {unknown: error}}]}
network: [{Dense: {out_channels: 2}}]
loss: CrossEntropyLoss
optimizer: {SGD: {learning_rate: 0.1}}
train: {epochs: 2}
EOF
    "$CELLRUN" train latin.yaml -o latin -q
    run -0 "$CELLRUN" predict --ckpt latin latin.csv
    [ "${#lines[@]}" = 3 ]
}

@test "errors have field, value and what to write" {
    # said STATUS COLUMNS OPS TEXT [ROWS]
    said() {
        printf '%s\n' "${5:-n,w,label
1,a,up
2,b,down}" >e.csv
        cat >e.yaml <<EOF
dataset: {train: {CSVDataset: {dataset_files: e.csv, columns: {x: $2, label: label}}}}
datapipe: {x: $3}
network: [{Dense: {out_channels: 2}}]
loss: CrossEntropyLoss
optimizer: {SGD: {learning_rate: 0.1}}
train: {epochs: 1}
EOF
        run -"$1" --separate-stderr "$CELLRUN" train e.yaml -o e -q --force
        [[ $stderr == *"$4"* ]] || { echo "$stderr"; false; }
    }
    both='{numbers: [n], categories: [w]}'
    gap=$'n,w,label\n1,a,up\nNA,b,down'
    said 3 "$both" '[OneHot]' \
        "e.csv:3:1: error: column 'x', field 'n': found 'NA', expected a number [E0203]" "$gap"
    [[ $stderr == *"add FillMissing to datapipe.x, or default: VALUE to columns.x"* ]]
    said 3 "$both" '[FillMissing, OneHot]' \
        "e.csv:3:1: error: column 'x', field 'n': found 'two', expected a number [E0203]" \
        $'n,w,label\n1,a,up\ntwo,b,down'
    said 2 "$both" '[Standardize]' \
        "column 'x' ends with the category 'w', but the network needs numbers"
    [[ $stderr == *"add OneHot, or CategoryIndex for an Embedding, to datapipe.x"* ]]
    said 2 "$both" '[{Standardize: {fields: [m]}}, OneHot]' \
        "Standardize: column 'x': field 'm' not found"
    said 2 "$both" '[{Standardize: {fields: [w]}}, OneHot]' \
        "Standardize: found the field 'w', which is a category, expected a number"
    said 2 "$both" '[{FillMissing: {strategy: mean, fields: [w]}}, OneHot]' \
        "FillMissing: found the category 'w', expected numbers for mean and median; mode takes both"
    said 2 "$both" '[{FillMissing: [constant, 0.5, false, [w]]}, OneHot]' \
        "but the fields are categories"
    said 3 "$both" '[{FillMissing: {strategy: constant, value: c}}, OneHot]' \
        "found 'c', expected a string of field 'w' in the training data"
    said 3 "$both" '[FillMissing, OneHot]' \
        "column 'x': all values of field 'n' are missing in the training data" \
        $'n,w,label\nNA,a,up\nNA,b,down'
    said 3 "$both" '[Log, OneHot]' \
        "Log: found -2 in field 'n' of column 'x', expected numbers above -1" \
        $'n,w,label\n-2,a,up\n3,b,down'
    said 3 '{dates: [n]}' '[]' \
        "field 'n': the values are not dates of one form"
    said 2 '{numbers: [n], fields: w}' '[]' \
        "fields, type and classes are not allowed next to"
    said 2 '{numbers: [n], categories: [n]}' '[OneHot]' \
        "column 'x': duplicate field 'n'"
    said 2 "{fields: n, type: int32, default: half}" '[]' \
        "default: found 'half', expected a number of the column's type, int32"
    # of rows that are predicted
    said 0 "$both" '[FillMissing, {OneHot: {unknown: error}}]' ""
    printf 'n,w\n1,a\nx,b\n2,c\n' >rows.csv
    run -3 --separate-stderr "$CELLRUN" predict --ckpt e rows.csv
    [[ $stderr == *"rows.csv:3:1: error: column 'x', field 'n': found 'x', expected a number"* ]]
    [[ $stderr == *"OneHot: field 'w': the value is missing or not in the training data"* ]]
    said 0 "$both" '[OneHot]' ""
    printf 'n,w\n-,a\n1,b\n' >rows.csv
    run -3 --separate-stderr "$CELLRUN" predict --ckpt e rows.csv
    [[ $stderr == *"rows.csv:2:1: error: column 'x', field 'n': found '-', expected a number"* ]]
    [ "${#lines[@]}" = 1 ]
}

@test "weights of another table: other categories, or another order, are warned of" {
    cd "$BATS_TEST_TMPDIR"
    cp "$BATS_FILE_TMPDIR"/{csv,rest}.yaml "$ROOT"/tests/golden/sk/rows.csv .
    cp "$ROOT/tests/golden/sk/train.csv" en.csv
    perl -pe 's/\bmale\b/homme/' en.csv >fr.csv
    run -0 --separate-stderr "$CELLRUN" train csv.yaml -q \
        load.ckpt="$BATS_FILE_TMPDIR/csv" -o en dataset.train.dataset_files=en.csv
    [ -z "$stderr" ]
    run -0 --separate-stderr "$CELLRUN" train csv.yaml -q \
        load.ckpt="$BATS_FILE_TMPDIR/csv" -o fr dataset.train.dataset_files=fr.csv
    echo "$stderr"
    [[ $stderr == *"csv/ckpt/best.safetensors: warning: column 'x.sex': value 2 is 'homme', but 'male' for the weights of this file [E0305]"* ]]
    [[ $stderr == *"use the same values in the same order"* ]]
    [[ $stderr != *"x.port"* ]]
}
