# Files of data that others change while a run uses them.
bats_require_minimum_version 1.5.0
set -o pipefail
load small
load images

setup() {
    cd "$BATS_TEST_TMPDIR"
    unset CELLRUN_SET CELLRUN_DATA CELLRUN_RUNS CELLRUN_THREADS
    config c.yaml
}

# refused FILE ARGS...: training ends with 3, names the file, and its last
# checkpoint is sound
refused() {
    local file=$1
    shift
    run -3 "$CELLRUN" train "$@"
    [[ $output == *"$file: error: "*"while it was in use [E0202]"* ]]
    [[ $output == *"status: failed"* ]]
    grep -q '"exit":3' r/record.json
}

@test "an array that is cut under a run: exit 3 with its name" {
    for workers in 0 2; do
        samples train 300 1
        refused train-x.npy c.yaml -o r --force -q eval.first=true \
            datapipe.workers=$workers \
            'run.exec_on_eval=truncate -s 4096 train-x.npy'
    done
}

@test "an array that is cut within its last page" {
    refused train-x.npy c.yaml -o r -q eval.first=true \
        'run.exec_on_eval=truncate -s 9720 train-x.npy'
}

@test "evaluation data that are cut under a run" {
    refused eval-x.npy c.yaml -o r -q eval.first=true \
        'run.exec_on_eval=truncate -s 0 eval-x.npy'
}

@test "decoded images on disk that are cut under a run" {
    folder set 3 20 20
    sed -i -e "s/train: {Numpy.*/train: {ImageFolderDataset: {dataset_dir: set}}/" \
        -e "s/eval: {Numpy.*/eval: {ImageFolderDataset: {dataset_dir: set}}/" \
        -e "s/fc: .*/flat: Flatten\n  fc: {Dense: [1200, 16]}/" c.yaml
    run -3 "$CELLRUN" train c.yaml -o r -q eval.first=true \
        datapipe.cache=disk \
        'run.exec_on_eval=truncate -s 4096 runs/.cache/*.shelf'
    [[ $output == *".shelf: error: "*"while it was in use [E0202]"* ]]
}
