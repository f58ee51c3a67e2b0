# Tables: CSVDataset, Standardize, and what is said of files that do not fit.
bats_require_minimum_version 1.5.0
set -o pipefail

setup_file() {
    export ROOT="$PWD"
    unset CELLRUN_SET CELLRUN_DATA CELLRUN_RUNS CELLRUN_THREADS
    cd "$BATS_FILE_TMPDIR"
    cp "$ROOT/datasets/tables/plants.csv" .
    sed 's,../datasets/tables/,,' "$ROOT/configs/plants.yaml" >plants.yaml
    "$CELLRUN" train plants.yaml -o run -q
}

setup() {
    ROOT="$BATS_TEST_DIRNAME/../.."
    cd "$BATS_FILE_TMPDIR"
}

# said WANT: the whole of stderr
said() {
    local got=${stderr//"$BATS_FILE_TMPDIR/"/}

    [ "$got" = "$1" ] || { diff <(echo "$1") <(echo "$got"); false; }
}

# table NAME COLUMNS: a config over NAME
table() {
    cat >t.yaml <<END
dataset:
  train:
    CSVDataset:
      dataset_files: $1
      columns: $2
train: {epochs: 1}
network: [{Dense: {out_channels: 3}}]
loss: CrossEntropyLoss
optimizer: {SGD: {learning_rate: 0.1}}
END
}

@test "the table of plants is learned, and evaluated with the same numbers" {
    run -0 "$CELLRUN" eval --ckpt run
    [[ $output == *"accuracy: 0.9667"* ]]
    run -0 "$CELLRUN" eval --ckpt run/ckpt/last
    loss=$(sed -n 's/.*Avg loss: \([^ ]*\) $/\1/p' run/log.txt | tail -n 1)
    [ "${lines[1]}" = "loss: $(printf %.4f "$loss")" ]
}

@test "names of classes are kept" {
    run -0 "$CELLRUN" eval --ckpt run --confusion -
    [[ $output == *"truth,setosa,versicolor,virginica"* ]]
}

@test "the numbers are those of the training part alone" {
    run -0 "$CELLRUN" ckpt show run/ckpt/last --json
    perl -MJSON::PP -e '
        my $h; { local $/; open my $f, "<", "run/ckpt/last.safetensors";
            binmode $f; read $f, my $n, 8; read $f, $h, unpack "Q<", $n }
        my $s = decode_json(decode_json($h)->{__metadata__}{"cellrun.state"});
        my @v = @{$s->{fitted}{"x.0"}};
        die unless @v == 8;
        # 120 of 150 rows: every sum of a feature is a multiple of 0.1
        for (0 .. 3) { my $sum = $v[$_] * 120 * 10;
                       die "$sum" if abs($sum - sprintf "%.0f", $sum) > 1e-3 }'
}

@test "predict takes tables, with or without the label" {
    head -n 4 plants.csv | cut -d, -f1-4 >rows.csv
    run -0 "$CELLRUN" predict --ckpt run rows.csv --topk 1 --probs
    [ "${#lines[@]}" = 3 ]
    [[ ${lines[0]} == rows.csv#0$'\t'setosa$'\t'setosa$'\t'0.9* ]]
    [[ ${lines[2]} == rows.csv#2$'\t'virginica$'\t'* ]]
    run -0 "$CELLRUN" predict --ckpt run plants.csv --batch 7
    [ "${#lines[@]}" = 150 ]
    # as many right as there should be
    n=$(paste <(cut -f2 <<<"$output") <(tail -n +2 plants.csv | cut -d, -f5) |
        awk '$1 == $2' | wc -l)
    [ "$n" -ge 140 ]
    printf 'sepal_length,b,c,d\n1,2,3,4\n1,2,x,4\n' >rows.csv
    run -3 --separate-stderr "$CELLRUN" predict --ckpt run rows.csv
    said "rows.csv:3:5: error: column 'x', field 'c': found 'x', expected a number [E0203]
cellrun: warning: 1 of 2 samples have errors: skipped [E0203]"
    [[ $output == rows.csv#0$'\t'* ]]
    run -3 --separate-stderr "$CELLRUN" predict --ckpt run none.csv
    [[ $stderr == "none.csv: error: cannot read: No such file or directory [E0202]" ]]
}

@test "predict takes a table that lacks a field for what it is" {
    printf 'sepal_lenght,b,c\n1,2,3\n' >rows.csv
    run -3 --separate-stderr "$CELLRUN" predict --ckpt run rows.csv
    [[ $stderr == "rows.csv:1:1: error: column 'x': field '"*"' not found in rows of 3 fields [E0203]"* ]]
    # by name
    printf 'text,label\ngood,up\nbad,down\ngood,up\nbad,down\n' >named.csv
    for columns in '{text: text, label: {fields: label, type: string}}' null; do
        cat >n.yaml <<END
dataset:
  train: {CSVDataset: {dataset_files: named.csv, columns: $columns}}
datapipe:
  text: [{LabelIndex: {classes: [good, bad]}}, {OneHot: 2}, {TypeCast: float32}]
  label: [{LabelIndex: {classes: [up, down]}}]
network: {fc: {Dense: [2, 2]}}
loss: CrossEntropyLoss
optimizer: {SGD: {learning_rate: 0.5}}
train: {epochs: 40}
END
        rm -rf named
        run -0 "$CELLRUN" train n.yaml -q -o named
        # wherever it is
        printf 'text\nbad\ngood\n' >t1.csv
        printf 'c,a,text\n1,2,bad\n1,2,good\n' >t2.csv
        run -0 "$CELLRUN" predict --ckpt named t1.csv
        one=$(cut -f2- <<<"$output")
        run -0 "$CELLRUN" predict --ckpt named t2.csv
        [ "$(cut -f2- <<<"$output")" = "$one" ]
        printf 'a,txet\n1,bad\n' >t3.csv
        run -3 --separate-stderr "$CELLRUN" predict --ckpt named t3.csv t1.csv
        [[ $stderr == "t3.csv:1:3: error: column 'text': field 'text' not found in rows of 2 fields [E0203]"* ]]
        [[ $stderr == *"the file has 'txet'; rename it to 'text'?"* ]]
        [ "$(cut -f2- <<<"$output")" = "$one" ]
    done
}

@test "any number of workers gives the same bytes" {
    for w in 0 1 2 4; do
        "$CELLRUN" train plants.yaml train.epochs=2 datapipe.workers=$w \
            -o w$w -q
        perl -pe 's/"?workers.{1,4}[0-9]//g; s/"(header|tensor)_crc.*?",//g' \
            <w$w/ckpt/last.safetensors | tail -c 700 >w$w.tail
    done
    cmp w0.tail w1.tail
    cmp w0.tail w2.tail
    cmp w0.tail w4.tail
}

@test "stopped and resumed is the same as never stopped" {
    "$CELLRUN" train plants.yaml train.epochs=4 -o whole -q
    "$CELLRUN" train plants.yaml train.epochs=2 -o half -q
    "$CELLRUN" resume half --epochs 4 -q
    tail -c 700 whole/ckpt/last.safetensors >a
    tail -c 700 half/ckpt/last.safetensors >b
    cmp a b
    "$CELLRUN" train plants.yaml train.epochs=2 -o again -q
    "$CELLRUN" train plants.yaml train.epochs=4 -o again --resume auto -q
    tail -c 700 again/ckpt/last.safetensors >b
    cmp a b
}

@test "a test set of its own has the classes of the training set" {
    printf 'a,b,label\n1,2,rose\n2,1,tulip\n3,4,daisy\n' >tr.csv
    printf 'a,b,label\n1,2,tulip\n2,1,rose\n' >te.csv
    table tr.csv '{x: {fields: "0:2", type: float32}, label: label}'
    sed -i 's,^dataset:,&\n  test: {CSVDataset: {dataset_files: te.csv\, columns: {x: {fields: "0:2"\, type: float32}\, label: label}}},' t.yaml
    "$CELLRUN" train t.yaml -o flowers -q
    run -0 "$CELLRUN" eval --ckpt flowers --data test --confusion -
    [[ $output == *$'truth,daisy,rose,tulip\ndaisy,0,0,0'* ]]
    printf 'a,b,label\n1,2,tulip\n2,1,fern\n' >te.csv
    run -3 --separate-stderr "$CELLRUN" eval --ckpt flowers --data test
    said "te.csv:3:5: error: column 'label': 'fern' is not one of the classes daisy, rose, tulip of the training data [E0204]"
    # a table given by name is read as the test set is
    printf 'a,b,label\n1,2,tulip\n2,1,rose\n' >other.csv
    run -0 "$CELLRUN" eval --ckpt flowers --data other.csv --confusion -
    other=$output
    cp other.csv te.csv
    run -0 "$CELLRUN" eval --ckpt flowers --data test --confusion -
    [ "$output" = "$other" ]
    run -0 "$CELLRUN" predict --ckpt flowers --data other.csv
    [ "$(cut -f 1,2 <<<"$output")" = $'other.csv#0\ttulip\nother.csv#1\trose' ]
}

@test "fields that do not parse, all of them, with line and column" {
    printf 'a,b,label\n1,2,0\n3,x,1\n,"4 4",2\n' >bad.csv
    table bad.csv '{x: {fields: "0:2", type: float32}, label: label}'
    run -3 --separate-stderr "$CELLRUN" check t.yaml
    said "bad.csv:3:3: error: column 'x', field 'b': found 'x', expected a number [E0203]
bad.csv:4:1: error: column 'x', field 'a': found nothing, expected a number [E0203]
   add FillMissing to datapipe.x, or default: VALUE to columns.x
bad.csv:4:2: error: column 'x', field 'b': found '4 4', expected a number [E0203]
3 errors."
    # a label is not filled in
    printf 'a,b,label\n1,2,0\n3,4,\n' >bad.csv
    run -3 --separate-stderr "$CELLRUN" check t.yaml
    said "bad.csv:3:5: error: column 'label': found nothing, expected a class [E0203]
   remove the rows without a label, or add default: VALUE to columns.label
1 error"
}

@test "text that reaches the network" {
    printf 'a,label\nhello,0\n' >text.csv
    table text.csv '{x: a, label: label}'
    run -2 --separate-stderr "$CELLRUN" check t.yaml
    said "t.yaml:2:3: error: column 'x' ends as text, but the network needs numbers [E0102]
    2 |   train:
      |   ^
   set a type of its fields (float32, int32), or add a tokenizer and Lookup, or LabelIndex, to datapipe.x
1 error"
    echo 'datapipe: {x: [{TypeCast: {data_type: float32}}]}' >>t.yaml
    run -2 --separate-stderr "$CELLRUN" check t.yaml
    [[ ${stderr_lines[0]} == "t.yaml:10:17: error: TypeCast: found text, expected numbers [E0102]" ]]
}

@test "fields that are not there" {
    printf 'alpha,beta,label\n1,2,0\n' >f.csv
    table f.csv '{x: {fields: [alpha, betta], type: float32}, label: 7}'
    run -2 --separate-stderr "$CELLRUN" check t.yaml
    said "t.yaml:5:37: error: field 'betta' not found in rows of 3 fields [E0014]
    5 |       columns: {x: {fields: [alpha, betta], type: float32}, label: 7}
      |                                     ^^^^^ did you mean 'beta'?
t.yaml:5:68: error: field 7 not found: rows have 3, 0 to 2 [E0006]
    5 |       columns: {x: {fields: [alpha, betta], type: float32}, label: 7}
      |                                                                    ^
2 errors."
}

@test "slices reach from a field to a field" {
    printf 'a,b,c,label\n1,2,3,0\n' >f.csv
    for slice in ' -2:1' ' -1:' '0: -1' '2:1' '1:9'; do
        table f.csv "{x: {fields: \"$slice\", type: float32}, label: 3}"
        run -2 --separate-stderr "$CELLRUN" check t.yaml
        [[ ${stderr_lines[0]} == "t.yaml:5:29: error: field '$slice' not found in rows of 4 fields [E0014]" ]]
    done
}

@test "duplicate names of fields" {
    printf 'a,b,c,b,a\n1,2,3,4,5\n' >f.csv
    table f.csv '{x: {fields: "0:2", type: float32}, label: 4}'
    run -3 --separate-stderr "$CELLRUN" check t.yaml
    [ "${stderr_lines[0]}" = "f.csv:1:7: error: duplicate name 'b' in the first line [E0203]" ]
}

@test "null is as if the argument were not given" {
    printf 'a,label\n1,0\n2,1\n3,2\n' >f.csv
    table f.csv '{x: {fields: [a], type: float32, default: null}, label: label}'
    sed -i 's/^      columns/      num_samples: null\n      column_defaults: null\n&/' t.yaml
    run -0 "$CELLRUN" check t.yaml
    [[ $output == *"3 samples to train on"* ]]
}

@test "check: fewer samples than a batch" {
    printf 'a,label\n1,0\n2,1\n3,2\n' >f.csv
    table f.csv '{x: {fields: [a], type: float32}, label: label}'
    run -0 "$CELLRUN" check t.yaml
    [[ $output == *"3 samples to train on"* ]]
}

@test "labels that a loss computes must be classes, too" {
    printf 'a,b,x,y\n0,-1,1,2\n1,0,2,1\n' >f.csv
    table f.csv '{x: {fields: "2:4", type: float32}, label: {fields: "0:2", type: int32}}'
    sed -i '/^loss/d; s/^network.*/network: [{Dense: {out_channels: 2}}]/' t.yaml
    cat >>t.yaml <<'END'
loss:
  inputs: [y, label]
  cells: {margin: MultilabelMarginLoss}
  construct: return margin(y, label * k)
END
    sed 's/ k)/ 1)/' t.yaml >one.yaml
    run -0 "$CELLRUN" train one.yaml -o one -q
    sed -i 's/ k)/ 1000000)/' t.yaml
    run -3 --separate-stderr "$CELLRUN" train t.yaml -o many -q
    [[ ${stderr_lines[0]} == "t.yaml:"*": error: an index computed by the network is "*"1000000, expected -1 to 1 [E0204]" ]]
}

@test "a split keeps the shares of numbers, not of texts" {
    printf 'a,label\nu,0\nv,1\nw,2\n' >f.csv
    table f.csv '{x: a, label: label}'
    sed -i '2i\  split: {eval_from_train: 34%, stratify: x}' t.yaml
    run -2 --separate-stderr "$CELLRUN" check t.yaml
    [[ ${stderr_lines[0]} == *"error: split.stratify: 'x' is not a column with one number per sample [E0004]" ]]
}

@test "files that are not there, are folders, are pipes" {
    table none.csv '{x: 0}'
    run -3 --separate-stderr "$CELLRUN" check t.yaml
    [[ ${stderr_lines[0]} == "t.yaml:4:22: error: file 'none.csv' not found, neither relative to the config nor in CELLRUN_DATA [E0201]" ]]
    run -3 --separate-stderr "$CELLRUN" check t.yaml dataset.train.dataset_files=no.csv
    [[ ${stderr_lines[0]} == "command line, argument 3: error: file 'no.csv' not found, neither in the current directory nor in CELLRUN_DATA [E0201]" ]]
    [[ ${stderr_lines[2]} == *"^^^^^^"* ]]
    # a name may be a number
    run -3 --separate-stderr "$CELLRUN" check t.yaml dataset.train.dataset_files=3
    [[ ${stderr_lines[0]} == "command line, argument 3: error: file '3' not found, neither in the current directory nor in CELLRUN_DATA [E0201]" ]]
    mkdir -p years
    printf 'a,label\n1,0\n2,1\n' >years/2024
    table 2024 '{x: {fields: [a], type: float32}, label: label}'
    mv t.yaml years
    echo 'base: years/t.yaml' >more.yaml
    run -0 "$CELLRUN" train more.yaml -q -o year
    run -0 "$CELLRUN" resume year -q --epochs 2
    mkdir -p dir.csv
    table dir.csv '{x: 0}'
    run -3 --separate-stderr "$CELLRUN" check t.yaml
    [ "${stderr_lines[0]}" = "dir.csv: error: cannot read: Is a directory [E0202]" ]
    table /dev/null '{x: 0}'
    run -3 --separate-stderr "$CELLRUN" check t.yaml
    [ "${stderr_lines[0]}" = "/dev/null: error: is not a regular file [E0202]" ]
    mkfifo pipe.csv
    table pipe.csv '{x: 0}'
    run -3 --separate-stderr timeout 300 "$CELLRUN" check t.yaml
    [ "${stderr_lines[0]}" = "pipe.csv: error: is not a regular file [E0202]" ]
}

@test "several files are one, and need the same fields" {
    printf 'a,label\n1,0\n2,1\n' >p1.csv
    printf 'a,label\r\n3,1\r\n' >p2.csv
    printf 'b,label\n3,1\n' >p3.csv
    table '[p2.csv, p1.csv]' '{x: {fields: [a], type: float32}, label: label}'
    run -0 "$CELLRUN" data show t.yaml -n 3 dataset.train.shuffle=false
    [[ $output == *1*2*3* ]]
    table '[p1.csv, p3.csv]' '{x: {fields: [a], type: float32}, label: label}'
    run -3 --separate-stderr "$CELLRUN" check t.yaml
    [ "${stderr_lines[0]}" = "p3.csv:1:1: error: field 0: found 'b', expected 'a' as in the first file [E0203]" ]
}

# reviews FILE: the network of configs/reviews.yaml, small
reviews() {
    cp "$ROOT"/datasets/tables/reviews-*.csv .
    sed 's,../datasets/tables/,,; s/d: 128/d: 16/; s/max_len: 256/max_len: 40/' \
        "$ROOT/configs/reviews.yaml" >"$1"
}

@test "texts are classified; checkpoints bring the vocabulary" {
    reviews r.yaml
    "$CELLRUN" train r.yaml -o rev -q train.epochs=6 seed=2 \
        optimizer.learning_rate=0.01
    run -0 "$CELLRUN" eval --ckpt rev --data test --json
    [ "$(sed 's/.*"accuracy": *0\.\([0-9]\).*/\1/' <<<"$output")" -ge 8 ]
    want=$output
    # another text to train on changes nothing
    sed -i 's/film/movie/g' reviews-train.csv
    run -0 "$CELLRUN" eval --ckpt rev --data test --json
    [ "$output" = "$want" ]
    run -0 "$CELLRUN" eval --ckpt rev --data test --confusion -
    [[ $output == *"truth,neg,pos"* ]]
    printf 'text\n"I loved it, a joy."\nTerrible and boring.\n' >say.csv
    run -0 "$CELLRUN" predict --ckpt rev say.csv
    [ "$output" = $'say.csv#0\tpos\nsay.csv#1\tneg' ]
}

@test "the vocabulary: special tokens, then words by count, then by bytes" {
    printf 'text,label\n"b b, a",x\n"A c",y\n' >v.csv
    cat >v.yaml <<'END'
dataset:
  train: {CSVDataset: {dataset_files: v.csv, columns: {text: text, label: label}}}
vocab:
  text: {tokenizer: BasicTokenizer, lower_case: true, special_tokens: ["<pad>", "<unk>"]}
datapipe:
  text: [{BasicTokenizer: {lower_case: true}}, {Lookup: {vocab: text}}, {PadEnd: {pad_shape: [4]}}]
network: [{Embedding: {vocab_size: $vocab.text.size, embedding_size: 2}}, Flatten, {Dense: {out_channels: 2}}]
loss: CrossEntropyLoss
optimizer: {SGD: {learning_rate: 0.1}}
train: {epochs: 1}
END
    run -0 "$CELLRUN" config v.yaml --get network.0.vocab_size
    [ "$output" = 6 ]
    run -0 "$CELLRUN" config v.yaml vocab.text.vocab_size=4 --get network.0.vocab_size
    [ "$output" = 4 ]
    "$CELLRUN" train v.yaml -o v -q
    [[ $(head -c 9000 v/ckpt/last.safetensors) == *'<pad>'*'<unk>'*'a\'*'b\'*',\'*'c\'* ]]
    run -3 --separate-stderr "$CELLRUN" train v.yaml vocab.text.vocab_size=5 -q -o v2
    [[ $stderr == *"error: 'c' is not in vocabulary 'text', and unknown_token is not set [E0204]"* ]]
    [[ $stderr == *"at "*"v.csv:3:1"* ]]
}

@test "words: any number of workers gives the same bytes" {
    reviews r.yaml
    for w in 0 1 2 4; do
        "$CELLRUN" train r.yaml train.epochs=1 datapipe.workers=$w -o r$w -q
        tail -c 9000 r$w/ckpt/last.safetensors >r$w.tail
    done
    cmp r0.tail r1.tail
    cmp r0.tail r2.tail
    cmp r0.tail r4.tail
}

# label FILE LINE...: 10001 different whole numbers, then the lines
label() {
    { echo a,label; seq 10001 | sed 's/.*/1,&/'; printf '1,%s\n' "${@:2}"; } >"$1"
}

# labels NUMBER...: each of them is a label of late.csv once, in 10000 samples
labels() {
    run -0 "$CELLRUN" data show late.yaml -n 10000 --json
    jq -c .label <<<"$output" >all
    for n in "$@"; do [ "$(grep -cxF "$n" all)" = 1 ]; done
}

@test "a fraction after many integers makes the column real" {
    cat >late.yaml <<'END'
dataset: {train: {CSVDataset: {dataset_files: late.csv, columns: {x: {fields: a, type: float32}, label: label}}}}
END
    label late.csv 0.5 7.25
    labels 1 2 5000 10000 10001 0.5 7.25
    label late.csv 3000000000 # more than 32 bits hold
    labels 1 2 5000 10000 10001 3000000000
    # no number: line, column, and what to do
    label late.csv cat
    run -3 --separate-stderr "$CELLRUN" data show late.yaml
    [[ $stderr == "late.csv:10003:3: error: column 'label': found 'cat', expected a number [E0203]"*"set type: string under columns"* ]]
    label late.csv ''
    run -3 --separate-stderr "$CELLRUN" data show late.yaml
    [[ $stderr == "late.csv:10003:3: error: column 'label': found nothing, expected a number"* ]]
    # what was asked for stays
    label late.csv 0.5
    run -3 --separate-stderr "$CELLRUN" data show late.yaml \
        dataset.train.CSVDataset.columns.label='{fields: label, type: int32}'
    [[ $stderr == *"found '0.5', expected an integer [E0203]"* ]]
}

@test "a header and no rows: no samples, and no crash" {
    printf 'a,b,label\n' >header.csv
    table header.csv '{x: {fields: [a, b], type: float32}, label: label}'
    for command in check train "data show"; do
        run --separate-stderr -3 "$CELLRUN" $command t.yaml
        [[ "$stderr" == "header.csv: error: dataset.train has no samples [E0205]"* ]]
    done
    # of a checkpoint too it is the data, not a key of its config
    printf 'a,b,label\n1,2,0\n3,4,1\n' >two.csv
    table two.csv '{x: {fields: [a, b], type: float32}, label: label}'
    "$CELLRUN" train t.yaml -o two -q --epochs 1 >/dev/null
    run --separate-stderr -3 "$CELLRUN" eval --ckpt two --data train \
        dataset.train.dataset_files=header.csv
    [[ "$stderr" == "header.csv: error: dataset.train has no samples [E0205]" ]]
}

@test "classes of a table that are not UTF-8: eval and resume" {
    printf 'a,b,label\n1,2,caf\xe9\n3,4,x\n5,6,caf\xe8\n' >t.csv
    cat >c.yaml <<'END'
cellrun: 1
dataset:
  train: {CSVDataset: {dataset_files: t.csv, columns: {x: {fields: [a, b], type: float32}, label: label}}}
  eval: {CSVDataset: {dataset_files: t.csv, columns: {x: {fields: [a, b], type: float32}, label: label}}}
datapipe: {batch: {batch_size: 3}}
network: {fc: {Dense: [2, 3]}}
loss: CrossEntropyLoss
optimizer: {Momentum: {learning_rate: 0.01, momentum: 0.9}}
train: {epochs: 1}
END
    run -0 "$CELLRUN" train c.yaml -o r -q
    run -0 "$CELLRUN" eval --ckpt r
    run -0 "$CELLRUN" resume r -q --epochs 2
    "$CELLRUN" predict --ckpt r t.csv --topk 3 >rows
    grep -qF 'caf\xe9' rows
    grep -qF 'caf\xe8' rows
}

@test "a field missing for want of field_delim names field_delim" {
    cd "$BATS_TEST_TMPDIR"
    printf 'stars\tcomment\ngood\tfine\nbad\tpoor\n' >r.tsv
    "$CELLRUN" init textcls -o r.yaml
    sed -i 's#tables/reviews-[a-z]*.csv#r.tsv#' r.yaml
    run -2 "$CELLRUN" check r.yaml
    [[ $output == *"field 'text' not found in rows of 1 field "* ]]
    [[ $output == *"'stars\tcomment': set field_delim to the character"* ]]
}

@test "a field that is not found: the message lists what the file has" {
    cd "$BATS_TEST_TMPDIR"
    printf 'age,risk level,y\n1,2,a\n3,4,b\n' >t.csv
    config() {
        printf 'dataset: {train: {CSVDataset: {dataset_files: %s, columns: %s}}}\n' \
            "$1" "$2" >f.yaml
        run -2 "$CELLRUN" data show f.yaml -n 1
    }
    config t.csv '{x: {numbers: [income]}}'
    [[ $output == *"the fields are: age, risk level, y"* ]]
    printf '1,2,a\n3,4,b\n' >n.csv
    config n.csv '{x: {numbers: [income]}}'
    [[ $output == *"the first line holds numbers: 1, 2, a; if the file has no header, list the names under column_names"* ]]
    # a decimal comma in place of a point
    printf 'h;y\n"1,5";a\n' >c.csv
    printf '%s\n' 'dataset: {train: {CSVDataset: {dataset_files: c.csv, field_delim: ";", columns: {x: {fields: h, type: float32}}}}}' >f.yaml
    run -3 "$CELLRUN" data show f.yaml -n 1
    [[ $output == *"found '1,5', expected a number"*"numbers have a decimal point, not a comma"* ]]
}
