# Learning rates that change: what a run uses, and that it resumes exactly.
bats_require_minimum_version 1.5.0

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

@test "a cosine over two epochs, behind a rise of a tenth" {
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
        run -0 --separate-stderr "$CELLRUN" resume b
        [[ $stderr == *"resumed from b/ckpt/c-2_"* ]]
        cmp a/ckpt/last.safetensors b/ckpt/last.safetensors
    done
}

@test "amounts of a schedule that a run cannot have" {
    run -2 "$CELLRUN" train c.yaml -o r -q \
        'optimizer.learning_rate={WarmUpLR: {learning_rate: 0.1, warmup_steps: 3 min}}'
    [[ $output == *"'warmup_steps' takes steps, epochs or percent"* ]]
    run -2 "$CELLRUN" check c.yaml \
        'optimizer.learning_rate={WarmUpLR: {learning_rate: 0.1, warmup_steps: 0}}'
    [[ $output == *"'warmup_steps' must be more than 0"* ]]
    run -2 "$CELLRUN" check c.yaml \
        'optimizer.learning_rate={WarmUpLR: {learning_rate: 0.1, warmup_steps: 3}, warm: 3}'
    [[ $output == *"did you mean 'warmup'"* ]]
    [ ! -e r ]
}
