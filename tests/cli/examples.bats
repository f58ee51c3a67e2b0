# The examples that help shows for commands run as shown, in one folder:
# those of init and train come first, because the others use their files.
bats_require_minimum_version 1.5.0
set -o pipefail

setup_file() {
    unset CELLRUN_SET CELLRUN_RUNS
    local top=$BATS_TEST_DIRNAME/../..
    export CELLRUN_DATA C_INCLUDE_PATH PATH WORK=$BATS_FILE_TMPDIR/work
    CELLRUN_DATA=$(realpath "$top/datasets")
    C_INCLUDE_PATH=$(realpath "$top/src")
    mkdir "$BATS_FILE_TMPDIR/bin" "$WORK"
    ln -s "$CELLRUN" "$BATS_FILE_TMPDIR/bin/cellrun"
    PATH=$BATS_FILE_TMPDIR/bin:$PATH
    if cellrun version | grep float64 >/dev/null; then
        export CPPFLAGS=-DCELLRUN_DOUBLE
    fi

    cd "$WORK"
    "${BUILD:-$top/build/plain}/digits" images --png 3
    awk -v OFS=, 'BEGIN {
        print "alcohol,acidity,quality"
        for (i = 0; i < 90; i++)
            print 9 + i % 7 / 2, 0.2 + i % 11 / 20, i % 3 ? "good" : "bad"
    }' >wine.csv
    cat >text.yaml <<'END'
dataset: {train: {CharSequenceDataset: {files: text.txt, seq_len: 8}}}
datapipe: {batch: {batch_size: 4}}
network:
  inputs: [tokens]
  cells:
    tok: {Embedding: {vocab_size: $vocab.tokens.size, embedding_size: 8}}
    head: {Dense: {out_channels: $vocab.tokens.size}}
  construct: return head(tok(tokens))
loss: {CrossEntropyLoss: {axis: -1}}
optimizer: {SGD: {learning_rate: 0.1}}
train: {epochs: 1}
END
    for i in {1..20}; do
        echo 'the quick brown fox jumps over the lazy dog'
    done >text.txt
    run_examples init
    run_examples train
    cellrun train text.yaml -q -o runs/text >/dev/null
    cellrun train wine.yaml -q --epochs 2 -o runs/wine >/dev/null
}

# run_examples COMMAND: all of them, each by itself; what failed. Downloads are
# left to data_fetch.bats, which fetches from files, and mpirun to mpi.bats,
# which knows where it can run. LeakSanitizer's tracer can
# crash on threads of libraries that `bench --kernels` opens.
run_examples() {
    local ASAN_OPTIONS=${ASAN_OPTIONS:-}
    [ "$1" != bench ] || export ASAN_OPTIONS+=:detect_leaks=0
    cellrun help "$1" --json | jq -r \
        '.[] | select(.kind == "command" or .kind == "command").example' \
        >"$BATS_FILE_TMPDIR/$1.sh"
    [ -s "$BATS_FILE_TMPDIR/$1.sh" ]
    while IFS= read -r line; do
        case $line in
        '' | 'cellrun data fetch '* | 'mpirun '*) continue ;;
        esac
        bash -c "set -eo pipefail; $line" >"$BATS_FILE_TMPDIR/out" 2>&1 \
            3>&- </dev/null || {
            echo "$line: status $?"
            cat "$BATS_FILE_TMPDIR/out"
            return 1
        }
    done <"$BATS_FILE_TMPDIR/$1.sh"
}

@test "init writes configs and train makes runs" {
    cd "$WORK"
    for config in digits wine images; do
        cellrun check "$config.yaml"
    done
    [ -e runs/digits/ckpt/best.safetensors ]
    [ "$(cellrun runs --json | jq length)" -ge 2 ]
}

@test "the examples of every other command run" {
    cd "$WORK"
    for command in $(cellrun help --json | jq -r '.[] |
        select(.kind == "command" or .kind == "command").name'); do
        case $command in
        init | train) ;;
        *) run_examples "$command" ;;
        esac
    done
    [ -s sheet.png ]
    [ -s digits.npz ]
    [ -s out.csv ]
}

@test "an example that fails is seen" {
    cd "$WORK"
    cellrun() { echo '[{"kind": "command", "example": "true\nfalse\n"}]'; }
    run -1 run_examples anything
    [ "${lines[0]}" = "false: status 1" ]
}
