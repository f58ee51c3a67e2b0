#!/usr/bin/env bats
# A byte order mark at the beginning of a file, as editors on Windows write it,
# is no part of its text.

bats_require_minimum_version 1.5.0
set -o pipefail
load small

setup() {
    cd "$BATS_TEST_TMPDIR"
}

# marked FILE: FILE with the mark, as marked-FILE
marked() {
    (printf '\357\273\277' && cat "$1") >"marked-$1"
}

@test "a config, a base, a list of learning rates" {
    config c.yaml
    "$CELLRUN" train c.yaml -q -o want --steps 3 \
        optimizer.learning_rate='[0.1, 0.2, 0.3]'
    marked c.yaml
    echo 'base: marked-c.yaml' >d.yaml
    printf '0.1\n0.2 0.3\n' >rates.txt
    marked rates.txt
    run -0 "$CELLRUN" train marked-c.yaml -q -o a --steps 3 \
        optimizer.learning_rate=marked-rates.txt
    run -0 "$CELLRUN" train d.yaml -q -o b --steps 3 \
        optimizer.learning_rate=rates.txt
    run -0 "$CELLRUN" ckpt diff want a
    run -0 "$CELLRUN" ckpt diff want b
}

@test "text: training, its vocabulary, and the place of an error" {
    perl -e 'print "some text, and more of it.\n" x 20' >t.txt
    marked t.txt
    cat >c.yaml <<'END2'
cellrun: 1
dataset: {train: {CharSequenceDataset: {files: t.txt, seq_len: 8}}}
datapipe: {batch: {batch_size: 4}}
network:
  - {Embedding: {vocab_size: $vocab.tokens.size, embedding_size: 4}}
  - {Dense: {out_channels: $vocab.tokens.size}}
loss: {CrossEntropyLoss: {axis: -1}}
optimizer: {SGD: {learning_rate: 0.1}}
train: {steps: 2}
END2
    "$CELLRUN" train c.yaml -q -o a
    "$CELLRUN" train c.yaml -q -o b dataset.train.files=marked-t.txt
    run -0 "$CELLRUN" ckpt diff a b
    # a file of bytes is read as it is
    "$CELLRUN" train c.yaml -q -o c dataset.train.files=t.txt \
        dataset.train.unit=byte
    "$CELLRUN" train c.yaml -q -o d dataset.train.files=marked-t.txt \
        dataset.train.unit=byte
    run ! "$CELLRUN" ckpt diff c d
    printf '\357\273\277abc\377' >bad.txt
    run -3 --separate-stderr "$CELLRUN" check c.yaml dataset.train.files=bad.txt
    [[ $stderr == *"bad.txt: byte 6: error: the text is not UTF-8"* ]]
}

@test "tables, and a vocabulary" {
    perl -e 'print "text,label\n"; print "w", $_ % 4, " v", $_ % 3, ",", $_ % 2,
        "\n" for 1 .. 24' >t.csv
    printf 'w0\nw1\nw2\nw3\nv0\nv1\nv2\n' >words.txt
    marked t.csv
    marked words.txt
    cat >c.yaml <<'END2'
cellrun: 1
dataset: {train: {CSVDataset: {dataset_files: t.csv, columns: {text: text, label: label}}}}
vocab: {words: {file: words.txt, special_tokens: ["<pad>", "<unk>"]}}
datapipe:
  text: [BasicTokenizer, {Lookup: {vocab: words, unknown_token: "<unk>"}}, {PadEnd: {pad_shape: [4]}}]
  batch: {batch_size: 4}
network: [{Embedding: {vocab_size: $vocab.words.size, embedding_size: 4}}, Flatten, {Dense: {out_channels: 2}}]
loss: CrossEntropyLoss
optimizer: {SGD: {learning_rate: 0.1}}
train: {steps: 6}
END2
    "$CELLRUN" train c.yaml -q -o a
    "$CELLRUN" train c.yaml -q -o b dataset.train.dataset_files=marked-t.csv \
        vocab.words.file=marked-words.txt
    run -0 "$CELLRUN" ckpt diff a b
    "$CELLRUN" predict --ckpt a t.csv -o a.npy
    "$CELLRUN" predict --ckpt a marked-t.csv -o b.npy
    cmp a.npy b.npy
}

@test "predict: rows and names of files" {
    config c.yaml
    "$CELLRUN" train c.yaml -q -o r --steps 3
    printf '{"x": [1,2,3,4,5,6,7,8]}\n{"x": [8,7,6,5,4,3,2,1]}\n' >rows.jsonl
    marked rows.jsonl
    "$CELLRUN" predict --ckpt r rows.jsonl -o a.npy
    "$CELLRUN" predict --ckpt r marked-rows.jsonl -o b.npy
    cmp a.npy b.npy
    "$CELLRUN" predict --ckpt r --stream <rows.jsonl >want
    run -0 --separate-stderr "$CELLRUN" predict --ckpt r --stream \
        <marked-rows.jsonl
    diff want - <<<"$output"
    printf '8,7,6,5,4,3,2,1\n1,2,3,4,5,6,7,8\n' >rows.csv
    marked rows.csv
    "$CELLRUN" predict --ckpt r --stream <rows.csv >want
    "$CELLRUN" predict --ckpt r --stream <marked-rows.csv | diff want -
    echo eval-x.npy >list
    marked list
    "$CELLRUN" predict --ckpt r --files-from list >want
    "$CELLRUN" predict --ckpt r --files-from marked-list | diff want -
    "$CELLRUN" predict --ckpt r --files-from - <marked-list | diff want -
}
