# predict: rows of tables in, with the labels and fields next to them.
bats_require_minimum_version 1.5.0
set -o pipefail

# People of two numbers and a city. All weights are given, so every result is
# a sum that a reader can check: the number is (age - mean) / deviation +
# (income - mean) / deviation + the city's place.
setup_file() {
    . "$BATS_TEST_DIRNAME/small.bash"
    unset CELLRUN_SET CELLRUN_DATA CELLRUN_RUNS CELLRUN_THREADS
    cd "$BATS_FILE_TMPDIR"
    {
        echo 'name,age,city,income,rent'
        echo 'Ann,20,Rome,1,10'
        echo 'Bob,40,"Oslo, N",3,20'
        echo 'Cid,20,"Par""is",3,30'
        echo 'Dee,40,Rome,1,40'
    } >people.csv
    cat >mixed.yaml <<'END2'
cellrun: 1
dataset:
  train:
    CSVDataset:
      dataset_files: people.csv
      columns:
        num: {fields: [age, income], type: float32}
        city: {fields: city, classes: [Rome, "Oslo, N", 'Par"is']}
        label: {fields: rent, type: float32}
datapipe:
  num: [Standardize]
  batch: {batch_size: 4}
network:
  inputs: [num, city]
  cells:
    place: {Embedding: {vocab_size: 3, embedding_size: 1, embedding_table: {Constant: {value: 3}}}}
    sum: {Dense: {out_channels: 1, weight_init: 1.0, has_bias: false}}
  construct: return squeeze(sum(concat((num, place(city)), axis=1)), 1)
loss: MSELoss
optimizer: {SGD: {learning_rate: 1e-30}}
train: {epochs: 1}
END2
    "$CELLRUN" train mixed.yaml -o mixed -q
}

setup() {
    . "$BATS_TEST_DIRNAME/small.bash"
    unset CELLRUN_SET CELLRUN_DATA CELLRUN_RUNS CELLRUN_THREADS
    cd "$BATS_FILE_TMPDIR"
    tmp=$BATS_TEST_TMPDIR
}

# Both numbers have two values as often as each other: they become -1 and 1,
# and the city adds 3.
want() {
    awk -F'\t' -v want="$1" '{ got = got " " $NF + 0 }
        END { split(want, w, " "); n = split(got, g, " ")
              for (i = 1; i <= n; i++) bad += (g[i] - w[i]) ^ 2 > 1e-10
              exit bad || n != split(want, w, " ") }'
}

@test "a mixed table: fitted numbers and classes come from the checkpoint" {
    run -0 --separate-stderr "$CELLRUN" predict --ckpt mixed people.csv
    [ -z "$stderr" ]
    want '1 5 3 3' <<<"$output"
    # other rows, other order of fields, and no rent: nothing is fitted again
    printf 'income,city,age\n1,Rome,40\n' >"$tmp/one.csv"
    run -0 "$CELLRUN" predict --ckpt mixed "$tmp/one.csv"
    [ "$output" = "$tmp/one.csv#0"$'\t'3 ]
}

@test "a table on standard input" {
    run -0 --separate-stderr "$CELLRUN" predict --ckpt mixed - <people.csv
    want '1 5 3 3' <<<"$output"
    [[ ${lines[0]} == '-#0'$'\t'* ]]
}

@test "fields passed through, a header, and the quotes of CSV" {
    run -0 "$CELLRUN" predict --ckpt mixed people.csv --id name --id city \
        --format csv --header
    [ "${lines[0]}" = 'input,name,city,output' ]
    [ "${lines[2]}" = 'people.csv#1,Bob,"Oslo, N",5' ]
    [ "${lines[3]}" = 'people.csv#2,Cid,"Par""is",3' ]
    run -0 "$CELLRUN" predict --ckpt mixed people.csv --id city --header
    [ "${lines[0]}" = $'input\tcity\toutput' ]
    [ "${lines[3]}" = $'people.csv#2\tPar"is\t3' ]
}

@test "a tab and a line end within a field do not break a row of TSV" {
    printf 'name,age,city,income\n"a\tb\nc",20,Rome,1\n' >"$tmp/odd.csv"
    run -0 "$CELLRUN" predict --ckpt mixed "$tmp/odd.csv" --id name
    [ "${#lines[@]}" = 1 ]
    [ "$(awk -F'\t' '{ print NF }' <<<"$output")" = 3 ]
    run -0 "$CELLRUN" predict --ckpt mixed "$tmp/odd.csv" --id name --json
    [ "$(jq -r .name <<<"$output")" = $'a\tb\nc' ]
}

@test "--id names a field that is there" {
    run -2 "$CELLRUN" predict --ckpt mixed people.csv --id nobody
    [[ $output == *"--id: 'nobody' is not a field"* ]]
}

@test "JSON lines: fields by name, columns by name, elements in order" {
    cat >"$tmp/rows.jsonl" <<'END2'
{"age": 20, "income": 1.0e0, "city": "Rome", "more": {"deep": [1, {}]}}
{"num": [40, 3], "city": "Oslo, N"}

[20, 3, "Par\u0022is"]
END2
    run -0 --separate-stderr "$CELLRUN" predict --ckpt mixed "$tmp/rows.jsonl"
    [ -z "$stderr" ]
    want '1 5 3' <<<"$output"
    run -0 "$CELLRUN" predict --ckpt mixed - --json <"$tmp/rows.jsonl"
    [ "$(jq -s -c 'map(.output[0])' <<<"$output")" = '[1,5,3]' ]
}

@test "an array of JSON with too few values is one error, at its place" {
    cat >"$tmp/rows.jsonl" <<'END2'
{"num": [20], "city": "Rome"}
{"num": 20, "city": "Rome"}
[20, 1]
{"num": [20, 1], "city": "Rome"}
END2
    run -3 --separate-stderr "$CELLRUN" predict --ckpt mixed "$tmp/rows.jsonl"
    [ "${#lines[@]}" = 1 ]
    [ "$(grep -c error: <<<"$stderr")" = 3 ]
    [[ $stderr == *"rows.jsonl:1:9: error: JSON: found 1 value, expected 2 [E0203]"* ]]
    [[ $stderr == *"rows.jsonl:2:9: error: JSON: found 1 value, expected 2 [E0203]"* ]]
    [[ $stderr == *"rows.jsonl:3:1: error: JSON: found 2 values, expected 3 [E0203]"* ]]
    echo '[20, 1, "Rome"]' | "$CELLRUN" predict --ckpt mixed - --id name
}

@test "JSON that is damaged is one row's error, with its column" {
    local bad
    for bad in '{"age":' '[1,2' '{"age":20 "city":1}' '"x"' '{"age":"\q"}' \
        '[1,2,"Rome",4]' '{"num":[1,2,3]}' '{"city":"\ud800"}' '[1,2,"Rome"]x' \
        '{"num":{"a":1}}' '[1,nope,"Rome"]' '{"city":"a'$'\x01''"}'; do
        printf '%s\n[40,1,"Rome"]\n' "$bad" >"$tmp/bad.jsonl"
        run -3 --separate-stderr "$CELLRUN" predict --ckpt mixed \
            "$tmp/bad.jsonl"
        [ "$output" = "$tmp/bad.jsonl#1"$'\t'3 ]
        [[ $stderr == *"bad.jsonl:1"*"[E0203]"* ]]
    done
}

@test "rows without names are the fields that go in" {
    printf '20,1,Rome\n40,3,"Oslo, N"\n' >"$tmp/bare.csv"
    run -0 "$CELLRUN" predict --ckpt mixed "$tmp/bare.csv" --names no
    want '1 5' <<<"$output"
    printf 'Ann,20,1,Rome\n' >"$tmp/bare.csv"
    run -0 "$CELLRUN" predict --ckpt mixed "$tmp/bare.csv" --names no --id 0
    [ "$output" = "$tmp/bare.csv#0"$'\tAnn\t1' ]
    run -3 "$CELLRUN" predict --ckpt mixed "$tmp/bare.csv" --names no
    [[ $output == *"the row has 4 fields for the input columns of the network, expected 3"* ]]
}

# Rows 1, 3 and 4 are good.
bad_rows() {
    printf 'age,city,income\n20,Rome,1\nold,Rome,1\n20,"Ro"me,1\n40,Rome,1\n' \
        >"$tmp/bad.csv"
    printf '20,Lima,1\n20,Rome\n40,"Oslo, N",3\n' >>"$tmp/bad.csv"
}

@test "bad rows are skipped, reported and counted, with exit status 3" {
    bad_rows
    run -3 --separate-stderr "$CELLRUN" predict --ckpt mixed "$tmp/bad.csv"
    want '1 3 5' <<<"$output"
    [ "$(cut -d'#' -f2 <<<"$output" | cut -f1 | xargs)" = '0 3 6' ]
    [ "$(grep -c error <<<"$stderr")" = 5 ]
    [[ $stderr == *"bad.csv:3:1: error: column 'num'"*": found 'old', expected a number"* ]]
    [[ $stderr == *"bad.csv:4"*"text after a closing quote"* ]]
    [[ $stderr == *"'Lima' is not one of the classes"* ]]
    [[ $stderr == *"the row has 2 fields, expected 3"* ]]
    [[ $stderr == *"warning: 4 of 7 samples have errors: skipped [E0203]"* ]]
}

@test "--on-error blank: every row has its place" {
    bad_rows
    run -3 --separate-stderr "$CELLRUN" predict --ckpt mixed "$tmp/bad.csv" \
        --on-error blank --batch 3
    [ "${#lines[@]}" = 7 ]
    [ "${lines[1]}" = "$tmp/bad.csv#1"$'\t' ]
    [ "${lines[6]}" = "$tmp/bad.csv#6"$'\t5' ]
    run -3 --separate-stderr "$CELLRUN" predict --ckpt mixed "$tmp/bad.csv" \
        --on-error blank --format jsonl
    [ "$(jq -r 'select(.error) | .input' <<<"$output" | wc -l)" = 4 ]
    [[ $(jq -r .error <<<"${lines[1]}") == "column 'num'"*": found 'old'"* ]]
    [[ $("$CELLRUN" version) == *"real: float32"* ]] || return 0
    run -3 --separate-stderr "$CELLRUN" predict --ckpt mixed "$tmp/bad.csv" \
        --on-error blank --format npy -o "$tmp/y.npy"
    [ "$(tail -c 28 "$tmp/y.npy" | perl -0777 -ne \
        'print join " ", map { $_ == $_ ? $_ : "nan" } unpack "f<*"')" = \
        '1 nan nan 3 nan nan 5' ]
}

@test "--on-error stop: nothing after the first, and no file" {
    bad_rows
    run -3 --separate-stderr "$CELLRUN" predict --ckpt mixed "$tmp/bad.csv" \
        --on-error stop --batch 1
    [ "$output" = "$tmp/bad.csv#0"$'\t1' ]
    [ "$(grep -c error: <<<"$stderr")" = 1 ]
    run -3 "$CELLRUN" predict --ckpt mixed "$tmp/bad.csv" --on-error stop \
        -o "$tmp/out.tsv"
    [ ! -e "$tmp/out.tsv" ]
}

@test "an index outside an embedding is one row's error too" {
    [[ $("$CELLRUN" version) == *"real: float32"* ]] || skip 'float32 arrays'
    perl -e 'print pack "l<*", 0, 7, 2, 1' | npy "$tmp/i.npy" '<i4' '(4,)'
    perl -e 'print pack "f<*", 0, 1, 2' | npy "$tmp/y.npy" '<f4' '(3,)'
    perl -e 'print pack "l<*", 0, 1, 2' | npy "$tmp/t.npy" '<i4' '(3,)'
    cat >"$tmp/e.yaml" <<'END2'
dataset: {train: {NumpySlicesDataset: {data: [t.npy, y.npy], column_names: [x, label]}}}
network:
  cells: {e: {Embedding: {vocab_size: 3, embedding_size: 1, embedding_table: {Constant: {value: 2}}}}}
  construct: return squeeze(e(x), 1)
loss: MSELoss
optimizer: {SGD: {learning_rate: 1e-30}}
train: {epochs: 1}
END2
    "$CELLRUN" train "$tmp/e.yaml" -o "$tmp/e" -q
    run -3 --separate-stderr "$CELLRUN" predict --ckpt "$tmp/e" "$tmp/i.npy" \
        --on-error blank
    [ "$(cut -f 2 <<<"$output" | tr '\n' ,)" = '2,,2,2,' ]
    [[ $stderr == *"column 'x'"*7*"i.npy#1"* ]]
    [[ $stderr == *"1 of 4 samples have errors: left blank"* ]]
}

@test "regression in all digits: the nearest float32 comes back" {
    [[ $("$CELLRUN" version) == *"real: float32"* ]] || skip 'float32 digits'
    perl -e 'print "age,city,income\n"; srand 5;
        print 20 + rand(20), ",Rome,", 1 + rand(2), "\n" for 1 .. 200' \
        >"$tmp/many.csv"
    "$CELLRUN" predict --ckpt mixed "$tmp/many.csv" -o "$tmp/text.tsv"
    "$CELLRUN" predict --ckpt mixed "$tmp/many.csv" --format npy \
        -o "$tmp/y.npy"
    cut -f 2 "$tmp/text.tsv" | perl -e 'local $/; print pack "f<*", split " ", <>' \
        >"$tmp/again"
    tail -c 800 "$tmp/y.npy" | cmp - "$tmp/again"
}

@test "--data: label next to the prediction, and any column as an id" {
    run -0 "$CELLRUN" predict --ckpt mixed --data train --header --id city
    [ "${lines[0]}" = $'input\tcity\tactual\toutput' ]
    [ "${lines[1]}" = $'train#0\t0\t10\t1' ]
    [ "${lines[2]}" = $'train#1\t1\t20\t5' ]
    run -2 "$CELLRUN" predict --ckpt mixed --data train people.csv
    [[ $output == *"--data is not allowed with INPUT"* ]]
    run -2 "$CELLRUN" predict --ckpt mixed --data eval
    [[ $output == *"dataset.eval not found"* ]]
}

@test "--data: a field that is not a column, as an id" {
    run -0 --separate-stderr "$CELLRUN" predict --ckpt mixed --data people.csv \
        --id name --id age
    [ "$(cut -f2,3 <<<"$output" | xargs)" = "Ann 20 Bob 40 Cid 20 Dee 40" ]
    run -2 --separate-stderr "$CELLRUN" predict --ckpt mixed --data people.csv \
        --id nam
    [[ $stderr == *"field 'nam' not found"*"did you mean 'name'?"* ]]
}

@test "--data of a checkpoint made elsewhere opens no file" {
    mkdir "$tmp/away"
    cp mixed/ckpt/last.safetensors "$tmp/away/x.safetensors"
    run -4 --separate-stderr "$CELLRUN" predict --ckpt "$tmp/away/x" \
        --data train
    [ -z "$output" ]
    [[ $stderr == *"data 'people.csv' was not read"*"--trust"* ]]
    # the rows of others it reads
    run -0 "$CELLRUN" predict --ckpt "$tmp/away/x" people.csv
    want '1 5 3 3' <<<"$output"
}

@test "missing values and categories are those of the training data" {
    cat >"$tmp/people.csv" <<'END2'
age,city,y
20,Rome,1
,Oslo,2
40,,3
30,Rome,4
END2
    cat >"$tmp/kinds.yaml" <<'END2'
cellrun: 1
dataset: {train: {CSVDataset: {dataset_files: people.csv, columns: {x: {numbers: [age], categories: [city]}, label: {fields: y, type: float32}}}}}
datapipe:
  x: [{FillMissing: {strategy: mean}}, OneHot, Standardize]
network:
  inputs: [x]
  cells: {w: {Parameter: {shape: [1], init: {One: {}}}}}
  construct: return x * w
loss: {inputs: [logits, label], construct: "return mean(square(logits)) + mean(label)"}
optimizer: {SGD: {learning_rate: 1e-30}}
train: {epochs: 1}
END2
    (cd "$tmp" && "$CELLRUN" train kinds.yaml -o kinds -q)
    # an age that is missing is the mean, which Standardize makes 0
    printf '{"city":"Rome"}\n{"age":null,"city":"Rome"}\n{"age":30,"city":"Rome"}\n' \
        >"$tmp/rows.jsonl"
    printf 'city,age\nRome,\nRome,NA\nRome,30\n' >"$tmp/rows.csv"
    for rows in jsonl csv; do
        run -0 --separate-stderr "$CELLRUN" predict --ckpt "$tmp/kinds" \
            "$tmp/rows.$rows"
        [ "$(cut -f 2- <<<"$output" | sort -u | wc -l)" = 1 ]
        [ "$(cut -f 2 <<<"${lines[0]}")" = 0 ]
    done
    # a city that training never saw has its own place
    run -0 --separate-stderr "$CELLRUN" predict --ckpt "$tmp/kinds" --stream \
        <<<$'30,Rome\n30,Lima\n30,Paris'
    [ "${lines[1]}" = "${lines[2]}" ]
    [ "${lines[0]}" != "${lines[1]}" ]
    # which is told, once; a missing one is not
    [[ $stderr == *"warning: found 2 categories that no training sample has: 'Lima' in field 'city', line 2 of standard input, ..."* ]]
    [[ $stderr == *'treated as unknown, which training may never have seen'* ]]
    echo '[30,"Lima"]' >"$tmp/lima.jsonl"
    run -0 --separate-stderr "$CELLRUN" predict --ckpt "$tmp/kinds" \
        "$tmp/lima.jsonl"
    [[ $stderr == *"found 1 category that no training sample has: 'Lima' in field 'city', line 1 of $tmp/lima.jsonl [E0204]"* ]]
    run -0 --separate-stderr "$CELLRUN" predict --ckpt "$tmp/kinds" - \
        <<<$'city,age\nRome,20\n,20\n?,30'
    [ -z "$stderr" ]
}

@test "rows without names: messages call the fields as the config does" {
    run -3 "$CELLRUN" predict --ckpt mixed - <<<'[1,"x","Rome"]'
    [[ $output == *"column 'num', field 'income': found 'x'"* ]]
}

@test "a table without the names that it should have is one error" {
    run -3 --separate-stderr "$CELLRUN" predict --ckpt mixed - \
        <<<$'20,1,Rome\n40,3,"Oslo, N"'
    [[ $stderr == *"the first line names none of the network's input fields"*"--names no"* ]]
    [ "$(grep -c 'error' <<<"$stderr")" = 1 ]
    run -0 "$CELLRUN" predict --ckpt mixed --names no - \
        <<<$'20,1,Rome\n40,3,"Oslo, N"'
    want '1 5' <<<"$output"
}

@test "a misspelt member of a JSON row is an error, not a missing value" {
    cat >"$tmp/people.csv" <<'END2'
age,height,y
20,1,1
,2,2
40,3,3
END2
    cat >"$tmp/fill.yaml" <<'END2'
cellrun: 1
dataset: {train: {CSVDataset: {dataset_files: people.csv, columns: {x: {numbers: [age, height]}, label: {fields: y, type: float32}}}}}
datapipe: {x: [{FillMissing: {strategy: mean}}]}
network:
  inputs: [x]
  cells: {w: {Parameter: {shape: [2], init: {One: {}}}}}
  construct: return sum(x * w, axis=1)
loss: MSELoss
optimizer: {SGD: {learning_rate: 1e-30}}
train: {epochs: 1}
END2
    (cd "$tmp" && "$CELLRUN" train fill.yaml -o fill -q)
    predict() {
        run "-$1" --separate-stderr "$CELLRUN" predict --ckpt "$tmp/fill" - <<<"$2"
    }
    predict 3 '{"agee":30}'
    [[ $stderr == *"input:1: "*"found the unknown field 'agee'"* ]]
    [[ $stderr == *"did you mean 'age'?"* ]]
    predict 3 $'{"height":2,"years":1}\n{}\n{"age":1,"height":2}'
    [ "$output" = $'-#2\t3' ]
    [[ $stderr == *"found the unknown field 'years', expected 'age'"* ]]
    [[ $stderr == *"input:2: "*"found none of the fields, expected 'age'"* ]]
    # labels and further fields of a complete row are not errors
    predict 0 $'{"height":2,"y":1}\n{"height":2,"age":null,"z":1}'
    [ "$output" = $'-#0\t32\n-#1\t32' ]
}

@test "a table for each column, side by side" {
    printf 'age,income\n20,1\n40,3\n' >"$tmp/n.csv"
    printf '{"city":"Rome"}\n{"city":"Oslo, N"}\n' >"$tmp/c.jsonl"
    run -0 "$CELLRUN" predict --ckpt mixed "num=$tmp/n.csv" "city=$tmp/c.jsonl"
    want '1 5' <<<"$output"
    head -1 "$tmp/c.jsonl" >"$tmp/short.jsonl"
    run -3 "$CELLRUN" predict --ckpt mixed "num=$tmp/n.csv" \
        "city=$tmp/short.jsonl"
    [[ $output == *"short.jsonl has 1 samples, "*"n.csv has more"* ]]
    run -2 "$CELLRUN" predict --ckpt mixed "num=$tmp/n.csv"
    [[ $output == *"column 'city' has no file: write city=FILE"* ]]
}

@test "the suffix of -o selects the format" {
    for form in tsv csv jsonl npy npz; do
        "$CELLRUN" predict --ckpt mixed people.csv -o "$tmp/by.$form"
        "$CELLRUN" predict --ckpt mixed people.csv -o "$tmp/out.$form" \
            --format "$form"
        cmp "$tmp/by.$form" "$tmp/out.$form"
    done
    [[ $(head -1 "$tmp/by.csv") == people.csv#0,* ]]
    "$CELLRUN" predict --ckpt mixed people.csv -o "$tmp/rows.txt"
    cmp "$tmp/rows.txt" "$tmp/by.tsv"
    for form in xlsx parquet json csv.gz; do
        run -2 "$CELLRUN" predict --ckpt mixed people.csv -o "$tmp/no.$form"
        [[ $output == *"expected a name that ends in .tsv, .csv, .jsonl, .npy or .npz"* ]]
        [ ! -e "$tmp/no.$form" ]
    done
}

@test "-o does not overwrite an input, however it is called" {
    head -2 people.csv | cut -d , -f 2-4 >"$tmp/same.csv"
    cp "$tmp/same.csv" "$tmp/kept"
    ln "$tmp/same.csv" "$tmp/link.csv"
    echo "$tmp/same.csv" >"$tmp/list"
    for input in "$tmp/same.csv" "$tmp/link.csv" - "num=$tmp/same.csv" \
        "--files-from=$tmp/list"; do
        run -2 "$CELLRUN" predict --ckpt mixed "$input" --format csv \
            -o "$tmp/same.csv" <"$tmp/same.csv"
        [[ $output == *"-o $tmp/same.csv would overwrite the input '"*"'"* ]]
        cmp "$tmp/same.csv" "$tmp/kept"
    done
}

@test "no INPUT, or too much of it" {
    run -2 "$CELLRUN" predict --ckpt mixed
    [[ $output == *"expected an INPUT, --data, --files-from or --stream"* ]]
    run -2 "$CELLRUN" predict --ckpt mixed people.csv --probs
    [[ $output == *"require an output with classes"* ]]
    run -2 "$CELLRUN" predict --ckpt mixed people.csv --threshold 0.5
    [[ $output == *"--threshold requires"* ]]
    run -2 "$CELLRUN" predict --ckpt mixed people.csv -o "$tmp/x.npz" \
        --format tsv
    [[ $output == *"expected a name that ends in .tsv"* ]]
    run -2 "$CELLRUN" predict --ckpt mixed people.csv -o "$tmp/x.csv" --json
    [[ $output == *"expected a name that ends in .jsonl"* ]]
}

@test "--config: weights without a config, fitted values of its data" {
    "$CELLRUN" export mixed -o "$tmp/w.safetensors" -q
    run -4 "$CELLRUN" predict --ckpt "$tmp/w.safetensors" people.csv
    [[ $output == *"the checkpoint contains no config"*"usage: cellrun predict --config FILE.yaml --ckpt $tmp/w.safetensors"* ]]
    run -0 --separate-stderr "$CELLRUN" predict --config mixed.yaml \
        --ckpt "$tmp/w.safetensors" people.csv
    [ -z "$stderr" ]
    want '1 5 3 3' <<<"$output"
    [ "$output" = "$("$CELLRUN" predict --ckpt mixed people.csv)" ]
    run -0 "$CELLRUN" predict --config mixed.yaml \
        --ckpt "$tmp/w.safetensors" --data train --id name
    [ "${lines[1]}" = $'train#1\tBob\t20\t5' ]
    run -2 "$CELLRUN" predict --config none.yaml --ckpt mixed people.csv
    [[ $output == *"cannot open 'none.yaml'"* ]]
    # without a data set: samples as the network takes them
    sed '/^dataset/,/^network/{/^network/!d}; /^loss/,$d
        s/inputs: .*/inputs: {num: {shape: [2]}, city: {shape: [], type: int32}}/' \
        mixed.yaml >"$tmp/net.yaml"
    printf '%s\n' '{"num": [-1, 1], "city": 0}' '[1, 1, 2]' |
        "$CELLRUN" predict --config "$tmp/net.yaml" \
            --ckpt "$tmp/w.safetensors" - >"$tmp/out"
    want '3 5' <"$tmp/out"
}

@test "JSON: null for a column of several fields is one error, not one each" {
    printf 'a,b,c,label\n1,2,3,0\n4,5,6,1\n' >"$tmp/t.csv"
    cat >"$tmp/t.yaml" <<'END2'
dataset:
  train: {CSVDataset: {dataset_files: t.csv, columns: {x: {fields: "0:3", type: int32}, label: {fields: label, type: int32}}}}
datapipe: {x: [{TypeCast: {data_type: float32}}], batch: {batch_size: 2}}
network: [{Dense: {out_channels: 2}}]
loss: CrossEntropyLoss
optimizer: {SGD: {learning_rate: 0.1}}
train: {epochs: 1}
END2
    "$CELLRUN" train "$tmp/t.yaml" -q -o "$tmp/t" >/dev/null
    run -3 --separate-stderr "$CELLRUN" predict --ckpt "$tmp/t" - \
        <<<'{"x": null}'
    [ "$(grep -c 'error:' <<<"$stderr")" = 1 ]
    [[ $stderr == *"input:1:7: error: column 'x', 3 fields: found nothing, expected an integer"* ]]
    # one that is missing among others is named
    run -3 --separate-stderr "$CELLRUN" predict --ckpt "$tmp/t" - \
        <<<'{"x": [1, null, 3]}'
    [[ $stderr == *"error: column 'x', field 'column_1': found nothing"* ]]
    # a row of CSV that is empty
    run -3 --separate-stderr "$CELLRUN" predict --ckpt "$tmp/t" - \
        <<<$'a,b,c\n,,'
    [ "$(grep -c 'error:' <<<"$stderr")" = 1 ]
}
