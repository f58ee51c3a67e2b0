# train.nan: what a loss that is not finite leads to.
bats_require_minimum_version 1.5.0
set -o pipefail
load small

setup() {
    cd "$BATS_TEST_TMPDIR"
    unset CELLRUN_SET CELLRUN_DATA CELLRUN_RUNS
    config c.yaml
    huge=1e30 tiny=1e-30 # what is far too large, and makes it 1
    [ "$("$CELLRUN" version --json | jq -r .real)" = float32 ] ||
        huge=1e300 tiny=1e-300
}

# records DIR: without what is measured
records() {
    sed 's/"t":[^,]*,//; s/,"samples_per_s.*//' "$1/metrics.jsonl"
}

# spoil: sample 0 of train-x.npy is not a number
spoil() {
    perl -e 'open my $f, "+<", "train-x.npy"; seek $f, 128, 0;
        print $f pack "f<", "nan"' # after the head of 128 bytes
}

# batchnorm: with moving statistics
batchnorm() {
    sed -i 's/^  act: ReLU/  bn: {BatchNorm1d: [16]}\n  act: ReLU/' c.yaml
}

# burst N: a rate that is far too large at update N, from 0
burst() {
    echo "optimizer.learning_rate=[$(yes 0.01, | head -"$1" | xargs) $huge, 0.01]"
}

@test "skip: with other batches the counts go along" {
    config c.yaml
    perl -e 'open my $f, "+<", "train-x.npy"; for my $i (0 .. 9) {
        seek $f, 128 + 32 * $i * 30, 0; print $f pack "f<", "nan" }'
    run -0 "$CELLRUN" train c.yaml -q train.nan=skip 'checkpoint.every=1 steps' -o a
    left=$("$CELLRUN" ckpt show a/ckpt/last --meta cellrun.state | jq .nan.skipped)
    [ "$left" -gt 6 ]
    # all in one batch: 3 steps so far, fewer than the skipped updates
    run -0 --separate-stderr "$CELLRUN" resume a --allow-change -q --epochs 4 \
        datapipe.batch.batch_size=300
    "$CELLRUN" ckpt show a/ckpt/last --meta cellrun.state |
        jq -e '.step == 4 and .optimizer.t >= 0 and .nan.skipped <= 4'
}

@test "skip: the update is skipped and counted, without any effect" {
    spoil
    batchnorm
    set -- train c.yaml -q 'log.every=1 steps' 'checkpoint.every=7 steps' \
        train.nan=skip
    run -0 --separate-stderr "$CELLRUN" "$@" -o a
    # one batch of every epoch
    [ "$(steps a skipped | wc -w)" = 3 ]
    jq -e -s 'map(select(.split == "train")) | last | .skipped == 3' \
        a/metrics.jsonl
    jq -e -s 'map(select(.split == "skipped")) | last |
        .what == "the loss" and .skipped == 3 and .in_a_row == 1' \
        a/metrics.jsonl
    jq -e 'select(.split == "eval") | .loss < 10' a/metrics.jsonl
    # a rate is taken where there is an update
    run -0 "$CELLRUN" "$@" -o l --epochs 1 \
        "optimizer.learning_rate=[$(seq -s, 0.001 0.001 0.018)]"
    jq -e -s 'map(select(.split == "train")) | last | .lr == 0.018' \
        l/metrics.jsonl
    # resumed before, between and after them
    run -0 "$CELLRUN" "$@" -o b --steps 1
    for n in 2 20 23 57; do
        run -0 "$CELLRUN" resume b -q --steps $n
    done
    run -0 "$CELLRUN" train c.yaml -q 'log.every=1 steps' \
        'checkpoint.every=7 steps' train.nan=skip train.steps=57 -o c
    cmp b/ckpt/last.safetensors c/ckpt/last.safetensors
    diff <(records a | grep -v eval) <(records b | grep -v eval)
    run -5 --separate-stderr "$CELLRUN" "$@" -o d train.nan=stop
    [[ $stderr == *"the loss is not finite at step"*"[E0401]"* ]]
}

@test "skip: one step with nothing but that batch changes nothing" {
    batchnorm
    cp train-x.npy good-x.npy
    spoil
    set -- -q --steps 1 --seed 3 train.overfit_batches=1 \
        'dataset.train.shuffle=false' 'datapipe.batch.batch_size=16'
    run -0 "$CELLRUN" train c.yaml "$@" train.nan=skip -o a
    [ "$(steps a skipped)" = 1 ]
    mv good-x.npy train-x.npy
    run -0 "$CELLRUN" train c.yaml "$@" train.nan=skip -o b \
        optimizer.Momentum.learning_rate=0 optimizer.Momentum.weight_decay=0
    for match in 'fc.*' 'bn.gamma' 'bn.beta' 'out.*'; do
        run -0 "$CELLRUN" ckpt diff --match "$match" a b
    done
    # statistics are those of the start, which b has left
    run -6 "$CELLRUN" ckpt diff --match 'bn.moving_*' a b
    run -0 "$CELLRUN" train c.yaml "$@" -o c freeze.patterns='bn.*' \
        freeze.bn_stats=frozen optimizer.Momentum.learning_rate=0 \
        optimizer.Momentum.weight_decay=0
    run -0 "$CELLRUN" ckpt diff --match 'bn.moving_*' a c
}

@test "skip gives up after N consecutive updates" {
    run -5 --separate-stderr "$CELLRUN" train c.yaml -q -o a train.nan=skip \
        train.nan_give_up_after=4 "$(burst 5)"
    [[ $stderr == *"4 consecutive updates were skipped: "*"[E0401]"* ]]
    jq -e -s 'map(select(.split == "skipped")) | length == 4' a/metrics.jsonl
}

@test "skip names the cell, once for consecutive updates" {
    run -5 --separate-stderr "$CELLRUN" train c.yaml -o a train.nan=skip \
        train.nan_give_up_after=9 "$(burst 5)"
    [ "$(grep -c 'update skipped' <<<"$stderr")" = 1 ]
    [[ $stderr == *"the loss is not finite at step "*"; the first output that is not finite: "*": update skipped"* ]]
    [[ $stderr == *"9 consecutive updates were skipped: the loss is not finite at step "*"; the first output that is not finite: "*"[E0401]"* ]]
    [ "$(value skipped)" = 9 ]
    # each single one
    config c.yaml
    spoil
    run -0 --separate-stderr "$CELLRUN" train c.yaml -o b train.nan=skip
    [ "$(grep -c 'update skipped' <<<"$stderr")" = 3 ]
}

@test "fallback: back to the last checkpoint, a smaller rate, all recorded" {
    set -- train c.yaml -q 'log.every=1 steps' 'checkpoint.every=7 steps' \
        train.nan=fallback train.nan_factor=$tiny
    run -0 --separate-stderr "$CELLRUN" "$@" -o a "$(burst 30)"
    [ "$(value status)" = completed ]
    jq -e -s 'map(select(.split == "fallback")) | length == 1 and
        (.[0] | .step == 28 and .from >= 31 and .fallbacks == 1 and
         .factor == '$tiny')' a/metrics.jsonl
    # every step once, and the rate of those after it
    [ "$(steps a train)" = "$(seq -s ' ' 57)" ]
    jq -e -s 'map(select(.split == "train" and .step == 29)) | .[0].lr | . > 0 and . < '$tiny'' \
        a/metrics.jsonl
    grep -q 'is not finite.*: falling back to step 28, all learning rates multiplied by 1e-300\{0,1\} ' a/log.txt
    # with grouped rates too
    run -0 "$CELLRUN" "$@" -o g "$(burst 30)" \
        'optimizer.group_params=[{params: "out.*", learning_rate: 0.02}]'
}

@test "fallback: resumed at any place, the same bytes" {
    set -- 'log.every=1 steps' 'checkpoint.every=7 steps' train.nan=fallback \
        train.nan_factor=$tiny train.ema.decay=0.9 "$(burst 30)" \
        '~dataset.eval' --steps # an end is evaluated, and may be the best
    run -0 "$CELLRUN" train c.yaml -q -o a "$@" 57
    for n in 3 12 29 30 36; do
        run -0 "$CELLRUN" train c.yaml -q -o "b$n" "$@" $n
        run -0 "$CELLRUN" resume "b$n" -q --steps 57
        cmp a/ckpt/last.safetensors "b$n/ckpt/last.safetensors"
        equal records a "b$n"
    done
}

@test "fallback: to the start where there is nothing else; it gives up" {
    run -5 --separate-stderr "$CELLRUN" train c.yaml -o a -q \
        train.nan=fallback train.nan_give_up_after=3 "$(burst 3)"
    [[ $stderr == *"(after 3 fallbacks) [E0401]"* ]]
    jq -e -s 'map(select(.split == "fallback") | [.step, .factor]) ==
        [[0, 0.5], [0, 0.25], [0, 0.125]]' a/metrics.jsonl
    [ "$(ls a/ckpt)" = "c-1_0.safetensors
last.safetensors" ]
    run -0 "$CELLRUN" ckpt verify a/ckpt/last.safetensors
}

@test "fallback: after an unfreezing, to before it" {
    set -- -q 'log.every=1 steps' 'checkpoint.every=7 steps' \
        train.nan=fallback train.nan_factor=$tiny 'freeze.patterns=["fc.*"]' \
        'freeze.schedule=[{at: 10 steps, unfreeze: "fc.*"}]' "$(burst 11)"
    run -0 "$CELLRUN" train c.yaml -o a "$@" --steps 40
    jq -e -s 'map(select(.split == "fallback") | .step) == [7]' a/metrics.jsonl
    run -0 "$CELLRUN" train c.yaml -o b "$@" --steps 9
    run -0 "$CELLRUN" resume b -q --steps 40
    cmp a/ckpt/last.safetensors b/ckpt/last.safetensors
}

@test "fallback when the scaler gives up, with its scale of then" {
    set -- -q amp.level=O2 'checkpoint.every=7 steps' \
        'amp.loss_scale={DynamicLossScaleManager: {init_loss_scale: 1024}}' \
        amp.overflow.give_up_after=3 train.nan=fallback \
        train.nan_factor=$tiny "$(burst 9)"
    run -0 "$CELLRUN" train c.yaml -o a "$@" --steps 40
    jq -e -s 'map(select(.split == "fallback")) | length == 1' a/metrics.jsonl
    run -0 "$CELLRUN" train c.yaml -o b "$@" --steps 10
    run -0 "$CELLRUN" resume b -q --steps 40
    cmp a/ckpt/last.safetensors b/ckpt/last.safetensors
}

@test "fallback needs whole checkpoints" {
    run -2 --separate-stderr "$CELLRUN" train c.yaml -o a -q train.nan=fallback \
        --no-ckpt
    [[ $stderr == *"'train.nan: fallback' needs checkpoints that can be resumed, but --no-ckpt writes none"* ]]
    run -2 --separate-stderr "$CELLRUN" check c.yaml train.nan=fallback \
        checkpoint.weights_only=true
    [[ $stderr == *"but 'checkpoint.weights_only' saves only weights"* ]]
    # a damaged one is no good
    run -0 "$CELLRUN" train c.yaml -o b -q train.nan=fallback --steps 10 \
        'checkpoint.every=7 steps' "$(burst 12)"
    perl -e 'open my $f, "+<", $ARGV[0]; seek $f, -1, 2; print $f "\x55"' \
        b/ckpt/c-1_7.safetensors
    run -5 --separate-stderr "$CELLRUN" resume b -q --steps 40
    [[ $stderr == *"c-1_7.safetensors"*"checksum"*"is not finite"* ]]
}

@test "a result that the loss does not read has no gradient to check yet" {
    export CELLRUN_VERIFY=1 # NaN where nothing is written
    cat >net.yaml <<'END'
base: c.yaml
network: !replace
  cells: {a: {Dense: [8, 16]}, b: {Dense: [16, 3]}}
  construct: |
    y = a(x)
    return b(y), y
loss: !replace
  inputs: [z, y, label]
  construct: return cross_entropy(z, label)
metrics: !replace []
END
    for amp in O0 O2; do
        for threads in 1 2; do
            run -0 "$CELLRUN" train net.yaml -q --force -o r train.steps=3 \
                amp.level=$amp amp.dtype=bfloat16 --threads $threads
            [[ $output == *completed* && $output != *skipped* ]]
        done
    done
    # that of the other one is checked
    run -5 "$CELLRUN" train net.yaml -q --force -o r train.steps=3 \
        loss.construct="return cross_entropy(z, label) * $huge * $huge"
}
