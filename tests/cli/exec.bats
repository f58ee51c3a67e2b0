# run.exec_on_eval: a command after each evaluation; run.pin; CELLRUN_LOG.
bats_require_minimum_version 1.5.0
set -o pipefail
load small

setup() {
    cd "$BATS_TEST_TMPDIR"
    unset CELLRUN_SET CELLRUN_DATA CELLRUN_RUNS CELLRUN_LOG
    config c.yaml
}

@test "it has the metrics and the place in its environment" {
    cat >say.sh <<'END'
echo "$CELLRUN_STEP $CELLRUN_EPOCH $CELLRUN_METRIC_accuracy $CELLRUN_METRIC_loss" >>seen
echo "$CELLRUN_IS_BEST $CELLRUN_RUN_NAME $CELLRUN_RUN_DIR" >>where
[ "$CELLRUN_METRIC_old" = "" ] || echo old >>where
grep '"eval"' "$CELLRUN_RUN_DIR/metrics.jsonl" | tail -1 >>last
END
    run -0 --separate-stderr env CELLRUN_METRIC_old=1 "$CELLRUN" train c.yaml \
        -o r -q --json eval.first=true 'run.exec_on_eval=sh say.sh'
    [ "$(jq -r .status <<<"$output")" = completed ]
    jq -r 'select(.split == "eval") | "\(.step) \(.epoch) \(.accuracy) \(.loss)"' \
        r/metrics.jsonl >want
    [ "$(wc -l <want)" = 4 ]
    awk 'NR == FNR { for (i = 1; i <= 4; i++) v[FNR, i] = $i; next }
        { for (i = 1; i <= 4; i++)
              if ((v[FNR, i] - $i) ^ 2 > 1e-24) bad = 1 }
        END { exit bad || FNR != 4 }' want seen
    [ "$(cut -d' ' -f2- where | sort -u)" = "c $(pwd -P)/r" ]
    [ "$(head -1 where | cut -c1)" = 0 ] # nothing has been learned yet
    [ "$(sed -n 2p where | cut -c1)" = 1 ]
    # the record is in the file already
    diff last <(grep '"eval"' r/metrics.jsonl)
}

@test "names of metrics become names of the shell" {
    run -0 "$CELLRUN" train c.yaml -o r -q --epochs 1 \
        'metrics=[{TopKCategoricalAccuracy: {k: 2}}, loss]' \
        'run.exec_on_eval=env | sort >env'
    [ "$(grep -cE '^CELLRUN_METRIC_[A-Za-z0-9_]+=[0-9.]+$' env)" = 2 ]
}

@test "it prints to standard error, reads nothing, has no open files of cellrun" {
    run -0 --separate-stderr "$CELLRUN" train c.yaml -o r -q --epochs 1 \
        'run.exec_on_eval=echo said; cat; ls -l /proc/self/fd >fds' </dev/zero
    [[ $output == "status: completed"* && $output != *said* ]]
    [[ $stderr == *said* ]]
    [ -s fds ]
    run ! grep -E 'metrics|log.txt|lock|npy' fds
    # signals are as a command expects them
    run -0 "$CELLRUN" train c.yaml -o s -q --epochs 1 \
        'run.exec_on_eval=grep -E "Sig(Blk|Ign|Cgt)" /proc/self/status >sig'
    [ "$(wc -l <sig)" = 3 ]
    # PIPE (bit 12), CHLD (16), HUP, INT, USR1, USR2, TERM
    while read -r _ mask; do
        [ $((0x$mask & (1 << 12 | 1 << 16 | 1 << 0 | 1 << 1 | 1 << 9 | 1 << 11 | 1 << 14))) = 0 ]
    done <sig
}

@test "a status other than 0 is a warning with its place, no more" {
    printf 'run:\n  exec_on_eval: "exit 7"\n' >>c.yaml
    run -0 --separate-stderr "$CELLRUN" train c.yaml -o r -q --epochs 2
    [[ $stderr == *"c.yaml:"*":17: warning: 'run.exec_on_eval' ended with status 7 at step 19"* ]]
    [[ $stderr == *"at step 38"* ]]
    [[ $output == "status: completed"* ]]
    run -0 --separate-stderr "$CELLRUN" train c.yaml -o s -q --epochs 1 \
        'run.exec_on_eval=kill -9 $$$$'
    [[ $stderr == *"was ended by signal 9 at step 19"* ]]
    run -0 --separate-stderr "$CELLRUN" train c.yaml -o t -q --epochs 1 \
        'run.exec_on_eval=/no/such/thing'
    [[ $stderr == *"ended with status 127"* ]]
    # and the same numbers as without
    run -0 "$CELLRUN" train c.yaml -o u -q --epochs 2 '~run'
    run -0 "$CELLRUN" ckpt diff r/ckpt/last.safetensors u/ckpt/last.safetensors
}

@test "a signal ends it, and then the run, which is resumed as ever" {
    run -0 "$CELLRUN" train c.yaml -o a -q --epochs 2
    for sig in INT TERM; do
        rm -f pid end
        "$CELLRUN" train c.yaml -o "b$sig" -q --epochs 2 \
            'run.exec_on_eval=echo $$$$ >pid; sleep 100 & wait; echo over >end' \
            >out 2>err &
        p=$!
        within 20 test -s pid
        kill -$sig $p
        rc=0
        wait $p || rc=$?
        [ $rc = $(($(kill -l $sig) + 128)) ]
        run ! kill -0 "$(cat pid)"
        [ ! -e end ]
        run -0 "$CELLRUN" resume "b$sig" -q '~run.exec_on_eval'
        run -0 "$CELLRUN" ckpt diff a/ckpt/last.safetensors \
            "b$sig/ckpt/last.safetensors"
    done
}

@test "it does not outlast the run's time limit" {
    # the first limit that the run reaches in its first command
    for limit in 1 4 16 64; do
        run -75 --separate-stderr "$CELLRUN" train c.yaml -o r -q --force \
            --time-limit ${limit}s 'run.exec_on_eval=touch began; sleep 1000'
        [ ! -e began ] || break
    done
    [[ $stderr == *"was ended by signal 15 at step 19"* ]]
    [ -e r/ckpt/last.safetensors ]
}

@test "no command where no file is left" {
    run -0 "$CELLRUN" train c.yaml --dry-run 'run.exec_on_eval=touch ran'
    [ ! -e ran ]
}

@test "pinned threads give the same numbers; a command runs anywhere" {
    [ "$(nproc)" -ge 2 ] || skip 'one processor'
    run -0 "$CELLRUN" train c.yaml -o a -q --threads 2
    run -0 "$CELLRUN" train c.yaml -o b -q --threads 2 run.pin=true \
        datapipe.workers=2 \
        'run.exec_on_eval=grep Cpus_allowed_list /proc/self/status >cpus'
    run -0 "$CELLRUN" ckpt diff a/ckpt/last.safetensors b/ckpt/last.safetensors
    [ "$(cat cpus)" = "$(grep Cpus_allowed_list /proc/self/status)" ]
}

@test "CELLRUN_LOG: the level of messages" {
    run -0 --separate-stderr env CELLRUN_LOG=quiet "$CELLRUN" train c.yaml -o a
    [ -z "$stderr" ]
    run -0 --separate-stderr env CELLRUN_LOG=normal "$CELLRUN" train c.yaml -o b
    [[ $stderr == *"loss: "* ]]
    CELLRUN_LOG=verbose "$CELLRUN" summary c.yaml >v
    "$CELLRUN" summary -v c.yaml | cmp - v
    run ! cmp v <("$CELLRUN" summary c.yaml)
    CELLRUN_LOG=quiet "$CELLRUN" summary -v c.yaml | cmp - v # flags win
}
