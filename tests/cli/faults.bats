# When the world says no: full disks, folders that cannot be written, readers
# that go away. The last good checkpoint stays.
bats_require_minimum_version 1.5.0
set -o pipefail

setup() {
    . "$BATS_TEST_DIRNAME/small.bash"
    cd "$BATS_TEST_TMPDIR"
    unset CELLRUN_SET CELLRUN_DATA CELLRUN_RUNS CELLRUN_THREADS
    config c.yaml
    disk=$BATS_TEST_TMPDIR/disk
}

teardown() {
    ! mountpoint -q "$disk" || umount "$disk"
}

# disk SIZE: a file system of that size, or the test is skipped
disk() {
    mkdir -p "$disk"
    mount -t tmpfs -o size="$1" tmpfs "$disk" 2>/dev/null ||
        skip "only root may mount"
}

@test "a full disk: exit 1 with the path, existing files stay, resumable later" {
    disk 1m
    set -- c.yaml -o "$disk/r" -q --epochs 3
    run -0 "$CELLRUN" train "$@"
    cp "$disk/r/ckpt/last.safetensors" last
    run -1 sh -c "head -c 2m /dev/zero >'$disk/fill'"
    run -1 "$CELLRUN" resume "$disk/r" -q --epochs 6
    [[ $output == *"disk/r: error: "*"No space left on device [E0602]"* ]]
    run -0 "$CELLRUN" ckpt verify "$disk/r/ckpt/last"
    cmp last "$disk/r/ckpt/last.safetensors"
    rm "$disk/fill"
    run -0 "$CELLRUN" resume "$disk/r" -q --epochs 6
    run -0 "$CELLRUN" train c.yaml -o whole -q --epochs 6
    cmp whole/ckpt/last.safetensors "$disk/r/ckpt/last.safetensors"
}

@test "the disk fills up: one message per file, training continues, exit 1" {
    disk 1m
    # parameters of 320 KiB: three checkpoints do not fit
    set -- c.yaml -q --epochs 4 'network.fc={Dense: [8, 3300]}' \
        'network.out={Dense: [3300, 3]}'
    run -1 "$CELLRUN" train "$@" -o "$disk/r"
    [[ $output == *"/disk/r/ckpt/c-"*"No space left on device [E0602]"* ]]
    [ "$(value status)" = completed ]
    [ "$(value epochs)" = 4 ]
    for f in "$disk"/r/ckpt/*.safetensors; do
        run -0 "$CELLRUN" ckpt verify "$f"
    done
    [ -z "$(ls -A "$disk/r/ckpt" | grep tmp)" ]
    rm -r "$disk/r"
    run -1 "$CELLRUN" train "$@" -o "$disk/r" checkpoint.on_save_error=abort
    [[ $output == *"status: failed"* ]]
}

@test "a folder that cannot be written" {
    disk 1m
    mount -o remount,ro "$disk"
    run -1 "$CELLRUN" train c.yaml -o "$disk/r"
    [[ $output == *"disk/r: error: "*"Read-only file system [E0602]"* ]]
    run -0 "$CELLRUN" train c.yaml -o r -q
    run -1 "$CELLRUN" eval --ckpt r --confusion "$disk/c.csv"
    [[ $output == *"disk/c.csv: error: "*"[E0602]"* ]]
    run -1 "$CELLRUN" predict --ckpt r eval-x.npy -o "$disk/p.tsv"
    [[ $output == *"disk/p.tsv: error: "*"[E0602]"* ]]
}

@test "a file where a folder should be" {
    echo >r
    run -1 "$CELLRUN" train c.yaml -o r
    [[ $output == *"[E0602]"*"Nothing was run."* ]]
    run -1 "$CELLRUN" train c.yaml -o r/s
    [[ $output == *"Not a directory [E0602]"* ]]
}

@test "a checkpoint's name is taken by a folder" {
    run -0 "$CELLRUN" train c.yaml -o a -q
    mkdir -p r/ckpt/c-2_19.safetensors
    run -1 "$CELLRUN" train c.yaml -o r -q --force
    [[ $output == *"r/ckpt/c-2_19.safetensors: error: "*"[E0602]"* ]]
    [ "$(value status)" = completed ]
    cmp a/ckpt/last.safetensors r/ckpt/last.safetensors
}

@test "a best checkpoint that could not be saved does not count" {
    run -0 "$CELLRUN" train c.yaml -o a -q 'metrics=[loss]'
    [[ $output == *"best.loss: "*" at epoch 3"* ]]
    mkdir -p r/ckpt/c-3_19.safetensors
    run -1 --separate-stderr "$CELLRUN" train c.yaml -o r -q --force \
        'metrics=[loss]'
    [[ $stderr == *"c-3_19.safetensors: error: "*"[E0602]"* ]]
    [[ $stderr == *"the best result so far, loss "*" at epoch 3, is not saved: the previous best checkpoint stays"* ]]
    [[ $output == *"best.loss: "*" at epoch 2"* ]]
    run -0 jq -e '.best.epoch == 2 and .best.step == 38' r/record.json
    best=$(jq .best.value r/record.json)
    run -0 "$CELLRUN" eval --ckpt r --json
    jq -e ".loss - $best | fabs < 1e-4" <<<"$output"
    # a run that saved nothing has no best
    mkdir -p n/ckpt/c-{1,2,3}_19.safetensors
    run -1 --separate-stderr "$CELLRUN" train c.yaml -o n -q --force \
        'metrics=[loss]'
    [[ $output != *"best."* ]]
    run -0 jq -e 'has("best") | not' n/record.json
}

@test "/dev/full, closed stdout: exit 1, and the run is whole" {
    run -1 sh -c '"$CELLRUN" train c.yaml -o a -q >/dev/full'
    [[ $output == *"cannot write standard output: No space left on device"* ]]
    run -0 "$CELLRUN" ckpt verify a
    grep -q '"status":"completed"' a/record.json
    run -1 sh -c '"$CELLRUN" train c.yaml -o b -q >&-'
    [[ $output == *"cannot write standard output"* ]]
    cmp a/ckpt/last.safetensors b/ckpt/last.safetensors
    for f in b/*.json* b/*.txt b/ckpt/*; do
        run ! grep -q '^status:' "$f"
    done
    run -1 sh -c '"$CELLRUN" eval --ckpt a >/dev/full'
    run -1 sh -c '"$CELLRUN" predict --ckpt a eval-x.npy >/dev/full'
}

@test "stdout closed: 141, without a message, after the work is done" {
    run bash -c '"$CELLRUN" train c.yaml -o b -q 2>err | true
        exit ${PIPESTATUS[0]}'
    [ "$status" = 141 ]
    [ ! -s err ]
    run -0 "$CELLRUN" ckpt verify b
    run bash -c '"$CELLRUN" predict --ckpt b eval-x.npy --batch 1 2>err |
        head -1; exit ${PIPESTATUS[0]}'
    [ "$status" = 141 ] || [ "$status" = 0 ]
    [ ! -s err ]
}

@test "stderr closed: the run continues" {
    run bash -c '"$CELLRUN" train c.yaml -o a --epochs 30 \
        2> >(head -1 >/dev/null); exit $?'
    [ "$status" = 0 ]
    run -0 "$CELLRUN" ckpt verify a
}

@test "an address space that is too small: exit 1, need and limit" {
    case $("$CELLRUN" version) in *asan*|*address*) skip "ASan needs all" ;; esac
    samples train 4000 1
    for m in 64 128; do
        run bash -c "ulimit -v $((m * 1024)); "'exec "$CELLRUN" train c.yaml \
            -o r'$m' -q "network.fc={Dense: [8, 6000000]}" \
            "network.out={Dense: [6000000, 3]}"'
        [ "$status" = 1 ]
        [[ $output == *"MiB"* ]]
        [[ $output == *"limit"* ]]
    done
}

@test "predict -o: the file is complete or what it was before" {
    run -0 "$CELLRUN" train c.yaml -o r -q
    echo old >p.tsv
    samples many 400 3
    run -1 bash -c 'ulimit -f 2; exec "$CELLRUN" predict --ckpt r many-x.npy \
        -o p.tsv'
    [[ $output == *"p.tsv: error: cannot write: File too large [E0602]"* ]]
    [ "$(cat p.tsv)" = old ]
    [ -z "$(ls -A | grep tmp)" ]
    run -0 "$CELLRUN" predict --ckpt r many-x.npy -o p.tsv
    [ "$(wc -l <p.tsv)" = 400 ]
}

@test "ulimit -f: exit 1 with the file and the reason, no signal" {
    run -0 "$CELLRUN" train c.yaml -o a -q
    run -1 bash -c 'ulimit -f 3; exec "$CELLRUN" train c.yaml -o r -q'
    [[ $output == *"r/ckpt/c-1_19.safetensors: error: "*"File too large [E0602]"* ]]
    [ -z "$(ls r/ckpt)" ]
}

@test "no checkpoint could be saved: the run is not over" {
    mkdir -p r/ckpt/c-{1,2,3}_19.safetensors
    run -1 "$CELLRUN" train c.yaml -o r -q --force
    [ "$(value status)" = completed ]
    [ -z "$(value ckpt)" ]
    rmdir r/ckpt/c-*
    run -0 "$CELLRUN" train c.yaml -o r -q --resume auto
    run -0 "$CELLRUN" train c.yaml -o a -q
    cmp a/ckpt/last.safetensors r/ckpt/last.safetensors
}

@test "best and last that cannot be written: an error, and they follow" {
    run -0 "$CELLRUN" train c.yaml -o a -q
    mkdir -p r/ckpt/last.safetensors
    # which can be after the second evaluation
    echo '[ "$CELLRUN_EPOCH" = 0 ] || rm -d r/ckpt/last.safetensors' >hook
    run -1 --separate-stderr "$CELLRUN" train c.yaml -o r -q --force \
        run.exec_on_eval='sh hook'
    [[ $stderr == *"r/ckpt/last.safetensors: error: cannot write: Is a directory [E0602]"* ]]
    [[ $stderr == *"the checkpoint itself is saved"* ]]
    [ "$(value status)" = completed ]
    [ r/ckpt/last.safetensors -ef r/ckpt/c-3_19.safetensors ]
    mkdir -p s/ckpt/last.safetensors
    run -1 "$CELLRUN" train c.yaml -o s -q --force
    [ s/ckpt/best.safetensors -ef "s/ckpt/$(cd a/ckpt && find . -samefile best.safetensors -name 'c-*')" ]
    rmdir s/ckpt/last.safetensors
    run -0 "$CELLRUN" train c.yaml -o s -q --resume auto
    cmp a/ckpt/last.safetensors s/ckpt/last.safetensors
}

@test "a disk that is full for a moment: records continue" {
    disk 1m
    set -- c.yaml -q --no-ckpt --epochs 6 log.every='1 steps'
    run -0 "$CELLRUN" train "$@" -o a
    # full from the second evaluation to the fourth
    echo 'case $CELLRUN_EPOCH in
          1) head -c 2m /dev/zero >"$DISK/fill" 2>/dev/null ;;
          3) rm "$DISK/fill" ;; esac' >hook
    DISK=$disk run -0 --separate-stderr "$CELLRUN" train "$@" -o "$disk/r" \
        run.exec_on_eval="sh $PWD/hook"
    [[ $stderr == *"disk/r/metrics.jsonl: warning: cannot write: No space left on device; its lines wait"* ]]
    diff <(sed 's/"t":[^,]*,//; s/,"samples_per_s.*//' a/metrics.jsonl) \
        <(sed 's/"t":[^,]*,//; s/,"samples_per_s.*//' "$disk/r/metrics.jsonl")
    # and to the end of the run: they are lost, which is said
    rm -r "$disk/r"
    sed -i '/3)/d; s/;;$/;; esac/' hook
    DISK=$disk run -1 --separate-stderr "$CELLRUN" train "$@" -o "$disk/r" \
        run.exec_on_eval="sh $PWD/hook"
    [[ $stderr =~ disk/r/metrics.jsonl:\ error:\ [0-9]+\ lines\ could\ not\ be\ written:\ No\ space ]]
    tail -c 1 "$disk/r/metrics.jsonl" | cmp - <(echo)
    jq -s . "$disk/r/metrics.jsonl" >/dev/null
}

@test "records of any length stay, a file that cannot be read is an error" {
    run -0 "$CELLRUN" train c.yaml -o r -q --epochs 2
    perl -pi -e 's/("split":"eval")/"$1,\"long\":[" . join(",", (7) x 700000) . "]"/e if $. > 1 && !$n++' \
        r/metrics.jsonl
    n=$(wc -l <r/metrics.jsonl)
    size=$(wc -c <r/metrics.jsonl)
    [ "$size" -gt 1048576 ]
    run -0 "$CELLRUN" resume r -q --epochs 3
    [ "$(wc -c <r/metrics.jsonl)" -gt "$size" ]
    [ "$(wc -l <r/metrics.jsonl)" -gt "$n" ]
    mv r/metrics.jsonl was
    mkdir r/metrics.jsonl
    run -1 "$CELLRUN" resume r -q --epochs 4
    [[ $output == *"r/metrics.jsonl: error: "*"[E0602]"*"Nothing was run."* ]]
}


@test "a FIFO in the place of a file of a run is not waited for" {
    run -0 "$CELLRUN" train c.yaml -o r -q
    for f in record.json metrics.jsonl resolved.yaml; do
        mv "r/$f" kept
        mkfifo "r/$f"
        run -1 --separate-stderr timeout -k 1 60 \
            "$CELLRUN" resume r --epochs 5
        [[ $stderr == *"r/$f: error: not a regular file [E0602]"* ]]
        rm "r/$f"
        mv kept "r/$f"
    done
    rm r/command
    mkfifo r/command
    run -0 timeout -k 1 60 "$CELLRUN" resume r -q train.epochs=5
    rm r/command r/record.json
    mkfifo r/record.json
    run -1 --separate-stderr timeout -k 1 60 \
        "$CELLRUN" train c.yaml -q -o r --force
    [[ $stderr == *"r/record.json: error: not a regular file [E0602]"* ]]
}

@test "too many open files: said as such, neither as no trust nor as no runs" {
    local k
    [[ $("$CELLRUN" version) != *-fsanitize* ]] ||
        skip 'a sanitizer must be the first library that is loaded'
    config c.yaml
    "$CELLRUN" train c.yaml -q -o runs/r --epochs 1 >/dev/null
    mkdir -p runs/empty/ckpt
    "$CELLRUN" eval --ckpt runs/r >want
    for k in $(seq 12); do
        run --separate-stderr env INJECT_KIND=open INJECT_AT=$k \
            LD_PRELOAD="$BUILD/tests/inject/inject.so" \
            "$CELLRUN" eval --ckpt runs/r
        [[ $stderr != *trusted* ]]
        [ "$status" = 0 ] || [[ $stderr == *"Too many open files"* ]]
        [ "$status" != 0 ] || [ "$output" = "$(cat want)" ]
    done
    "$CELLRUN" runs gc -n >want
    for k in $(seq 12); do
        run --separate-stderr env INJECT_KIND=folder INJECT_AT=$k \
            LD_PRELOAD="$BUILD/tests/inject/inject.so" \
            "$CELLRUN" runs gc -n
        [ "$status:$output" = "0:$(cat want)" ] ||
            [[ $stderr == *"cannot read the folder: Too many open files"* ]]
    done
}

@test "a run whose directory is replaced writes nothing into the other one" {
    local p
    "$CELLRUN" train c.yaml -o r -q --epochs 1000000 eval.every='9 h' \
        checkpoint.every='9 h' >out 2>err 3>&- &
    p=$!
    within 20 test -s r/metrics.jsonl
    mv r moved
    "$CELLRUN" train c.yaml -o r -q --epochs 1 seed=2 >/dev/null
    cp -r r want
    kill -INT $p
    status=0
    wait $p || status=$?
    [ "$status" = 1 ]
    grep -q 'r: error: another process has taken over this run directory' err
    diff -r r want
    [ -s moved/metrics.jsonl ]
}

@test "nor does it fall back to a checkpoint of the other one" {
    local p huge=1e30
    [ "$("$CELLRUN" version --json | jq -r .real)" = float32 ] || huge=1e300
    set -- train c.yaml -q --steps 40 train.nan=fallback 'log.every=1 steps' \
        'checkpoint.every=4 steps' 'eval.every=5 steps' \
        checkpoint.keep_checkpoint_max=20
    cat >hold <<'END'
[ "$CELLRUN_STEP" = 10 ] || exit 0
touch at
until [ -e go ]; do sleep 0.02; done
END
    # waits in the evaluation after step 10; the update after it is too large,
    # and nothing is saved in between
    "$CELLRUN" "$@" -o r checkpoint.best.metric=loss checkpoint.best.mode=max \
        run.exec_on_eval="'. ./hold'" \
        "optimizer.learning_rate=[$(yes 0.01, | head -10 | xargs) $huge, 0.01]" \
        >out 2>err 3>&- &
    p=$!
    within 20 test -e at
    mv r moved
    run -0 "$CELLRUN" "$@" -o r seed=2
    cp -r r want
    touch go
    status=0
    wait $p || status=$?
    [ "$status" = 1 ]
    grep -q 'r: error: another process has taken over this run directory' err
    diff -r r want
}

@test "a run whose directory is moved away says what it cannot write, and ends with 1" {
    local p
    "$CELLRUN" train c.yaml -o r -q --epochs 1000000 eval.every='9 h' \
        checkpoint.every='9 h' >out 2>err 3>&- &
    p=$!
    within 20 test -s r/metrics.jsonl
    mv r moved
    kill -INT $p
    status=0
    wait $p || status=$?
    [ "$status" = 1 ]
    grep -q '^r/ckpt/.*: error: cannot write into its folder: No such file' err
    grep -q '^r/record.json: error: cannot write into its folder: No such' err
    [ ! -e r ]
    grep -q '^status: interrupted' out
}
