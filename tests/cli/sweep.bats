# configs/sweep.sh: a sweep from the shell that survives being killed.
bats_require_minimum_version 1.5.0
set -o pipefail

setup() {
    . "$BATS_TEST_DIRNAME/small.bash"
    cd "$BATS_TEST_TMPDIR"
    unset CELLRUN_SET CELLRUN_DATA CELLRUN_RUNS CELLRUN_THREADS
    export JOBS=2 RATES='0.1 0.02' SEEDS='1 2' EPOCHS=4
    sweep=$BATS_TEST_DIRNAME/../../configs/sweep.sh
    config c.yaml
}

# The columns that do not depend on the time it took.
table() {
    awk '{ print $1, $2, $3, $4, $5, $6 }' <<<"$output" | sed 's,^[^/]*/,,'
}

@test "every point is run, the best is on top" {
    run -0 --separate-stderr env SWEEP=s "$sweep" c.yaml
    [ -z "$stderr" ]
    [ "${#lines[@]}" = 5 ]
    [[ ${lines[0]} =~ ^run\ +status\ +optimizer.learning_rate\ +seed\ + ]]
    [ "$(tail -4 <<<"$output" | awk '{ print $1 }' | sort | xargs)" = \
      "s/lr=0.02,seed=1 s/lr=0.02,seed=2 s/lr=0.1,seed=1 s/lr=0.1,seed=2" ]
    [ "$(tail -4 <<<"$output" | awk '{ print $5 }' | sort -rn)" = \
      "$(tail -4 <<<"$output" | awk '{ print $5 }')" ]
    [ "$(grep -c ' completed ' <<<"$output")" = 4 ]
}

@test "killed and started again: the same table, finished points untouched" {
    export EPOCHS=300
    run -0 env SWEEP=whole "$sweep" c.yaml
    want=$(table)
    kills=0
    for _ in 1 2 3; do
        SWEEP=s setsid "$sweep" c.yaml >/dev/null 2>&1 &
        p=$!
        sleep "0.$((RANDOM % 3))$((RANDOM % 10))"
        kill -9 -- -$p 2>/dev/null || :
        rc=0
        wait $p || rc=$?
        [ $rc != 137 ] || kills=$((kills + 1))
    done
    [ $kills -ge 1 ]
    run -0 env SWEEP=s "$sweep" c.yaml
    diff <(table) <(cat <<<"$want")
    for d in whole/*; do
        run -0 "$CELLRUN" ckpt diff "$d/ckpt/last" "s/${d#*/}/ckpt/last"
    done
    before=$(sha256sum s/*/*.* s/*/ckpt/*)
    run -0 env SWEEP=s "$sweep" c.yaml
    [ "$(table)" = "$want" ]
    [ "$(sha256sum s/*/*.* s/*/ckpt/*)" = "$before" ]
    [ -z "$(find s -name '*lock*')" ]
}

@test "more epochs: finished points resume" {
    run -0 env SWEEP=s EPOCHS=2 "$sweep" c.yaml
    run -0 env SWEEP=s EPOCHS=4 "$sweep" c.yaml
    run -0 env SWEEP=t EPOCHS=4 "$sweep" c.yaml
    for d in s/*; do
        cmp "$d/ckpt/last.safetensors" "t/${d#*/}/ckpt/last.safetensors"
    done
}

@test "a point that diverges is a result, a wrong config is not" {
    run -0 env SWEEP=s RATES='1e30 0.1' SEEDS=1 "$sweep" c.yaml
    [[ $output == *" diverged "* ]]
    [[ $output == *" completed "* ]]
    echo 'nonsense: 1' >>c.yaml
    run -2 env SWEEP=t "$sweep" c.yaml
    [[ $output == *"unknown key 'nonsense'"* ]]
    [ ! -e t ]
}
