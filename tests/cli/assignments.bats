# Errors in what an assignment gives point at the argument, not at the file
# that has the rest.
bats_require_minimum_version 1.5.0
set -o pipefail

setup() {
    . "$BATS_TEST_DIRNAME/small.bash"
    cd "$BATS_TEST_TMPDIR"
    unset CELLRUN_SET CELLRUN_DATA CELLRUN_RUNS CELLRUN_THREADS
    config c.yaml
}

# points STATUS ASSIGNMENT TEXT: checking c.yaml with it ends so, with a message
# that has the text and points at the value of the assignment
points() {
    run -"$1" --separate-stderr "$CELLRUN" check c.yaml --data "$2"
    [[ $stderr == "command line, argument 4: "*"$3"* ]] ||
        { echo "$2: $stderr"; false; }
    [[ $stderr == *$'\n'"   $2"* ]]
}

@test "arguments of cells, optimizers and schedules" {
    points 2 network.fc.in_channels=4 'expected in_channels 4'
    points 2 optimizer.loss_scale=7 'loss_scale of Momentum: found 7'
    points 2 loss.axis=7 'expected an axis 7 of classes'
    points 2 optimizer.weight_decay=-1 "'weight_decay' of Momentum"
    sed -i 's/learning_rate: 0.05/learning_rate: {CosineDecayLR: {max_lr: 0.1, min_lr: 0, decay_steps: 10}, warmup: 2}/' c.yaml
    points 2 optimizer.learning_rate.decay_steps=0 "'decay_steps': expected more than 0"
    points 0 optimizer.learning_rate.warmup=5000 'the warmup takes 5000 updates'
}

@test "what has no name in the message points at the whole, in the file" {
    run -2 --separate-stderr "$CELLRUN" check c.yaml network.out.in_channels=16 \
        network.fc.has_bias=false network.fc.out_channels=15
    [[ $stderr == "command line, argument 3: error: input: found (16, 15), expected in_channels 16"* ]]
    run -2 --separate-stderr "$CELLRUN" check c.yaml network.out.has_bias=false \
        network.fc.out_channels=15
    [[ $stderr == "c.yaml:11:9: error: input: found (16, 15), expected in_channels 16"* ]]
}

@test "sections, CELLRUN_SET and later files" {
    points 2 train.grad_accumulation=1048576 "'train.grad_accumulation' is 1048576"
    points 2 train.epochs=null "set 'train.epochs' or 'train.steps'"
    points 2 sample.length=1 'the network was not trained on characters'
    CELLRUN_SET=optimizer.loss_scale=7 run -2 --separate-stderr \
        "$CELLRUN" check c.yaml
    [[ $stderr == "CELLRUN_SET:1:22: error: loss_scale of Momentum: found 7"* ]]
    echo 'optimizer: {Momentum: {loss_scale: 7}}' >d.yaml
    run -2 --separate-stderr "$CELLRUN" check c.yaml d.yaml
    [[ $stderr == "d.yaml:1:36: error: loss_scale of Momentum: found 7"* ]]
    # in a file alone
    sed -i 's/^train:.*/train: {epochs: 3, grad_accumulation: 1048576}/' c.yaml
    run -2 --separate-stderr "$CELLRUN" check c.yaml
    [[ $stderr == "c.yaml:15:39: error: 'train.grad_accumulation' is 1048576"* ]]
}

@test "data sets: misleading, without a column, empty" {
    points 0 'dataset.eval.data=[train-x.npy, train-y.npy]' \
        'of the samples of dataset.eval are in dataset.train too'
    run -2 --separate-stderr "$CELLRUN" check c.yaml \
        'dataset.eval.column_names=[x, y]'
    [[ $stderr == "c.yaml:4:9: error: the evaluation data has no column 'label'"* ]]
    printf 'a,label\n' >e.csv
    printf 'a,label\n1,0\n2,1\n' >t.csv
    cat >c.yaml <<'END'
dataset:
  train: {CSVDataset: {dataset_files: t.csv, columns: {x: a, label: label}}}
network: [{Dense: [1, 2]}]
loss: CrossEntropyLoss
optimizer: {SGD: {learning_rate: 0.1}}
train: {epochs: 1}
END
    points 2 dataset.train.field_delim=foo "field_delim: found 'foo'"
    run -3 --separate-stderr "$CELLRUN" check c.yaml \
        dataset.train.dataset_files=e.csv
    [[ $stderr == "e.csv: error: dataset.train has no samples"* ]]
}

@test "vocabularies" {
    printf 'text,label\nwe like it,0\nwe do not,1\n' >t.csv
    cat >c.yaml <<'END'
dataset:
  train: {CSVDataset: {dataset_files: t.csv, columns: {text: text, label: label}}}
vocab:
  text:
    tokenizer: BasicTokenizer
    vocab_size: 20
    special_tokens: ["<pad>", "<unk>"]
datapipe:
  text:
    - BasicTokenizer
    - Truncate: {max_seq_len: 4}
    - Lookup: {vocab: text, unknown_token: "<unk>"}
    - PadEnd: {pad_shape: [4], pad_value: 0}
network:
  - Embedding: {vocab_size: $vocab.text.size, embedding_size: 4}
  - Flatten
  - Dense: {out_channels: 2}
loss: CrossEntropyLoss
optimizer: {SGD: {learning_rate: 0.1}}
train: {epochs: 1}
END
    run -0 "$CELLRUN" check c.yaml
    points 2 vocab.text.vocab_size=1 \
        'vocab_size 1 is less than the 2 special tokens'
    points 2 'vocab.text.special_tokens=[a, a]' "duplicate special token 'a'"
    points 2 datapipe.text.2.Lookup.unknown_token=foo \
        "the unknown_token 'foo' is not in vocabulary 'text'"
    mkdir words
    points 3 vocab.text.file=words 'words'
}
