# Training on several processes: mpirun of Open MPI, and of MPICH where that is
# installed. The oracle is one process.
bats_require_minimum_version 1.5.0
set -o pipefail
load mpi

# ended: sets status to that of the last job in the background
ended() {
    status=0
    wait $! || status=$?
}

@test "a perceptron with dropout: 1, 10 and 50 steps" {
    as_one 1 1e-6
    as_one 10 3e-6
    as_one 50 1e-4 # over the end of an epoch, whose last batch is of 12
}

@test "convolutions with BatchNorm: statistics of the whole batch" {
    network <<'END'
network:
  cells:
    conv: {Conv2d: {in_channels: 2, out_channels: 4, kernel_size: 3}}
    bn: {BatchNorm2d: 4}
    out: {Dense: [16, 3]}
  construct: |
    h = bn(conv(x.reshape((-1, 2, 2, 2)))).relu()
    return out(h.reshape((x.shape[0], -1)))
END
    as_one 10 1e-4
}

@test "train.batch_norm: local is that of micro-batches, statistics are means" {
    network <<'END'
network:
  fc: {Dense: [8, 16]}
  bn: {BatchNorm1d: 16}
  act: ReLU
  out: {Dense: [16, 3]}
END
    "$CELLRUN" train c.yaml -q -o one --steps 10 train.grad_accumulation=2 \
        datapipe.batch.batch_size=8
    mpi 2 train c.yaml -q -o many --steps 10 train.batch_norm=local >out
    run -6 "$CELLRUN" ckpt diff "$(last one)" "$(last many)" --rtol 1e-5 \
        --atol 1e-5
    echo "$output" >diff
    grep -q '^2 of 14 tensors differ' diff
    [ "$(grep -c '^bn.moving.* 16 of 16 beyond' diff)" = 2 ]
    "$CELLRUN" train c.yaml -q -o one --force --steps 1 # of all samples
    mpi 2 train c.yaml -q -o many --force --steps 1 train.batch_norm=local >out
    run -6 "$CELLRUN" ckpt diff "$(last one)" "$(last many)" --rtol 1e-5 \
        --atol 1e-5
    echo "$output" >diff
    grep 'moving_mean.* 0 of 16 beyond' diff
    grep 'bn.gamma.* [1-9][0-9]* of 16 beyond' diff # other statistics
}

@test "SyncBatchNorm normalises the batch with train.batch_norm: local too" {
    network <<'END'
network:
  fc: {Dense: [8, 16]}
  bn: {SyncBatchNorm: 16}
  act: ReLU
  out: {Dense: [16, 3]}
END
    "$CELLRUN" train c.yaml -q -o one --steps 10
    mpi 2 train c.yaml -q -o many --steps 10 train.batch_norm=local >out
    near "$(last one)" "$(last many)" 1e-5
}

@test "train.batch_norm: local: a skipped step leaves the statistics" {
    network <<'END'
network:
  fc: {Dense: [8, 400]}
  bn: {BatchNorm1d: 400}
  out: {Dense: [400, 3]}
END
    # a NaN in sample 100: step 7
    perl -e 'print pack "f", "nan"' |
        dd of=train-x.npy bs=1 seek=$((128 + 100 * 8 * 4)) conv=notrunc
    local steps # the mean of 7 equal numbers is rounded
    for steps in 6 7; do
        mpi 7 train c.yaml -q -o "$steps" --steps "$steps" train.nan=skip \
            train.batch_norm=local datapipe.shuffle=false >out
    done
    [ "$(steps 7 skipped)" = 7 ]
    near "$(last 6)" "$(last 7)" 0
}

# plugin SOURCE: for this build
plugin() {
    local top real=
    top=$(realpath "$BATS_TEST_DIRNAME/../..")
    if "$CELLRUN" version | grep float64 >/dev/null; then
        real=-DCELLRUN_DOUBLE
    fi
    # shellcheck disable=SC2086
    ${CC:-cc} -std=c17 -D_GNU_SOURCE -O2 -fPIC -shared $real -I"$top/src" \
        -o "$(basename "$1" .c).so" "$top/$1"
}

@test "plug-in cells with CELLRUN_SAMPLES_APART are shared out" {
    plugin configs/plugins/threshold.c
    plugin configs/plugins/net_with_param.c
    network <<'END'
plugin: [threshold.so, net_with_param.so]
network:
  fc: {Dense: [8, 16]}
  act: {ThresholdLayer: {threshold: 0.1, value: 0.05}}
  scale: {NetWithParam: {features: 16}}
  out: {Dense: [16, 3]}
END
    as_one 12 3e-6
    ! grep mixes err || false
}

@test "a step takes long: the progress thread polls, the bytes are the same" {
    local n
    plugin tests/soak/wait.c
    network <<'END'
plugin: wait.so
network:
  a: {Dense: [8, 300]}
  wait_a: {Wait: {seconds: 5e-4}}
  b: {Dense: [300, 300]}
  wait_b: {Wait: {seconds: 5e-4}}
  c: {Dense: [300, 300]}
  wait_c: {Wait: {seconds: 5e-4}}
  out: {Dense: [300, 3]}
END
    export CELLRUN_MPI=messages
    as_one 12 3e-6
    for n in 1 2; do
        mpi 2 train c.yaml -q -o "$n" --steps 60 >out 2>err &
        [ "$n" = 2 ] || within 20 thread_runs mpi-progress
        wait $!
    done
    near "$(last 1)" "$(last 2)" 0
}

# thread_runs NAME: in a process of the build under test
thread_runs() {
    local comm
    for comm in /proc/[0-9]*/task/*/comm; do
        if [ "$(cat "$comm")" = "$1" ] &&
            [ "$(readlink "${comm%/task/*}/exe")" = "$(realpath "$CELLRUN")" ]
        then return; fi
    done
    false
}

@test "weights of classes, ignored labels, accumulation, clip and EMA" {
    as_one 12 3e-6 train.grad_accumulation=2 train.clip.norm=0.5 \
        train.ema.decay=0.9 log.grad_norm=true \
        'loss={CrossEntropyLoss: {weight: [1, 3, 0.5], ignore_index: 2}}'
}

@test "batches that processes do not share evenly, or that are too few" {
    as_one 12 3e-6 datapipe.batch.batch_size=31 # 300 = 9 31 + 21
    as_one 6 3e-6 datapipe.batch.batch_size=99  # 300 = 3 99 + 3
}

@test "losses: each process computes its samples, sums are of all" {
    local loss
    for loss in '{CrossEntropyLoss: {label_smoothing: 0.1, reduction: sum}}' \
        '{MultiMarginLoss: {}}' \
        '{inputs: [logits, label], construct: "return (logits.square().mean(1)
          * (label + 1)).mean()"}' \
        '{inputs: [logits, label], construct: "l = cross_entropy(logits, label,
          reduction='"'none'"')\nreturn (l * l).sum() / l.shape[0]"}'; do
        as_one 6 1e-5 "loss=$loss"
    done
    [ ! -s err ] # no warning
}

@test "attention with a causal mask: samples stay apart" {
    network <<'END'
network:
  cells:
    enc:
      TransformerEncoderLayer: {d_model: 4, nhead: 2, dim_feedforward: 8,
                                batch_first: true, dropout: 0.1}
    out: {Dense: [8, 3]}
  construct: |
    h = x.reshape((-1, 2, 4))
    return out(enc(h, causal_mask(h)).reshape((-1, 8)))
END
    as_one 10 1e-5
    mpi 2 train c.yaml -q -o w --steps 1 >out 2>err
    run ! grep warning err
}

@test "overflows: all processes skip the same updates" {
    as_one 12 1e-2 'amp={level: O2, loss_scale: {DynamicLossScaler:
        {scale_value: 1.0e6, scale_factor: 2, scale_window: 3}}}'
    for run in one many; do
        jq -c 'select(.split == "overflow") | [.step, .loss_scale]' \
            $run/metrics.jsonl >$run.txt
    done
    [ -s one.txt ]
    diff one.txt many.txt
}

@test "the same bytes twice, and one run directory as of one process" {
    for run in a b; do
        mpi 3 train c.yaml -q -o $run --steps 8 >out
    done
    cmp "$(last a)" "$(last b)"
    [ "$(jq .ranks a/record.json)" = 3 ]
    run -0 "$CELLRUN" runs show a
    grep -qx 'ranks: 3' <<<"$output"
    "$CELLRUN" report a -o a.html -q
    grep -q 'Ranks' a.html
    [ "$(grep -c status: out)" = 1 ]
    grep -qx 'ranks: 3' out
    mpi 2 train c.yaml -q -o json --steps 1 --json >out
    jq -es '.[-1].ranks == 2' out
    "$CELLRUN" train c.yaml -q -o one --steps 8
    diff <(cd one && find . | sort) <(cd a && find . | sort)
    for run in a one; do # and the same scores
        jq -c 'select(.split == "eval") | [.accuracy, .samples]' \
            $run/metrics.jsonl >$run.txt
    done
    diff a.txt one.txt
}

@test "another number of processes continues: 1, 3, 2, 1" {
    "$CELLRUN" train c.yaml -q -o whole --steps 28
    "$CELLRUN" train c.yaml -q -o run --steps 7
    mpi 3 train c.yaml -q -o run --steps 14 --resume auto >out
    mpi 2 resume run -q --steps 21 >out
    "$CELLRUN" resume run -q --steps 28
    near "$(last whole)" "$(last run)" 1e-5
}

@test "an op that mixes samples: all processes compute it, with a warning" {
    network <<'END'
network:
  cells: {fc: {Dense: [8, 16]}, out: {Dense: [16, 3]}}
  construct: |
    h = fc(x)
    return out(h - h.sum(axis=0) / x.shape[0])
END
    as_one 6 3e-6
    mpi 2 train c.yaml -q -o w --steps 1 >out 2>err
    [ "$(grep -c "'sum' mixes the samples of a batch" err)" = 1 ]
}

@test "a config that is wrong is reported once" {
    run -2 --separate-stderr mpi 3 train c.yaml optimizer.Momentum.rate=1
    [ "$(grep -c "unknown argument 'rate'" <<<"$stderr")" = 1 ]
    # Open MPI's mpirun, on a loaded machine, can end before it has read what
    # a process wrote that ends before MPI_Init
    local i
    for i in 1 2 3; do
        run -2 --separate-stderr mpi 3 train c.yaml --wrong
        [[ $stderr != *"unknown flag"* ]] || break
    done
    [ "$(grep -c "unknown flag" <<<"$stderr")" = 1 ]
}

@test "messages instead of shared memory: the same training" {
    export CELLRUN_MPI=messages
    as_one 22 1e-5 train.grad_accumulation=2 train.ema.decay=0.9
    config c.yaml
    network <<'END'
network:
  cells:
    conv: {Conv2d: {in_channels: 2, out_channels: 4, kernel_size: 3}}
    bn: {BatchNorm2d: 4}
    out: {Dense: [16, 3]}
  construct: |
    h = bn(conv(x.reshape((-1, 2, 2, 2)))).relu()
    return out(h.reshape((x.shape[0], -1)))
END
    as_one 10 1e-4
    CELLRUN_MPI_TIMEOUT=1 mpi 3 train c.yaml -q -o r --epochs 100000 \
        >out 2>err 3>&- &
    within 20 test -s r/log.txt
    within 20 pgrep -f "^$CELLRUN train c.yaml -q -o r --epochs 100000"
    kill -STOP "$(pgrep -f "^$CELLRUN train c.yaml -q -o r --epochs" | tail -1)"
    ended
    [ "$status" = 1 ]
    # several may ask at once
    grep 'rank 2 on .* has not answered for 1 seconds' err
}

@test "large gradients, and more of them than memory for messages" {
    network <<'END'
network:
  a: {Dense: [8, 100000]}
  act: Tanh
  b: {Dense: [100000, 60]}
  out: {Dense: [60, 3]}
END
    as_one 2 3e-6
    mpi 3 train c.yaml -q -o three --steps 2 >out
    near "$(last one)" "$(last three)" 3e-6
}

@test "what one process cannot read ends all, with its message" {
    "$CELLRUN" train c.yaml -q -o run --steps 3
    cat >second <<END
#!/bin/sh
[ "\${OMPI_COMM_WORLD_RANK:-0}" = 0 ] || cd empty || exit
exec "$CELLRUN" "\$@"
END
    chmod +x second && mkdir empty
    local command
    for command in 'train c.yaml -q -o new' 'eval --ckpt run' \
        'resume run -q --steps 6' 'predict --ckpt run x.npy'; do
        # shellcheck disable=SC2086
        CELLRUN=$PWD/second CELLRUN_MPI_TIMEOUT=20 mpi 2 $command \
            >out 2>err && false
        grep -qE 'not found|No such file|cannot' err
        run ! grep -E 'has not answered|signal' err
    done
}

@test "data that one process does not find end all, with its message" {
    wide_network
    cat >second <<END
#!/bin/sh
[ "\${OMPI_COMM_WORLD_RANK:-0}" != "\$MISSES" ] || cd other || exit
exec "$CELLRUN" "\$@"
END
    chmod +x second && mkdir other && cp c.yaml other
    local rank
    for rank in 0 1 2; do
        MISSES=$rank CELLRUN=$PWD/second run -3 mpi 3 train c.yaml -q -o run
        [[ $output == *"train-x.npy"*" not found"* ]]
        [[ $output != *Signal* ]]
    done
}

@test "a process with another config or other data ends all at the start" {
    local what
    cat >second <<END
#!/bin/sh
[ "\${OMPI_COMM_WORLD_RANK:-0}" = 0 ] || cd other || exit
exec "$CELLRUN" "\$@"
END
    chmod +x second
    for what in values samples rate optimizer epochs steps; do
        rm -rf other
        mkdir other
        cp c.yaml ./*.npy other
        (cd other
            case $what in
            values) samples train 300 5 ;;
            samples) samples train 200 1 ;;
            rate) sed -i 's/0\.05/0.5/' c.yaml ;;
            epochs) sed -i 's/epochs: 3/epochs: 4/' c.yaml ;;
            steps) sed -i 's/epochs: 3/steps: 40/' c.yaml ;;
            optimizer) sed -i 's/Momentum: .*/Adam: {learning_rate: 0.01}}/' c.yaml ;;
            esac)
        cmp -s c.yaml other/c.yaml && cmp -s train-x.npy other/train-x.npy && false
        CELLRUN=$PWD/second run -2 mpi 2 train c.yaml -q -o run --force
        case $what in values | samples) what=data ;; *) what=config ;; esac
        [[ $output == *"error: $what: found "*"; rank 0 has "*"on rank 1 on "* ]]
        [[ $output != *config:* || $output == *", epochs 3 [E0016]"* ]]
    done
    cp c.yaml ./*.npy other
    CELLRUN=$PWD/second run -0 mpi 2 train c.yaml -q -o run --force
}

@test "processes with other commands: an error that names both" {
    "$CELLRUN" train c.yaml -q -o run
    cat >second <<END
#!/bin/sh
[ "\${OMPI_COMM_WORLD_RANK:-0}" = 0 ] || set -- "\$MORE" --ckpt run
exec "$CELLRUN" "\$@"
END
    chmod +x second
    MORE=predict CELLRUN=$PWD/second run -2 mpi 2 eval --ckpt run
    [[ $output == *"error: command: found predict; rank 0 has eval [E0016]"* ]]
    MORE=eval CELLRUN=$PWD/second run -2 mpi 2 train c.yaml -q -o new
    [[ $output == *"error: command: found eval; rank 0 has train [E0016]"* ]]
}

@test "processes with other kernels: an error that names both" {
    [[ $("$CELLRUN" version) == *"real: float32"* ]] || skip "double precision"
    cat >second <<END
#!/bin/sh
[ "\${OMPI_COMM_WORLD_RANK:-0}" = 0 ] || export CELLRUN_ISA=generic
exec "$CELLRUN" "\$@"
END
    chmod +x second
    CELLRUN=$PWD/second run -2 mpi 2 train c.yaml -q -o run
    [[ $output == *"error: kernels: found "*"; rank 0 has "* ]]
    [[ $output == *"machines of different processors need the same CELLRUN_ISA"* ]]
}

@test "eval and predict: another checkpoint or other data in a process" {
    local command
    cat >second <<END
#!/bin/sh
[ "\${OMPI_COMM_WORLD_RANK:-0}" = 0 ] || cd other || exit
exec "$CELLRUN" "\$@"
END
    chmod +x second
    "$CELLRUN" train c.yaml -q -o run
    mkdir other
    cp -r c.yaml ./*.npy run other
    for command in eval 'predict --data train -o out.tsv'; do
        # shellcheck disable=SC2086
        CELLRUN=$PWD/second run -0 mpi 2 $command --trust --ckpt run
    done
    (cd other && samples eval 100 5)
    CELLRUN=$PWD/second run -2 mpi 2 eval --ckpt run c.yaml
    [[ $output == *"error: data: found "*"; rank 0 has "*"on rank 1 on "* ]]
    (cd other && "$CELLRUN" train c.yaml -q -o run --force train.epochs=1)
    for command in eval 'predict --data train -o out.tsv'; do
        # shellcheck disable=SC2086
        CELLRUN=$PWD/second run -2 mpi 2 $command --trust --ckpt run
        [[ $output == *"error: c"*": found "*"; rank 0 has "* ]]
    done
}

@test "processes whose plans have another order of gradients: an error" {
    network <<'END'
network:
  cells:
    a: {Dense: {in_channels: 8, out_channels: 6, has_bias: false}}
    b: {Dense: {in_channels: 8, out_channels: 6, has_bias: false}}
    p: {Parameter: {shape: [6], init: {Normal: {sigma: 0.5}}}}
    out: {Dense: [6, 3]}
  construct: |
    return out(tanh(a(x) + p + b(tanh(x))))
END
    cat >second <<END
#!/bin/sh
[ "\${OMPI_COMM_WORLD_RANK:-0}" = 0 ] || export CELLRUN_PASSES=-fuse
exec "$CELLRUN" "\$@"
END
    chmod +x second
    CELLRUN=$PWD/second run -2 mpi 2 train c.yaml -q -o run
    [[ $output == *"the processes of mpirun have different plans"* ]]
}

@test "train.shard: each process has a part of the optimizer's state" {
    wide_network
    local n optim
    for optim in '{Adam: {learning_rate: 0.001}}' \
        '{Momentum: {learning_rate: 0.05, momentum: 0.9}}' \
        '{AdamWeightDecay: {learning_rate: 0.001, weight_decay: 0.01}}'; do
        for n in 2 3; do
            mpi "$n" train c.yaml -q -o whole --force --steps 22 \
                "optimizer=$optim" train.clip.norm=1 >out
            mpi "$n" train c.yaml -q -o parts --force --steps 22 \
                "optimizer=$optim" train.clip.norm=1 train.shard=optimizer >out
            near "$(last whole)" "$(last parts)" 0
        done
        mpi 2 train c.yaml -q -o whole --force --steps 22 "optimizer=$optim" \
            >out
        mpi 2 train c.yaml -q -o parts --force --steps 22 "optimizer=$optim" \
            train.shard=gradients >out
        near "$(last whole)" "$(last parts)" 0
        CELLRUN_MPI=messages mpi 2 train c.yaml -q -o parts --force --steps 22 \
            "optimizer=$optim" train.shard=gradients >out
        near "$(last whole)" "$(last parts)" 1e-6
    done
    # resumed with other numbers of processes, with and without
    "$CELLRUN" train c.yaml -q -o one --steps 28
    mpi 3 train c.yaml -q -o run --steps 7 train.shard=optimizer >out
    "$CELLRUN" ckpt show run >shown
    grep -q 'moments.b.weight.*60, 2100' shown
    "$CELLRUN" resume run -q --steps 14 train.shard=none
    mpi 2 resume run -q --steps 21 train.shard=optimizer >out
    mpi 4 resume run -q --steps 28 train.shard=none >out
    near "$(last one)" "$(last run)" 1e-5
}

@test "train.shard: slots begin with the values of the optimizer" {
    network <<'END'
network:
  a: {Dense: {in_channels: 8, out_channels: 2100, has_bias: false}}
  act: Tanh
  out: {Dense: [2100, 3]}
END
    local optim
    for optim in '{RMSProp: {learning_rate: 0.001}}' \
        '{Adagrad: {learning_rate: 0.01}}' '{FTRL: {learning_rate: 0.01}}' \
        '{SGD: {learning_rate: 0.05, momentum: 0.9, dampening: 0.5}}'; do
        mpi 2 train c.yaml -q -o whole --force --steps 4 "optimizer=$optim" >out
        mpi 2 train c.yaml -q -o parts --force --steps 4 "optimizer=$optim" \
            train.shard=optimizer >out
        near "$(last whole)" "$(last parts)" 0
    done
}

@test "train.shard: one step that writes a large and a small gradient" {
    local bias
    for bias in true false; do
        network <<END
network:
  a: {Dense: {in_channels: 8, out_channels: 4096, has_bias: $bias}}
  act: Tanh
  out: {Dense: [4096, 3]}
END
        mpi 2 train c.yaml -q -o whole --force --steps 4 >out
        mpi 2 train c.yaml -q -o parts --force --steps 4 \
            train.shard=gradients >out
        near "$(last whole)" "$(last parts)" 0
    done
}

@test "train.shard goes with the optimizers that do not need norms" {
    run -2 --separate-stderr "$CELLRUN" train c.yaml --dry-run \
        train.shard=optimizer 'optimizer={Lamb: {learning_rate: 0.01}}'
    [[ $stderr == *"Lamb needs norms of whole parameters"* ]]
    run -2 --separate-stderr "$CELLRUN" train c.yaml --dry-run \
        train.shard=gradients train.clip.norm=1
    [[ $stderr == *"found gradients with a setting"* ]]
    "$CELLRUN" train c.yaml -q -o r --steps 2 train.shard=gradients
}

@test "a sample that one process cannot use ends all of them" {
    perl -e 'print pack "l<*", map { $_ == 299 ? 7 : $_ % 3 } 0 .. 299' |
        npy train-y.npy '<i4' '(300,)'
    run -3 --separate-stderr mpi 2 train c.yaml -q -o r
    [[ $stderr == *"of sample 299 is 7"* ]]
    [ "$(jq -r .status r/record.json)" = failed ]
}

@test "a process that is killed ends all of them" {
    mpi 2 train c.yaml -q -o r --epochs 100000 >out 2>err 3>&- &
    within 20 test -s r/log.txt
    within 20 pgrep -f "^$CELLRUN train c.yaml -q -o r --epochs 100000"
    kill -KILL "$(pgrep -f "^$CELLRUN train c.yaml -q -o r --epochs" | tail -1)"
    ended
    [ "$status" != 0 ]
    run ! pgrep -f "^$CELLRUN train c.yaml -q -o r --epochs 100000"
}

@test "a signal to any process ends all of them after the same step" {
    mpi 2 train c.yaml -q -o r --epochs 100000 >out 2>err 3>&- &
    within 20 test -e r/ckpt/last.safetensors
    kill -TERM "$(pgrep -f "^$CELLRUN train c.yaml -q -o r --epochs" | tail -1)"
    ended
    [ "$status" = 143 ]
    [ "$(jq -r .status r/record.json)" = terminated ]
    step=$(jq .steps r/record.json)
    mpi 2 train c.yaml -q -o r --resume auto --steps $((step + 2)) >out
    [ "$(jq .steps r/record.json)" = $((step + 2)) ]
}

@test "a computed index out of range in one process ends all, as in one" {
    network <<'END'
network:
  cells:
    table: {Embedding: {vocab_size: 4, embedding_size: 8}}
    out: {Dense: [16, 3]}
  construct: |
    i = cast(x[:, 0] * 2 + 2, "int32")
    return out(concat((table(i), x), axis=1))
END
    run -3 --separate-stderr "$CELLRUN" train c.yaml -q -o one
    one=$(grep -o 'an index computed.*' <<<"$stderr")
    [ -n "$one" ]
    run -3 --separate-stderr mpi 3 train c.yaml -q -o many
    [ "$(grep -c 'an index computed' <<<"$stderr")" = 1 ]
    [ "$(grep -o 'an index computed.*' <<<"$stderr")" = "$one" ]
    for run in one many; do
        jq -c '[.status, .steps]' $run/record.json >$run.txt
    done
    diff one.txt many.txt
    grep failed one.txt
}

@test "predict: process 0 cannot write any more, in the middle of its work" {
    samples eval 4000 2
    "$CELLRUN" train c.yaml -q -o r --steps 2
    run -1 --separate-stderr mpi 2 predict --ckpt r --data eval --probs \
        --format tsv -o /dev/full
    [[ $stderr == *"/dev/full"* ]]
}

@test "a process without memory: the message says which" {
    network <<'END'
network:
  wide: {Dense: [8, 10000000]}
  out: {Dense: [10000000, 3]}
END
    command -v mpirun.openmpi >/dev/null || skip 'no mpirun.openmpi'
    run ! --separate-stderr timeout 100 mpirun.openmpi --allow-run-as-root \
        --oversubscribe -n 1 "$CELLRUN" train c.yaml -q -o r --steps 1 : -n 1 \
        bash -c 'ulimit -v 900000; exec "$@"' - \
        "$CELLRUN" train c.yaml -q -o r --steps 1
    [[ $stderr == *"out of memory"*"on rank 1 on $(hostname)"* ]]
}

@test "a process that cannot start as the others ends all, with a message" {
    [[ $("$CELLRUN" version) != *-fsanitize* ]] ||
        skip 'a sanitizer must be the first library that is loaded'
    cat >second <<END
#!/bin/sh
[ "\${OMPI_COMM_WORLD_RANK:-0}" = 0 ] ||
    export INJECT_KIND=reopen INJECT_AT=1 \\
        LD_PRELOAD=$BUILD/tests/inject/inject.so
exec "$CELLRUN" "\$@"
END
    chmod +x second
    CELLRUN=$PWD/second run -1 mpi 2 train c.yaml -q -o r
    [[ $output == *"cannot write /dev/null: Too many open files"* ]]
    [[ $output == *"on rank 1 on $(hostname)"* ]]
}

@test "no memory for what processes share: messages, or a message" {
    [[ $("$CELLRUN" version) != *-fsanitize* ]] ||
        skip 'a sanitizer must be the first library that is loaded'
    wide_network
    local rank at
    mpi 2 train c.yaml -q -o all --steps 3
    CELLRUN_MPI=messages mpi 2 train c.yaml -q -o sent --steps 3
    cat >second <<END
#!/bin/sh
[ "\${OMPI_COMM_WORLD_RANK:-0}" != "\$RANK" ] ||
    export INJECT_KIND=allocate INJECT_LOG=$PWD/log \\
        LD_PRELOAD=$BUILD/tests/inject/inject.so
exec "$CELLRUN" "\$@"
END
    chmod +x second
    # the first calls: seats; in process 0, parameters; gradients
    for rank in 0 1; do
        for ((at = 1; at <= 3 - rank; at++)); do
            rm -f log
            CELLRUN=$PWD/second RANK=$rank INJECT_AT=$at \
                mpi 2 train c.yaml -q -o some --force --steps 3
            grep '^failed allocate .*memfd:cellrun-mpi' log
            near "$(last all)" "$(last some)" 1e-6
            [ "$at" != 1 ] || cmp "$(last sent)" "$(last some)"
        done
    done
    # sums under way
    CELLRUN=$PWD/second RANK=1 INJECT_AT=3 \
        run -1 mpi 2 train c.yaml -q -o some --force
    [[ $output == *"out of memory"*"on rank 1 on $(hostname)"* ]]
}

@test "a process that hangs ends all after CELLRUN_MPI_TIMEOUT" {
    CELLRUN_MPI_TIMEOUT=1 mpi 3 train c.yaml -q -o r --epochs 100000 \
        >out 2>err 3>&- &
    within 20 test -s r/log.txt
    within 20 pgrep -f "^$CELLRUN train c.yaml -q -o r --epochs 100000"
    kill -STOP "$(pgrep -f "^$CELLRUN train c.yaml -q -o r --epochs" | tail -1)"
    ended
    [ "$status" = 1 ]
    [ "$(grep -c 'rank 2 on .* has not answered for 1 seconds' err)" = 1 ]
    run ! pgrep -f "^$CELLRUN train c.yaml -q -o r --epochs 100000"
}

@test "accumulation: one sum per update, of batches of all sizes" {
    # 300 = 9 32 + 12; of 4 processes and batches of 99, the last one of 3 is
    # computed by each
    as_one 10 3e-6 train.grad_accumulation=3
    as_one 6 3e-6 train.grad_accumulation=4 datapipe.batch.batch_size=99
}

@test "a number made of the batch size, the same in some processes alone" {
    network <<'END'
network:
  cells: {fc: {Dense: [8, 16]}, out: {Dense: [16, 3]}}
  construct: |
    h = fc(x)
    return out(clamp(h, -1, x.shape[0] // 6))
END
    as_one 6 3e-6 datapipe.batch.batch_size=11 # 6 + 5, 3 + 3 + 3 + 2
}

@test "MPICH: two processes train as one" {
    command -v mpirun.mpich >/dev/null || skip 'no mpirun.mpich'
    [ -e "$BUILD/cellrun-mpi-mpich.so" ] || skip 'built without MPICH'
    "$CELLRUN" train c.yaml -q -o one --steps 10
    timeout 100 mpirun.mpich -n 2 "$CELLRUN" train c.yaml -q -o many \
        --steps 10 >out
    near "$(last one)" "$(last many)" 3e-6
}

@test "eval and predict give the same results" {
    "$CELLRUN" train c.yaml -q -o r --steps 19
    "$CELLRUN" eval --ckpt r --per-class --json >one
    mpi 3 eval --ckpt r --per-class --json >many
    diff one many
    "$CELLRUN" predict --ckpt r --data eval --probs -o one.tsv
    mpi 3 predict --ckpt r --data eval --probs -o many.tsv
    [ "$(wc -l <many.tsv)" = 100 ]
    cmp one.tsv many.tsv
    run -2 --separate-stderr mpi 2 predict --ckpt r - </dev/null
    [ "$(grep -c 'standard input goes to one process' <<<"$stderr")" = 1 ]
}

@test "predict to files of process 0; a file that it cannot write ends all" {
    "$CELLRUN" train c.yaml -q -o r --steps 2
    "$CELLRUN" predict --ckpt r --data eval --probs -o one.npz
    mpi 2 predict --ckpt r --data eval --probs -o many.npz
    "$CELLRUN" ckpt diff one.npz many.npz
    # a terminal of mpirun's own may stand before the file
    mpi 2 predict --ckpt r --data eval --probs --format npz >many.npz
    cmp one.npz many.npz
    run -1 --separate-stderr mpi 2 predict --ckpt r --data eval -o no/x.csv
    [ "$(grep -c 'no/x.csv' <<<"$stderr")" = 1 ]
}

@test "a network with the batch size in it: all processes compute it" {
    network <<'END'
network:
  cells: {fc: {Dense: [8, 16]}, out: {Dense: [16, 3]}}
  construct: |
    h = fc(reshape(x, (16, 8)))
    return out(h.relu())
END
    sed -i -e 's/batch_size: 16/batch_size: 16, drop_remainder: true/' \
        -e '/^  eval:/d' -e '/^metrics/d' c.yaml
    as_one 6 3e-6
}

@test "processes of one row and of two, of five and of six: one plan for all" {
    # (1, 6) of another branch looks like a bias
    network <<'END'
network:
  cells:
    a: {Dense: {in_channels: 8, out_channels: 6, has_bias: false}}
    b: {Dense: {in_channels: 8, out_channels: 6, has_bias: false}}
    out: {Dense: [6, 3]}
  construct: |
    return out(tanh(a(x) + b(tanh(x))))
END
    "$CELLRUN" train c.yaml -q -o one --steps 6 datapipe.batch.batch_size=3
    mpi 2 train c.yaml -q -o two --steps 6 datapipe.batch.batch_size=3 >out
    near "$(last one)" "$(last two)" 1e-4
    # 300 = 5 * 59 + 5
    "$CELLRUN" train c.yaml -q -o rest --steps 7 datapipe.batch.batch_size=59
    mpi_by messages 4 train c.yaml -q -o four --steps 7 \
        datapipe.batch.batch_size=59 >out
    near "$(last rest)" "$(last four)" 1e-4
    # so does a parameter look like what is added
    network <<'END'
network:
  cells:
    fc: {Dense: [8, 6]}
    bn: BatchNorm1d
    p: {Parameter: {shape: [1, 6], init: {Normal: {sigma: 0.5}}}}
    out: {Dense: [6, 3]}
  construct: |
    return out(tanh(bn(fc(x)) + p))
END
    "$CELLRUN" train c.yaml -q -o bn --steps 5 datapipe.batch.batch_size=3
    mpi 2 train c.yaml -q -o bn2 --steps 5 datapipe.batch.batch_size=3 >out
    near "$(last bn)" "$(last bn2)" 1e-4
    # a parameter larger than the result of one process, but not of the other
    network <<'END'
network:
  cells:
    fc: {Dense: [8, 5]}
    a: {Dense: [5, 5]}
    c: {Dense: {in_channels: 5, out_channels: 5, has_bias: false}, share: {weight: a.weight}}
    out: {Dense: [5, 3]}
  construct: |
    return out(tanh(c(tanh(a(tanh(fc(x)))))))
amp: {level: O3, dtype: bfloat16, cast: {float32: ['c']}}
END
    "$CELLRUN" train c.yaml -q -o low --steps 5 datapipe.batch.batch_size=11
    mpi 2 train c.yaml -q -o low2 --steps 5 datapipe.batch.batch_size=11 >out
    near "$(last low)" "$(last low2)" 1e-2
}

@test "samples.json has the labels of all processes" {
    "$CELLRUN" train c.yaml -q -o one --steps 4
    mpi 4 train c.yaml -q -o many --steps 4 >out
    jq -c '[.. | objects | select(has("label")) | .label]' one/samples.json >a
    jq -c '[.. | objects | select(has("label")) | .label]' many/samples.json >b
    [ "$(jq length a)" -ge 16 ]
    cmp a b
}

@test "bench --mpi: what a step sends, and the times expected" {
    network <<'END'
network:
  fc: {Dense: [8, 300]}
  bn: {BatchNorm1d: 300}
  act: ReLU
  out: {Dense: [300, 3]}
END
    local numbers=$((8 * 300 + 300 + 2 * 300 + 300 * 3 + 3)) waits size=4
    [[ $("$CELLRUN" version) == *"real: float32"* ]] || size=8
    set -- bench c.yaml --mpi --json --warmup 1 --repeat 1
    mpi 2 "$@" >out
    jq -e ".processes == 2 and .rows * 2 == .batch and .sum_bytes == $size * $numbers" out
    jq -e '.latency > 0 and .seconds > 0 and .compute_seconds > 0 and
        .hidden >= 0 and .hidden <= 1 and .skew_seconds >= 0' out
    jq -e '[.expected[].processes] == [range(11) | pow(2; .)]' out
    jq -e '.expected[0] | .efficiency == 1 and .batch_each.efficiency == 1' out
    waits=$(jq .waits out)
    mpi 2 "$@" train.reduce_dtype=bfloat16 >out
    jq -e ".sum_bytes == 2 * $numbers" out
    mpi 2 "$@" train.batch_norm=local >out
    jq -e ".waits == $waits - 2" out
    mpi 2 bench c.yaml --mpi --warmup 1 --repeat 1 >out
    grep -q '^processes: *2 with' out
    grep -q '^ *1024 ' out
    run -2 "$CELLRUN" bench c.yaml --mpi
    [[ $output == *"--mpi: found one process, expected at least two"* ]]
    run -2 mpi 2 bench c.yaml --mpi --batch 3
    [[ $output == *"--mpi: found a batch of 3, expected at least two rows"* ]]
    run -2 mpi 2 bench c.yaml --mpi --batch 8,16
    [[ $output == *"--mpi: found 2 batch sizes, expected one"* ]]
    run -2 mpi 2 bench c.yaml --mpi --kernels
    [[ $output == *"--mpi cannot be combined with --kernels"* ]]
    run -2 mpi 2 bench c.yaml --mpi nosuch.key=1
    [ "$(grep -c nosuch <<<"$output")" -ge 1 ]
    # without it, process 0 alone
    mpi 2 bench c.yaml --json --warmup 1 --repeat 1 >out
    [ "$(jq -s length out)" = 1 ]
}

@test "CELLRUN_MPI=off: processes work alone" {
    CELLRUN_MPI=off run -0 mpi 2 train c.yaml --dry-run -q
    [ "$(grep -c 'status: dry_run' <<<"$output")" = 2 ]
    run -0 mpi 2 train c.yaml --dry-run -q
    [ "$(grep -c 'status: dry_run' <<<"$output")" = 1 ]
}

@test "built without MPI: mpirun is an error, one process is not" {
    cp "$CELLRUN" alone
    CELLRUN=$PWD/alone run -1 --separate-stderr mpi 2 train c.yaml --dry-run
    [ "$(grep -c 'cellrun-mpi-openmpi.so cannot be loaded' <<<"$stderr")" = 1 ]
    ./alone train c.yaml --dry-run -q
}
