# What is done with gradients, and with updates: clip, ema.
bats_require_minimum_version 1.5.0
set -o pipefail

setup() {
    . "$BATS_TEST_DIRNAME/small.bash"
    cd "$BATS_TEST_TMPDIR"
    unset CELLRUN_SET CELLRUN_DATA CELLRUN_RUNS CELLRUN_THREADS
    config c.yaml
    sgd='optimizer={SGD: {learning_rate: 0.1}}'
}

# norms DIR: grad_norm of all records
norms() {
    sed -n 's/.*"grad_norm":\([0-9.e+-]*\).*/\1/p' "$1/metrics.jsonl"
}

@test "clip.norm shortens all gradients together, and no others" {
    set -- train c.yaml -q --steps 1 log.grad_norm=true "$sgd" log.every=1
    run -0 "$CELLRUN" "$@" -o a
    n=$(norms a)
    # above the norm nothing changes, half of it is half of the rate
    run -0 "$CELLRUN" "$@" -o b "train.clip={norm: $(perl -e "print $n * 1.5")}"
    cmp a/ckpt/last.safetensors b/ckpt/last.safetensors || "$CELLRUN" ckpt diff a b
    run -0 "$CELLRUN" "$@" -o c "train.clip={norm: $(perl -e "print $n / 2")}"
    [ "$(norms c)" = "$n" ]
    run -0 "$CELLRUN" "$@" -o d optimizer.learning_rate=0.05
    run -0 "$CELLRUN" predict --ckpt c eval-x.npy --format jsonl --probs
    half=$output
    run -0 "$CELLRUN" predict --ckpt d eval-x.npy --format jsonl --probs
    perl -e 'my @a = $ARGV[0] =~ /[0-9.]+(?:e-?\d+)?/g;
        my @b = $ARGV[1] =~ /[0-9.]+(?:e-?\d+)?/g;
        die "none" unless @a > 100 && @a == @b;
        for (0 .. $#a) { die "$a[$_] $b[$_]" if abs($a[$_] - $b[$_]) > 1e-4 }
        ' "$half" "$output"
    run ! cmp -s a/ckpt/last.safetensors c/ckpt/last.safetensors
}

@test "clip.value bounds each element" {
    # with a bound that all elements reach, a step is the sign of each
    run -0 "$CELLRUN" train c.yaml -q --steps 1 "$sgd" -o a log.every=1 \
        'train.clip={value: 1e-30}' log.grad_norm=true
    run -0 "$CELLRUN" train c.yaml -q --steps 1 -o b log.every=1 \
        'optimizer={SGD: {learning_rate: 0.0}}'
    # 1e-31 is less than any parameter can tell
    run -0 "$CELLRUN" predict --ckpt a eval-x.npy --format jsonl --probs
    small=$output
    run -0 "$CELLRUN" predict --ckpt b eval-x.npy --format jsonl --probs
    [ "$small" = "$output" ]
    run -0 "$CELLRUN" train c.yaml -q --steps 20 "$sgd" -o d log.grad_norm=true
    run -0 "$CELLRUN" train c.yaml -q --steps 20 "$sgd" -o e \
        'train.clip={value: 1000}'
    "$CELLRUN" ckpt diff d e
}

@test "ema: kept with the parameters, used by eval, resumed exactly" {
    set -- train c.yaml -q --epochs 3 checkpoint.every=9 'train.ema={decay: 0.9}' \
        eval.use_ema=true 'train.clip={norm: 1.0}'
    run -0 "$CELLRUN" "$@" -o a
    acc=$(sed -n 's/^eval.loss: //p' <<<"$output")
    grep -aq '"cellrun.ema.fc.weight":' a/ckpt/last.safetensors
    run -0 "$CELLRUN" eval --ckpt a/ckpt/last.safetensors
    [ "$(sed -n 's/^loss: //p' <<<"$output")" = "$acc" ]
    run -0 "$CELLRUN" eval --ckpt a/ckpt/last.safetensors eval.use_ema=false
    [ "$(sed -n 's/^loss: //p' <<<"$output")" != "$acc" ]
    cp -r a b
    rm b/ckpt/last.safetensors b/ckpt/best.safetensors b/ckpt/c-3_*
    sed -i 's/"completed"/"running"/' b/record.json
    run -0 "$CELLRUN" resume b -q --trust
    cmp a/ckpt/last.safetensors b/ckpt/last.safetensors
    # the parameters are those of a run without
    run -0 "$CELLRUN" train c.yaml -q --epochs 3 -o d 'train.clip={norm: 1.0}'
    run -0 "$CELLRUN" eval --ckpt d/ckpt/last.safetensors
    plain=$output
    run -0 "$CELLRUN" eval --ckpt a/ckpt/last.safetensors eval.use_ema=false
    [ "$plain" = "$output" ]
}

@test "what clip and ema do not take" {
    run -2 "$CELLRUN" check c.yaml 'train.clip={norm: 0}'
    run -2 "$CELLRUN" check c.yaml 'train.clip={norm: -1}'
    run -2 "$CELLRUN" check c.yaml 'train.ema={decay: 1.5}'
    run -2 "$CELLRUN" check c.yaml 'train.ema={}'
    [[ $output == *decay* ]]
}

@test "accumulation: batches of 8 twice are batches of 16" {
    run -0 "$CELLRUN" train c.yaml -o a -q --epochs 1 network.drop=Identity
    run -0 "$CELLRUN" train c.yaml -o b -q --epochs 1 network.drop=Identity \
        datapipe.batch.batch_size=8 train.grad_accumulation=2
    # 300 samples: 18 full batches of 16, of 8 the last 4 samples are over
    run -6 "$CELLRUN" ckpt diff a/ckpt/last.safetensors b/ckpt/last.safetensors
    run -0 "$CELLRUN" train c.yaml -o a --force -q --steps 18 network.drop=Identity
    run -0 "$CELLRUN" train c.yaml -o b --force -q --steps 18 \
        network.drop=Identity datapipe.batch.batch_size=8 \
        train.grad_accumulation=2
    run -0 "$CELLRUN" ckpt diff a/ckpt/last.safetensors \
        b/ckpt/last.safetensors --rtol 1e-4 --atol 1e-5
    # a record's loss is the mean over the batches of its step
    jq -n -e '[inputs | select(.split == "train")] |
        (.[0].loss - .[1].loss | fabs) < 1e-5' \
        <(head -1 a/metrics.jsonl) <(head -1 b/metrics.jsonl)
}

@test "accumulation: over the end of an epoch, stopped and resumed" {
    set -- datapipe.batch.batch_size=8 train.grad_accumulation=3 -q \
        log.every='1 steps' train.clip.norm=1.0
    # 38 batches an epoch: step 13 has the last two and the first of the next
    run -0 "$CELLRUN" train c.yaml -o a --epochs 3 "$@"
    [[ $output == *"steps: 38"* ]]
    run -0 "$CELLRUN" train c.yaml -o a --force --steps 38 "$@"
    [ "$(jq -r 'select(.split == "train" and .epoch == 0) | .step' a/metrics.jsonl | tail -1)" = 12 ]
    run -0 "$CELLRUN" train c.yaml -o b --steps 5 "$@"
    run -0 "$CELLRUN" resume b -q --trust --steps 13
    run -0 "$CELLRUN" resume b -q --trust --steps 38
    cmp a/ckpt/last.safetensors b/ckpt/last.safetensors
}

# evals DIR: step/epoch of its evaluations
evals() {
    jq -r 'select(.split == "eval") | "\(.step)/\(.epoch)"' $1/metrics.jsonl |
        xargs
}

@test "accumulation: each epoch has its evaluation, at its own end" {
    # 6 batches an epoch, 4 an update: epochs end after batches 6, 12, ... 30
    set -- datapipe.batch.batch_size=50 log.every=1 -q
    run -0 "$CELLRUN" train c.yaml -o a --epochs 5 train.grad_accumulation=4 "$@"
    [ "$(evals a)" = "1/0 3/1 4/2 6/3 7/4" ]
    [ "$(cd a/ckpt; echo c-*)" = \
        "c-1_4.safetensors c-2_6.safetensors c-3_4.safetensors c-4_6.safetensors c-5_4.safetensors" ]
    # it evaluates the parameters of its update
    run -0 "$CELLRUN" eval --ckpt a/ckpt/c-3_4.safetensors --json
    [ "$(jq .loss <<<"$output")" = \
        "$(jq 'select(.split == "eval" and .step == 4) | .loss' a/metrics.jsonl)" ]
    # stopped within an epoch and resumed
    run -0 "$CELLRUN" train c.yaml -o b --steps 2 train.grad_accumulation=4 "$@"
    run -0 "$CELLRUN" resume b -q --trust --epochs 5
    run -0 "$CELLRUN" ckpt diff a/ckpt/last.safetensors b/ckpt/last.safetensors
    # and the evaluation at the end of the part
    [ "$(evals b)" = "1/0 2/1 3/1 4/2 6/3 7/4" ]
}

@test "accumulation: updates longer than an epoch" {
    # 12 batches an update: epochs 1 and 3 end within one
    set -- datapipe.batch.batch_size=50 train.grad_accumulation=12 -q
    run -0 "$CELLRUN" train c.yaml -o a --epochs 4 "$@"
    [ "$(evals a)" = "0/0 1/1 1/2 2/3" ]
    [ "$(jq 'select(.split == "eval" and .step == 1) | .loss' a/metrics.jsonl |
        sort -u | wc -l)" = 1 ]
    run -0 "$CELLRUN" train c.yaml -o b --epochs 2 "$@"
    run -0 "$CELLRUN" resume b -q --trust --epochs 4
    cmp a/ckpt/last.safetensors b/ckpt/last.safetensors
    [ "$(evals b)" = "$(evals a)" ]
    # batches of an update that divide the epoch change nothing
    run -0 "$CELLRUN" train c.yaml -o c --epochs 2 "$@" \
        train.grad_accumulation=3
    [ "$(evals c)" = "2/0 4/1" ]
}

@test "accumulation: a run whose last batches are left over is complete" {
    # 6 batches an epoch, 4 an update
    set -- datapipe.batch.batch_size=50 train.grad_accumulation=4 -q
    for epochs in 1 2 3 4 5; do
        run -0 "$CELLRUN" train c.yaml -o a$epochs --epochs $epochs "$@"
        [[ $output == *$'\n'"epochs: $epochs"$'\n'* ]]
        [ "$(jq .epochs a$epochs/record.json)" = $epochs ]
    done
    # 12 and 28 batches an update
    for epochs in 2 3; do
        run -0 "$CELLRUN" train c.yaml -o b$epochs --epochs $epochs "$@" \
            train.grad_accumulation=12 --json
        [ "$(jq -s '.[-1].epochs' <<<"$output")" = $epochs ]
    done
    run -0 "$CELLRUN" train c.yaml -o b --epochs 5 "$@" --json \
        train.grad_accumulation=28
    [ "$(jq -s '.[-1].epochs' <<<"$output")" = 5 ]
    run -0 "$CELLRUN" train c.yaml -o c --steps 1 "$@" --json
    [ "$(jq -s '.[-1].epochs' <<<"$output")" = 1 ]
    run -0 "$CELLRUN" sweep c.yaml --dir s seed=1,2 train.epochs=3 "$@"
    run -0 "$CELLRUN" sweep c.yaml --dir s seed=1,2 train.epochs=3 "$@" \
        --status
    [[ $output == *"2 points: 2 done"* ]]
    run -0 "$CELLRUN" sweep c.yaml --dir h train.epochs=3 "$@" \
        'sweep={method: halving, parameters: {seed: {values: [1, 2, 3]}}}'
    [ "$(cut -f 2 h/sweep.tsv | sort | uniq -c | xargs)" = \
        "1 done 1 status 2 stopped" ]
}

@test "accumulation: an epoch that ends with an update is evaluated after it" {
    # 7 batches an epoch, 5 an update: 21 / 1.4 is 15 but for its rounding
    run -0 "$CELLRUN" train c.yaml -o a --epochs 15 -q log.every=1 \
        datapipe.batch.batch_size=43 train.grad_accumulation=5
    [ "$(evals a)" = "1/0 2/1 4/2 5/3 7/4 8/5 9/6 11/7 12/8 14/9 15/10 16/11 18/12 19/13 21/14" ]
}

@test "accumulation: evaluations are a batch apart or more" {
    # 6 batches an epoch, 2 an update: two of them from each step on
    run -0 "$CELLRUN" train c.yaml -o a --epochs 1 -q eval.every=1e-3 \
        datapipe.batch.batch_size=50 train.grad_accumulation=2
    [ "$(evals a)" = "0/0 1/0 1/0 2/0 2/0 3/0" ]
}

@test "accumulation: more batches than the run has" {
    run -2 --separate-stderr "$CELLRUN" train c.yaml --epochs 1 \
        train.grad_accumulation=20
    [[ $stderr == *"'train.grad_accumulation' is 20, but the run has fewer batches"* ]]
}

@test "clip.tensor_norm: each tensor by itself, before the global norm" {
    set -- train c.yaml -q --steps 20 "$sgd" log.every=1 log.grad_norm=true
    run -0 "$CELLRUN" "$@" -o a
    # a bound that none reaches changes nothing, a small one all
    run -0 "$CELLRUN" "$@" -o b 'train.clip={tensor_norm: 1000}'
    run -0 "$CELLRUN" ckpt diff a/ckpt/last.safetensors b/ckpt/last.safetensors
    # four tensors of norm 0.01 each move a step of 0.1 by 0.002 at most
    run -0 "$CELLRUN" "$@" -o d --steps 1 --force \
        'train.clip={tensor_norm: 0.01}'
    run -0 "$CELLRUN" "$@" -o z --steps 1 --force optimizer.SGD.learning_rate=0
    run -0 "$CELLRUN" ckpt diff --atol 0.001001 --rtol 0 d z
    run -6 "$CELLRUN" ckpt diff --atol 0.0001 --rtol 0 d z
    # both: with 0.01 of each the global norm is 0.02 at most
    run -0 "$CELLRUN" "$@" -o e --steps 1 --force \
        'train.clip={tensor_norm: 0.01, norm: 0.03}'
    run -0 "$CELLRUN" ckpt diff d e
}

@test "grad_noise: follows from seed and update, resumes exactly" {
    set -- -q checkpoint.every='7 steps' 'train.grad_noise={eta: 0.01}' \
        train.clip.norm=1.0
    run -0 "$CELLRUN" train c.yaml -o a --steps 40 "$@"
    run -0 "$CELLRUN" train c.yaml -o b --steps 13 "$@" --threads 1
    run -0 "$CELLRUN" resume b -q --trust --steps 40 --threads 2
    cmp a/ckpt/last.safetensors b/ckpt/last.safetensors
    run -0 "$CELLRUN" train c.yaml -o d --steps 40 "$@" train.grad_noise.eta=0.02
    run -6 "$CELLRUN" ckpt diff a/ckpt/last.safetensors d/ckpt/last.safetensors
    # so little of it is none; it does not change what is logged of the gradient
    run -0 "$CELLRUN" train c.yaml -o e --steps 40 "$@" train.grad_noise.eta=1e-60
    run -0 "$CELLRUN" train c.yaml -o f --steps 40 "$@" '~train.grad_noise'
    run -0 "$CELLRUN" ckpt diff --rtol 1e-4 --atol 1e-5 e/ckpt/last.safetensors \
        f/ckpt/last.safetensors
    [ "$(norms a | head -1)" = "$(norms f | head -1)" ]
    # a deviation of 0.1 at a rate of 0.1: within 5 times 0.01, beyond 0.01
    run -0 "$CELLRUN" train c.yaml -o g --steps 1 "$sgd" -q \
        'train.grad_noise={eta: 0.01, gamma: 0}'
    run -0 "$CELLRUN" train c.yaml -o h --steps 1 "$sgd" -q
    run -0 "$CELLRUN" ckpt diff --atol 0.05 --rtol 0 g h
    run -6 "$CELLRUN" ckpt diff --atol 0.01 --rtol 0 g h
    run -2 "$CELLRUN" check c.yaml 'train.grad_noise={gamma: 1}'
    [[ $output == *eta* ]]
}
