# Messages and help for readers who come from PyTorch.
bats_require_minimum_version 1.5.0
set -o pipefail

setup() {
    cd "$BATS_TEST_TMPDIR"
}

net() { # CONSTRUCT
    cat >net.yaml <<END
network:
  inputs: {x: {shape: [4], type: float32}}
  cells: {body: {Dense: [4, 4]}}
  construct: |
    $1
END
}

@test "a function with PyTorch's or NumPy's prefix: the name to write" {
    for prefix in torch np; do
        net "return $prefix.tanh(body(x))"
        run -2 --separate-stderr "$CELLRUN" check net.yaml
        [[ $stderr == *"'$prefix.tanh': names have no prefix here"*"write 'return tanh(body(x))'"* ]]
    done
}

@test "Dropout with a bare number: what each argument means" {
    echo 'network: [{Dropout: 0.2}]' >net.yaml
    run -2 --separate-stderr "$CELLRUN" check net.yaml
    [[ $stderr == *"keep_prob: Probability that an element is kept"* ]]
    [[ $stderr == *"p: Probability that an element is"*"zero"* ]]
}

@test "an assignment that repeats the type of a value: which part to remove" {
    printf 'network: [{Dense: [4, 4]}]\nloss: CrossEntropyLoss\n' >net.yaml
    run -2 --separate-stderr "$CELLRUN" check net.yaml \
        loss.CrossEntropyLoss.weight=balanced
    [[ $stderr == *"remove 'CrossEntropyLoss.'"* ]]
}

@test "a split that the config lacks: those that it has" {
    printf 'a,label\n1,0\n2,1\n3,0\n4,1\n' >rows.csv
    cat >net.yaml <<'END'
dataset:
  train: {CSVDataset: {dataset_files: rows.csv, columns: {x: {fields: [a], type: float32}, label: label}}}
  split: {train: 0.5, eval: 0.5}
network: [{Dense: [1, 2]}]
END
    run -2 --separate-stderr "$CELLRUN" data show net.yaml --split test
    [[ $stderr == *"dataset.test not found"*"; the config has train, eval [E0018]"* ]]
}

@test "a folder of runs instead of a run: the path of a run" {
    mkdir -p runs/net/a
    echo '{"started": "2026-01-01T00:00:00Z"}' >runs/net/a/record.json
    run -4 --separate-stderr "$CELLRUN" eval --ckpt runs/net
    [[ $stderr == *"did you mean 'runs/net/a'?"* ]]
    cp -r runs/net/a runs/net/b
    run -4 --separate-stderr "$CELLRUN" eval --ckpt runs/net
    [[ $stderr == *"2 runs are below it"*"cellrun runs --dir runs/net"* ]]
}

@test "words of several parts are not corrected to the name of one part" {
    run -2 --separate-stderr "$CELLRUN" help checkpoint zzz
    [[ $stderr == *"no help on 'checkpoint zzz'"* ]]
    [[ $stderr != *"did you mean"* ]]
}

@test "help knows words of PyTorch, pandas and scikit-learn" {
    while IFS=: read -r word name; do
        run -0 "$CELLRUN" help $word
        [[ $output == *"$name"* ]]
    done <<'END'
ColorJitter:RandomColorAdjust
RandomPerspective:RandomAffine
RandomSharpness:RandomAdjustSharpness
Equalize:RandomEqualize
RandomApply:prob
FashionMnistDataset:MnistDataset
IMDBDataset:CSVDataset
MelSpectrogram:NumpySlicesDataset
SubsetRandomSampler:dataset.split
ReduceMean:mean
TensorScatterAdd:tensor_scatter_add
NAdam:AdamW
clip_by_global_norm:train.clip.norm
imbalanced data:balanced
delimiter:field_delim
parse dates:dates
logistic regression:CrossEntropyLoss
replace the head:load.skip
unfreeze:freeze.schedule
roc curve:auc
max_len:Truncate
word embedding:Embedding
test set:dataset.split
exploding gradient:train.clip.norm
END
}

@test "functions of MindSpore that construct lacks: what to do instead" {
    while IFS='|' read -r call hint; do
        printf 'network:\n  inputs: {x: {shape: [4]}}\n  construct: return %s\n' "$call" >f.yaml
        run -2 --separate-stderr "$CELLRUN" check f.yaml
        [[ $stderr == *"$hint"* ]]
    done <<'END'
nonzero(x)|masked_select takes a size
x.unique()|masked_select takes a size
fft(x)|There are no complex numbers
inverse(x)|There are no decompositions of matrices
bias_add(x, x)|did you mean 'add'?
scatter_nd_add(x, x, x)|did you mean 'tensor_scatter_add'?
scatter_add(x, 1, x, x)|index: found 'float32', expected int32
scatter_add(x, 1, cast(x, int32), x[:, :2])|src: found a tensor (1, 2), expected the shape of index
scatter(x, 2, cast(x, int32), x)|axis: found 2, expected an axis of input
scatter_add(x, 1, cast(x, int32)[:, 0], x)|index: found a tensor (1,), expected as many axes as input
END
}

@test "the schedule of an image config follows --epochs" {
    bin=${CELLRUN%/*}
    "$bin/digits" images --png 3
    "$CELLRUN" init -q --from-folder images -o net.yaml
    run -0 "$CELLRUN" check net.yaml
    grep -q "decay_steps: 100%}" net.yaml
}

@test "a run in place of --ckpt RUN gets a hint" {
    mkdir run
    run -2 "$CELLRUN" eval run
    [[ $output == *'did you mean --ckpt run?'* ]]
    run -2 "$CELLRUN" predict run
    [[ $output == *'did you mean --ckpt run?'* ]]
    run -2 "$CELLRUN" eval
    [[ $output != *'did you mean'* ]]
}

@test "a value in place of a map gets the key that it is probably meant for" {
    "$CELLRUN" init digits -o d.yaml -q
    run ! "$CELLRUN" check d.yaml datapipe.batch=32
    [[ $output == *'write {batch_size: 32}'* ]]
    run ! "$CELLRUN" check d.yaml 'freeze=["a*"]'
    [[ $output == *'write {patterns: [a*]}'* ]]
}

@test "a section of a scheduler gets the key of the learning rate" {
    "$CELLRUN" init digits -o d.yaml -q
    run ! "$CELLRUN" check d.yaml lr_scheduler=x
    [[ $output == *"did you mean 'optimizer.learning_rate'?"* ]]
}

@test "a flag by the name that another tool gives it" {
    echo 'network: [{Dense: [4, 4]}]' >net.yaml
    while read -r command flag guess; do
        run -2 --separate-stderr "$CELLRUN" $command net.yaml $flag=x
        [[ $stderr == *"did you mean '$guess'?"* ]]
    done <<'END'
export --format --to
predict --checkpoint --ckpt
train --workers --threads
predict --out --output
END
}

@test "a modifier among the arguments: it goes next to the type" {
    echo 'network: [{Dense: {in_channels: 4, out_channels: 2, freeze: true}}]' >net.yaml
    run -2 --separate-stderr "$CELLRUN" check net.yaml
    [[ $stderr == *"unknown argument 'freeze' for Dense"*"write it next to Dense: {Dense: {...}, freeze: true}"* ]]
}
