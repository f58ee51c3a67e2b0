# Learning rates that change: what a run uses, and that it resumes exactly.
bats_require_minimum_version 1.5.0
set -o pipefail

setup() {
    . "$BATS_TEST_DIRNAME/small.bash"
    cd "$BATS_TEST_TMPDIR"
    unset CELLRUN_SET CELLRUN_DATA CELLRUN_RUNS CELLRUN_THREADS
    config c.yaml
    cosine='{CosineDecayLR: {max_lr: 0.1, min_lr: 0.0, decay_steps: 2 epochs}, warmup: 10%}'
}

rates() {
    sed -n 's/.*"lr":\([-0-9.e]*\),.*/\1/p' "$1/metrics.jsonl"
}

@test "a cosine over two epochs, after a warmup of a tenth" {
    run -0 "$CELLRUN" train c.yaml -o r -q --epochs 3 log.every=1 \
        "optimizer.learning_rate=$cosine"
    # 19 steps an epoch: 57 updates, 5.7 of them rise
    rates r | awk 'BEGIN { pi = atan2(0, -1) }
        { s = NR - 1
          c = s < 38 ? 0.05 * (1 + cos(pi * s / 38)) : 0
          if (s < 5.7) c = 0.1 * s / 5.7
          if (($1 - c) ^ 2 > 1e-14) { print s, $1, c; bad = 1 } }
        END { exit bad || NR != 57 }'
}

@test "a schedule resumes to the same bytes" {
    for lr in "$cosine" \
        '{cosine_decay_lr: {min_lr: 0.0, max_lr: 0.1, decay_epoch: 3}}' \
        '{piecewise_constant_lr: {milestone: [20, 40], learning_rates: [0.1, 0.01]}, warmup: 1 epoch}'
    do
        rm -rf a b
        "$CELLRUN" train c.yaml -o a -q --epochs 3 checkpoint.every=9 \
            "optimizer.learning_rate=$lr"
        cp -r a b
        # the place between two epochs, and all that came later gone
        rm b/ckpt/last.safetensors b/ckpt/best.safetensors b/ckpt/c-3_*
        sed -i 's/"completed"/"running"/' b/record.json
        run -0 --separate-stderr "$CELLRUN" resume b --trust
        [[ $stderr == *"resumed from b/ckpt/c-2_"* ]]
        cmp a/ckpt/last.safetensors b/ckpt/last.safetensors
    done
}

@test "quantities of a schedule that do not apply to the run" {
    run -2 "$CELLRUN" train c.yaml -o r -q \
        'optimizer.learning_rate={WarmUpLR: {learning_rate: 0.1, warmup_steps: 3 min}}'
    [[ $output == *"'warmup_steps': expected steps, epochs or a percentage"* ]]
    run -2 "$CELLRUN" check c.yaml \
        'optimizer.learning_rate={WarmUpLR: {learning_rate: 0.1, warmup_steps: 0}}'
    [[ $output == *"'warmup_steps': expected more than 0"* ]]
    run -2 "$CELLRUN" check c.yaml \
        'optimizer.learning_rate={WarmUpLR: {learning_rate: 0.1, warmup_steps: 3}, warm: 3}'
    [[ $output == *"did you mean 'warmup'"* ]]
    [ ! -e r ]
}

@test "ReduceLROnPlateau reduces the rate after evaluations without improvement, and resumes" {
    plateau='{ReduceLROnPlateau: {learning_rate: 0.04, monitor: accuracy, factor: 0.5, patience: 1, min_delta: 0.02, cooldown: 1}}'
    set -- -q log.every=1 eval.every='7 steps' checkpoint.every='5 steps' \
        checkpoint.keep_checkpoint_max=100 "optimizer.learning_rate=$plateau"
    run -0 --separate-stderr "$CELLRUN" train c.yaml -o a --epochs 5 "$@"
    # by hand, from the evaluations that were planned, to the rate after them
    jq -s -r '.[] | select(.split == "eval" and .step % 7 == 0) |
        "\(.step) \(.accuracy)"' a/metrics.jsonl >evals
    jq -s -r '.[] | select(.split == "train") | "\(.step) \(.lr)"' \
        a/metrics.jsonl >rates
    awk 'BEGIN { lr = 0.04; best = -1 }
        FILENAME == "evals" {
            if (cool > 0) { cool--; wait = 0 }
            if ($2 > best + 0.02) { best = $2; wait = 0 }
            else if (cool == 0 && ++wait >= 1) {
                lr = lr * 0.5; cool = 1; wait = 0; fell++
            }
            rate[$1] = lr
            next
        }
        {
            last = int(($1 - 1) / 7) * 7
            want = last ? rate[last] : 0.04
            if (($2 - want) ^ 2 > 1e-20) { print $1, $2, want; bad = 1 }
        }
        END { exit bad || FNR != 95 || fell < 2 }' evals rates
    run -0 "$CELLRUN" train c.yaml -o b --epochs 5 "$@"
    cp -r b whole
    for step in 80 30 45; do # back to there: a fall, a cooldown, between
        rm b/ckpt/last.safetensors b/ckpt/best.safetensors
        for f in b/ckpt/c-*; do
            n=${f%.*} e=${n##*-} k=${e#*_}
            [ $(((${e%_*} - 1) * 19 + k)) -le $step ] || rm "$f"
        done
        sed -i 's/"completed"/"running"/' b/record.json
        run -0 --separate-stderr "$CELLRUN" resume b --progress plain --trust
        [[ $stderr == *"at step $step"* ]]
        cmp a/ckpt/last.safetensors b/ckpt/last.safetensors
        rm -r b
        cp -r whole b
    done
    # after a warm-up, and with groups that have their own rate
    run -0 "$CELLRUN" train c.yaml -o c --epochs 2 "$@" \
        "optimizer.learning_rate=${plateau%\}}, warmup: 4 steps}" \
        'optimizer.group_params=[{params: "out.*", learning_rate: 0.02}]'
    jq -s -e 'map(select(.split == "train") | .lr) | .[0] == 0 and
        .[2] == 0.02 and .[5] == 0.04' c/metrics.jsonl
}

@test "ReduceLROnPlateau needs a metric and is not allowed in a group" {
    plateau='{ReduceLROnPlateau: {learning_rate: 0.04, monitor: acuracy}}'
    run -2 "$CELLRUN" train c.yaml -o r "optimizer.learning_rate=$plateau"
    [[ $output == *"metric 'acuracy' not found"*"did you mean 'accuracy'?"* ]]
    run -2 "$CELLRUN" train c.yaml -o r "optimizer.learning_rate=$plateau" \
        '~dataset.eval'
    [[ $output == *"'ReduceLROnPlateau' needs an evaluation, but 'dataset.eval' is missing"* ]]
    run -2 "$CELLRUN" check c.yaml \
        "optimizer.group_params=[{params: 'out.*', learning_rate: $plateau}]"
    [[ $output == *"ReduceLROnPlateau is not allowed in a group"* ]]
    [ ! -e r ]
}
