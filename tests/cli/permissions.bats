# Files and folders that the user may not read, search or write, as input and
# as output: the message names the file and the reason.
bats_require_minimum_version 1.5.0
set -o pipefail

setup() {
    . "$BATS_TEST_DIRNAME/small.bash"
    cd "$BATS_TEST_TMPDIR"
    unset CELLRUN_SET CELLRUN_DATA CELLRUN_RUNS CELLRUN_THREADS
    config c.yaml
    mkdir d
    plain=()
    # the superuser without the right to pass by permissions
    [ "$(id -u)" != 0 ] ||
        plain=(setpriv --bounding-set=-dac_override,-dac_read_search)
    "${plain[@]}" true 2>/dev/null || skip 'setpriv cannot drop capabilities'
}

teardown() {
    chmod -R u+rwx "$BATS_TEST_TMPDIR"
}

# no STATUS FILE COMMAND...: cellrun ends so, and says that FILE may not be used
no() {
    local status=$1 file=$2
    shift 2
    run -"$status" --separate-stderr "${plain[@]}" "$CELLRUN" "$@"
    [[ $stderr == *"$file"*": "*"Permission denied"* ]] ||
        { echo "$*: $stderr"; false; }
}

@test "data in a folder that may not be searched" {
    cp train-x.npy train-y.npy d
    chmod 000 d
    no 3 d/train-x.npy check c.yaml 'dataset.train.data=[d/train-x.npy, train-y.npy]'
    for set in \
        'ImageFolderDataset: {dataset_dir: d/sub}' \
        'MnistDataset: {dataset_dir: d/sub}' \
        'Cifar10Dataset: {dataset_dir: d/sub}' \
        'CSVDataset: {dataset_files: d/x.csv, columns: {x: a}}' \
        'CharSequenceDataset: {files: d/t, seq_len: 4}' \
        'IdxDataset: {files: [d/a], column_names: [x]}'; do
        no 3 d/ check c.yaml "dataset={train: {$set}}"
    done
    no 2 d/lr check c.yaml optimizer.learning_rate=d/lr
    no 2 'command line, argument 3: error: plug-in '"'d/p.so'" \
        check c.yaml plugin=d/p.so
    no 4 d/w check c.yaml load=d/w
}

@test "checkpoints, runs and their folders" {
    run -0 "$CELLRUN" train c.yaml -o r -q
    chmod 000 r/ckpt
    no 4 r/ckpt/best.safetensors eval --ckpt r
    no 1 r/ckpt resume r --epochs 4
    chmod 755 r/ckpt
    chmod 000 r/ckpt/best.safetensors
    no 4 r/ckpt/best.safetensors eval --ckpt r
    chmod 644 r/ckpt/best.safetensors
    chmod 000 r
    no 4 r/ckpt/best.safetensors eval --ckpt r
    no 1 r train c.yaml -o r --resume auto
}

@test "folders that may not be written" {
    chmod 555 d
    no 1 d/r train c.yaml -o d/r
    no 1 d/s sweep c.yaml seed=1,2 --dir d/s
    no 1 d/c data convert c.yaml --to npy -o d/c
    no 1 d/x.yaml init digits -o d/x.yaml
}
