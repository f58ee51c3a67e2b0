# export: checkpoints for other programs.
bats_require_minimum_version 1.5.0
set -o pipefail
load tensors

# A run of one epoch, for all tests.
setup_file() {
    unset CELLRUN_SET CELLRUN_DATA CELLRUN_RUNS
    cd "$BATS_FILE_TMPDIR"
    pack 'f<*' 1 2 3 -1 0.5 0 0 -2 1 4 1 -1 | npy x.npy '<f4' '(4, 3)'
    pack 'l<*' 0 1 1 0 | npy y.npy '<i4' '(4,)'
    cat >net.yaml <<'END'
cellrun: 1
dataset:
  train:
    NumpySlicesDataset: {data: [x.npy, y.npy], column_names: [x, label]}
datapipe: {batch: {batch_size: 2}}
network:
  fc: {Dense: [3, 4]}
  act: Tanh
  out: {Dense: [4, 2]}
loss: CrossEntropyLoss
optimizer: {Momentum: {learning_rate: 0.1, momentum: 0.9}}
train: {epochs: 1}
END
    "$CELLRUN" train net.yaml -q -o run
    "$CELLRUN" train net.yaml -q -o ema train.ema.decay=0.5 eval.use_ema=true \
        dataset.eval.NumpySlicesDataset="{data: [x.npy, y.npy], \
        column_names: [x, label]}"
}

setup() {
    unset CELLRUN_SET CELLRUN_DATA CELLRUN_RUNS
    cd "$BATS_TEST_TMPDIR"
    cp -r "$BATS_FILE_TMPDIR"/* .
}

fails() {
    local status=$1
    shift
    run -"$status" --separate-stderr "$CELLRUN" "$@"
}

@test 'weights for other programs: no slots, equal values, every format' {
    local to
    for to in safetensors npz ckpt; do
        "$CELLRUN" export run -q -o "w.$to"
        "$CELLRUN" ckpt ls "w.$to" >list
        [ "$(grep -c '^\(fc\|out\)\.' list)" = 4 ]
        [ "$(wc -l <list)" = 5 ]
        "$CELLRUN" ckpt strip run -q -o strip.safetensors
        "$CELLRUN" ckpt diff strip.safetensors "w.$to"
    done
}

@test 'export --dtype: the weights are rounded to it' {
    local type to
    for type in float16 bfloat16; do
        for to in safetensors ckpt; do
            "$CELLRUN" export run -q --dtype "$type" -o "h.$to"
            "$CELLRUN" ckpt ls "h.$to" >list
            [ "$(grep -ciE "(F16|BF16|$type) " list)" = 4 ]
        done
    done
    fails 2 export run --dtype bfloat16 -o h.npz
    [[ $stderr = *'NPZ files cannot hold it'* ]]
}

@test 'export with eval.use_ema: the moving averages, by the names of weights' {
    "$CELLRUN" export ema -q -o w.safetensors
    "$CELLRUN" ckpt ls w.safetensors >list
    [ "$(wc -l <list)" = 5 ]
    [ "$("$CELLRUN" ckpt show w.safetensors --values fc.bias)" = \
        "$("$CELLRUN" ckpt show ema --values cellrun.ema.fc.bias |
            sed 's/cellrun.ema.//')" ]
    fails 6 ckpt diff ema w.safetensors --match fc.bias
}

@test 'export: missing, foreign and corrupt checkpoints, and wrong names' {
    fails 4 export missing.safetensors -o w.npz
    [[ $stderr = *'checkpoint not found'* ]]
    echo text >bad.safetensors
    fails 4 export bad.safetensors -o w.npz
    fails 2 export run -o w.txt
    [[ $stderr = *"-o: found 'w.txt', expected a name that ends in .ckpt"* ]]
    fails 2 export run --to npz -o w.ckpt
    fails 2 export run
    [[ $stderr = *'export needs -o FILE'* ]]
    fails 2 export run --normalize -o w.npz
    cp run/ckpt/last.safetensors a.safetensors
    fails 2 export a.safetensors -o a.safetensors
    [[ $stderr = *'expected another file'* ]]
    [ ! -e w.npz ]
}

@test 'export: a full disk leaves the old file' {
    [ -w /dev/full ] || skip 'no /dev/full'
    fails 1 export run --to npz -o /dev/full
    [[ $stderr = */dev/full* ]]
    echo old >w.npz
    run -1 --separate-stderr bash -c \
        'ulimit -f 0; trap "" XFSZ; exec "$CELLRUN" export run -o w.npz'
    [ "$(cat w.npz)" = old ]
}
