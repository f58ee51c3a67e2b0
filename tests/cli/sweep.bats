# cellrun sweep: points, their states, and the programs that distribute them.
bats_require_minimum_version 1.5.0
set -o pipefail

setup() {
    . "$BATS_TEST_DIRNAME/small.bash"
    cd "$BATS_TEST_TMPDIR"
    unset CELLRUN_SET CELLRUN_DATA CELLRUN_RUNS CELLRUN_THREADS
    config c.yaml
}

# The columns of sweep.tsv that do not depend on the time it took.
table() {
    awk -F'\t' -v OFS='\t' '{ $(NF - 1) = ""; print }' "$1/sweep.tsv"
}

@test "a grid on the command line runs each point once" {
    run -0 --separate-stderr "$CELLRUN" sweep c.yaml --dir s -q \
        optimizer.learning_rate=0.1,0.02 'seed=range(1,3)' --jobs 2
    [ "$output" = s/sweep.tsv ]
    [ -z "$stderr" ]
    [ "$(cut -f 2-5 s/sweep.tsv)" = \
"status	exit	optimizer.learning_rate	seed
done	0	0.1	1
done	0	0.1	2
done	0	0.02	1
done	0	0.02	2" ]
    for id in $(tail -n +2 s/sweep.tsv | cut -f 1); do
        [ "$(jq -r .id "s/$id/record.json" | cut -c 1-8)" = "$id" ]
    done
}

@test "the run of a point is that of train with the same settings" {
    run -0 "$CELLRUN" sweep c.yaml --dir s -q optimizer.learning_rate=0.1,0.02
    run -0 "$CELLRUN" train c.yaml -q -o t optimizer.learning_rate=0.02
    id=$(awk -F'\t' '$4 == 0.02 { print $1 }' s/sweep.tsv)
    run -0 "$CELLRUN" ckpt diff t/ckpt/last "s/$id/ckpt/last"
}

@test "points that are done are not run again" {
    run -0 "$CELLRUN" sweep c.yaml --dir s -q seed=1,2
    cksum s/*/record.json >before
    run -0 "$CELLRUN" sweep c.yaml --dir s -q seed=1,2,3
    cksum s/*/record.json >after
    [ "$(wc -l <after)" = 3 ]
    [ "$(grep -cxFf before after)" = 2 ]
}

@test "a longer run continues the points" {
    run -0 "$CELLRUN" sweep c.yaml --dir s -q seed=1,2 train.epochs=1
    run -0 "$CELLRUN" sweep c.yaml --dir s -q seed=1,2 train.epochs=3
    [ "$(jq .epochs s/*/record.json | xargs)" = '3 3' ]
}

@test "lengths as parameters are points of their own" {
    run -0 "$CELLRUN" sweep c.yaml --dir s -q train.epochs=1,2
    [ "$(jq .epochs s/*/record.json | sort | xargs)" = '1 2' ]
}

@test "lengths that follow from parameters are points of their own" {
    cat >l.yaml <<'END'
base: c.yaml
vars: {a: 2}
train: !replace {epochs: $a}
END
    run -0 "$CELLRUN" sweep l.yaml --dir s -q vars.a=1,2,3
    [ "$(jq .epochs s/*/record.json | sort | xargs)" = '1 2 3' ]
    # also drawn, in a list, by tpe, and as part of a map
    sed 's/^sweep:/&\n  count: 3/' >r.yaml <<'END'
base: l.yaml
sweep:
  method: random
  parameters: {vars.a: {distribution: int_uniform, min: 1, max: 3}}
END
    run -0 "$CELLRUN" sweep r.yaml --dir s --print
    [ "${#lines[@]}" = 3 ]
    run -0 "$CELLRUN" sweep r.yaml --dir t -q sweep.method=tpe
    [ "$(jq .epochs t/*/record.json | sort | xargs)" = '1 2 3' ]
    printf 'vars.a\n1\n2\n3\n' >p.tsv
    run -0 "$CELLRUN" sweep l.yaml --dir s --points p.tsv --print
    [ "${#lines[@]}" = 3 ]
    run -0 "$CELLRUN" sweep c.yaml --dir s --print train='{epochs: 1},{epochs: 2}'
    [ "${#lines[@]}" = 2 ]
    run -0 "$CELLRUN" sweep c.yaml --dir s --print \
        train='{steps: 1},{epochs: 1, time_limit: 1 h},{epochs: 1}'
    [ "${#lines[@]}" = 3 ]
    # what is done stays done, and a longer run of all points continues them
    run -0 "$CELLRUN" sweep l.yaml --dir s --status vars.a=1,2,3
    [ "${lines[-1]}" = '3 points: 3 done' ]
}

@test "brackets and quotes keep commas in a value" {
    run -0 "$CELLRUN" sweep c.yaml --dir s --print metrics='[loss,accuracy]' \
        'metrics=[accuracy,loss],[loss]' "run.name='a,b'"
    [ "${#lines[@]}" = 2 ]
    [[ "${lines[0]}" == *"'metrics=[accuracy,loss]' -q"* ]]
    [[ "${lines[0]}" == *"run.name="*"a,b"* ]]
    [[ "${lines[1]}" == *"'metrics=[loss]' -q"* ]]
}

@test "random: a larger count adds points and changes none" {
    cat >r.yaml <<'END'
base: c.yaml
sweep:
  method: random
  count: 3
  parameters:
    optimizer.learning_rate: {distribution: log_uniform, min: 1e-3, max: 0.1}
    seed: {distribution: int_uniform, min: 1, max: 9}
END
    "$CELLRUN" sweep r.yaml --dir s --print >three
    "$CELLRUN" sweep r.yaml --dir s --print --count 5 >five
    [ "$(wc -l <five)" = 5 ]
    diff three <(head -3 five)
    [ "$(sort -u five | wc -l)" = 5 ]
}

@test "where, when and together shape a grid" {
    cat >g.yaml <<'END'
base: c.yaml
vars: {a: 1, b: 1, m: 0.5}
sweep:
  where: $(a*b < 10)
  together: [{vars.a: 1, vars.b: 2}, {vars.a: 2, vars.b: 3}, {vars.a: 4, vars.b: 5}]
  parameters:
    seed: {values: [1, 2]}
    optimizer.learning_rate: {values: [0.1, 0.2], when: $(a == 2)}
END
    sed -i 's/^vars: .*/&\ntrain: {limit: $(20+a) samples}/' g.yaml
    run -0 "$CELLRUN" sweep g.yaml --dir s --print
    [ "$(grep -o 'seed=.*-q' <<<"$output" | sed 's/ -q//')" = \
"seed=1 vars.a=1 vars.b=2
seed=1 optimizer.learning_rate=0.1 vars.a=2 vars.b=3
seed=1 optimizer.learning_rate=0.2 vars.a=2 vars.b=3
seed=2 vars.a=1 vars.b=2
seed=2 optimizer.learning_rate=0.1 vars.a=2 vars.b=3
seed=2 optimizer.learning_rate=0.2 vars.a=2 vars.b=3" ]
}

@test "a list of points from a TSV" {
    printf 'seed\toptimizer.learning_rate\n1\t0.1\n2\t\n' >p.tsv
    run -0 "$CELLRUN" sweep c.yaml --dir s --points p.tsv -q
    [ "$(cut -f 2,4,5 s/sweep.tsv)" = \
"status	seed	optimizer.learning_rate
done	1	0.1
done	2	" ]
    printf 'seed\tx\n1\n' >p.tsv
    run -3 "$CELLRUN" sweep c.yaml --dir s --points p.tsv
    [[ "$output" == *"p.tsv:2"*"found 1 fields, expected 2"* ]]
}

@test "a failed point: status 7, told once, run again on request" {
    points=(c.yaml --dir s optimizer.learning_rate=1e30,0.1,0.2)
    run -0 "$CELLRUN" sweep "${points[@]}" --dry-run
    mkdir s
    : >"s/$(awk '$3 == 0.2 { print $1 }' <<<"$output")"
    run -7 --separate-stderr "$CELLRUN" sweep "${points[@]}"
    [ "$(cut -f 2-4 s/sweep.tsv | tail -n +2)" = \
"failed	5	1e30
done	0	0.1
failed	1	0.2" ]
    [ "$(grep -c ' failed ' <<<"$stderr")" = 2 ]
    run -7 --separate-stderr "$CELLRUN" sweep "${points[@]}"
    [ -z "$stderr" ]
    run -7 --separate-stderr "$CELLRUN" sweep "${points[@]}" --retry-failed
    [ "$(grep -c ' failed ' <<<"$stderr")" = 2 ]
}

@test "values that train rejects are reported before anything runs" {
    run -2 --separate-stderr "$CELLRUN" sweep c.yaml --dir s -q \
        optimizer.learning_rate=0.1,bad,-1 seed=1,2,3
    [[ $stderr == *"command line, argument 6: error: found 'bad'"* ]]
    [[ $stderr == *"in the point optimizer.learning_rate=bad seed=1"* ]]
    [[ $stderr == *"found the number -1, expected"* ]]
    [[ $stderr == *"2 errors. Nothing was run." ]]
    [ ! -e s ]
    # of many numbers the smallest and the largest; data as train finds them
    run -2 "$CELLRUN" sweep c.yaml --dir s 'network.drop.p=0.5,x' \
        'datapipe.batch.batch_size=range(90,-1,-1)' --print
    [[ $output == *"'p' of Dropout: found 'x'"* ]]
    [[ $output == *"found the number 0, expected an integer of at least 1"* ]]
    rm train-y.npy
    run -3 "$CELLRUN" sweep c.yaml --dir s seed=1,2
    [ "$(grep -c ' error: ' <<<"$output")" = 1 ]
    [ ! -e s ]
}

@test "--jobs auto measures, says what it takes, and gives the same runs" {
    export TMPDIR=$PWD/tmp
    mkdir tmp
    run -0 --separate-stderr "$CELLRUN" sweep c.yaml --dir s --jobs auto \
        seed=1,2
    taken=$(sed -n 's/^--jobs auto: //p' <<<"$stderr")
    [[ $taken =~ ^[12]\ jobs?(\ with\ [0-9]+\ threads?\ each)?$ ]]
    if [[ $taken == *with* ]]; then # it is the fastest one measured
        best=$(grep 'samples/s$' <<<"$stderr" | sort -t: -k 2nr | sed 1q)
        [[ $best == "${taken% each}: "* ]]
    fi
    [ -z "$(ls tmp)" ]
    run -0 "$CELLRUN" sweep c.yaml --dir t -q seed=1,2
    diff <(table s) <(table t)
    for d in s/*/; do
        run -0 "$CELLRUN" ckpt diff "$d/ckpt/last" "t/${d#s/}/ckpt/last"
    done
    # nothing is measured where nothing is to be run, or the threads are given
    run -0 --separate-stderr "$CELLRUN" sweep c.yaml --dir s --jobs auto \
        seed=1,2
    [ -z "$stderr" ]
    run -0 --separate-stderr "$CELLRUN" sweep c.yaml --dir u --jobs auto \
        seed=1,2 --dry-run
    [ -z "$stderr" ]
    run -0 "$CELLRUN" sweep c.yaml --dir u --jobs auto --threads 1 seed=1,2
    [[ $output != *samples/s* ]]
    # by the environment or the config too
    CELLRUN_THREADS=1 run -0 "$CELLRUN" sweep c.yaml --dir v --jobs auto \
        seed=1,2
    [[ $output == *'--jobs auto: '* && $output != *samples/s* ]]
    CELLRUN_THREADS=3 run -0 "$CELLRUN" sweep c.yaml --dir w --jobs auto \
        run.threads=2 seed=1,2 --retry-failed
    [[ $output != *samples/s* ]]
    run -0 "$CELLRUN" sweep c.yaml --dir x -q --jobs 2 run.threads=2 seed=1,2
    [ "$(jq .threads {v,w,x}/*/record.json | xargs)" = '1 1 2 2 2 2' ]
    run -2 "$CELLRUN" sweep c.yaml --dir u --jobs 0 seed=1,2
    [[ $output == *"--jobs: found '0', expected auto or a number from 1 to"* ]]
}

@test "--fail-fast starts no point after a failed one" {
    run -7 "$CELLRUN" sweep c.yaml --dir s -q --fail-fast \
        optimizer.learning_rate=1e30,0.1
    [ "$(cut -f 2 s/sweep.tsv | xargs)" = 'status failed waiting' ]
}

@test "Ctrl-C: running points save; the next start continues them" {
    "$CELLRUN" sweep c.yaml --dir s -q seed=1,2 train.epochs=100000 &
    p=$!
    until ls s/*/ckpt/last.safetensors >/dev/null 2>&1; do sleep 0.02; done
    kill -INT $p
    rc=0
    wait $p || rc=$?
    [ $rc = 130 ]
    [ "$(cut -f 2 s/sweep.tsv | xargs)" = 'status interrupted waiting' ]
    steps=$(jq .steps s/*/record.json)
    id=$(sed -n 2p s/sweep.tsv | cut -f 1)
    epochs=$(($(jq .epochs s/*/record.json) + 1))
    run -0 "$CELLRUN" sweep c.yaml --dir s -q seed=1,2 train.epochs=$epochs
    [ "$(jq .steps "s/$id/record.json")" -gt "$steps" ]
}

@test "three processes, killed and started again: each point once" {
    settings=('seed=range(1,13)' train.epochs=40)
    run -0 "$CELLRUN" sweep c.yaml --dir whole -q "${settings[@]}"
    for _ in 1 2 3 4; do
        pids=()
        for _ in 1 2 3; do
            "$CELLRUN" sweep c.yaml --dir s -q "${settings[@]}" >/dev/null &
            pids+=($!)
        done
        sleep "0.0$((RANDOM % 9 + 1))"
        kill -9 "${pids[$((RANDOM % 3))]}" "${pids[0]}" 2>/dev/null || :
        for p in "${pids[@]}"; do
            rc=0
            wait "$p" || rc=$?
            [ $rc = 0 ] || [ $rc = 137 ]
        done
    done
    run -0 "$CELLRUN" sweep c.yaml --dir s -q "${settings[@]}"
    diff <(table whole) <(table s)
    for d in whole/*/; do
        d=$(basename "$d")
        run -0 "$CELLRUN" ckpt diff "whole/$d/ckpt/last" "s/$d/ckpt/last"
    done
}

@test "--dry-run and --status run nothing" {
    run -0 "$CELLRUN" sweep c.yaml --dir s seed=1,2 --dry-run
    [ "${lines[2]}" = '2 points: 2 waiting' ] ||
        [ "${lines[3]}" = '2 points: 2 waiting' ]
    run -0 "$CELLRUN" sweep c.yaml --dir s seed=1,2 --status
    [ "${lines[3]}" = '2 points: 2 waiting' ]
    [ ! -e s ]
}

@test "--status on a terminal follows running points until all are done" {
    # evaluations last until the terminal has shown a running point
    cat >gate.yaml <<'END'
base: c.yaml
run: {exec_on_eval: "until [ -e shown ]; do sleep 0.1; done"}
END
    settings=(gate.yaml --dir s seed=1,2 train.epochs=2)
    "$CELLRUN" sweep "${settings[@]}" -q >/dev/null &
    within 20 eval 'grep -q accuracy s/*/metrics.jsonl'
    run -0 "$CELLRUN" sweep "${settings[@]}" --status
    [[ ${lines[0]} == *" eval.accuracy "* ]]
    [[ $output =~ running,\ [0-9.e+]+\ epochs ]]
    [ "$(grep -c '^id' <<<"$output")" = 1 ] # a pipe gets it once
    (
        until grep -qs running typescript; do sleep 0.1; done
        : >shown
    ) &
    TERM=xterm run -0 timeout 300 script -qefc "stty cols 40; '$CELLRUN' sweep \
        ${settings[*]} --status" typescript </dev/null
    wait
    screen=$(tr -d '\r' <typescript)
    [ "$(grep -c $'\033\\[H\033\\[J''id' <<<"$screen")" -ge 2 ]
    [[ $screen == *running* && $screen == *"2 points: 2 done"* ]]
    [ "$(sed 's/\x1b\[[HJ]//g; 1d; /^Script/d' <<<"$screen" | wc -L)" -le 40 ]
}

@test "--print gives commands that a shell can run" {
    "$CELLRUN" sweep c.yaml --dir 's p' seed=1,2 --print >commands
    PATH=$(dirname "$CELLRUN"):$PATH run -0 sh commands
    run -0 "$CELLRUN" sweep c.yaml --dir 's p' seed=1,2 --status
    [ "${lines[3]}" = '2 points: 2 done' ]
}

@test "GNU parallel runs the commands of --print" {
    [[ "$(parallel --version 2>/dev/null)" == GNU* ]] || skip 'no GNU parallel'
    "$CELLRUN" sweep c.yaml --dir s optimizer.learning_rate=.1,.01 seed=1,2,3 \
        --print | PATH=$(dirname "$CELLRUN"):$PATH parallel --will-cite -j2 \
        --joblog log --resume-failed >/dev/null
    [ "$(wc -l <log)" = 7 ]
    run -0 "$CELLRUN" sweep c.yaml --dir s optimizer.learning_rate=.1,.01 \
        seed=1,2,3 --status
    [ "${lines[7]}" = '6 points: 6 done' ]
}

@test "--index runs one point with the exit status of train" {
    run -0 "$CELLRUN" sweep c.yaml --dir s seed=1,2 --index 1
    [ "$(jq .seed s/*/record.json)" = 2 ]
    run -5 "$CELLRUN" sweep c.yaml --dir s optimizer.learning_rate=1e30,1 \
        --index 0
    run -2 "$CELLRUN" sweep c.yaml --dir s seed=1,2 --index 2
    [[ "$output" == *'--index: found 2, expected 0 to 1'* ]]
}

@test "--index leaves a failed point alone unless it is asked for" {
    points=(c.yaml --dir s optimizer.learning_rate=1e30,1)
    run -5 "$CELLRUN" sweep "${points[@]}" --index 0
    before=$(cksum s/*/record.json)
    run -5 "$CELLRUN" sweep "${points[@]}" --index 0
    [[ $output == *"this point has failed: the loss is not finite"* ]]
    [[ $output == *"use --retry-failed to run it again"* ]]
    [ "$(cksum s/*/record.json)" = "$before" ]
    run -5 "$CELLRUN" sweep "${points[@]}" --index 0 --retry-failed
    [ "$(cksum s/*/record.json)" != "$before" ]
    # as one that failed before it had a record, and is all right now
    id=$("$CELLRUN" sweep "${points[@]}" --status --json | jq -r '.[1].id')
    : >"s/$id"
    run -7 "$CELLRUN" sweep "${points[@]}" -q
    run -1 "$CELLRUN" sweep "${points[@]}" --index 1
    [[ $output == *"this point has failed: "* ]]
    rm "s/$id"
    run -1 "$CELLRUN" sweep "${points[@]}" --index 1
    run -0 "$CELLRUN" sweep "${points[@]}" --index 1 --retry-failed
    [ ! -s "s/.sweep/$id" ]
}

@test "--json prints the points as objects" {
    run -0 "$CELLRUN" sweep c.yaml --dir s --json --dry-run seed=1,0x2
    jq -e '[.[].parameters.seed] == [1, "0x2"] and .[0].status == "waiting" and
        .[0].exit == null and .[0].metric == null' <<<"$output"
    run -7 "$CELLRUN" sweep c.yaml --dir s -q optimizer.learning_rate=1e30,0.1
    run -0 "$CELLRUN" sweep c.yaml --dir s --json --status \
        optimizer.learning_rate=1e30,0.1
    jq -e '.[0].status == "failed" and .[0].exit == 5 and
        (.[0].error | startswith("the loss is not finite")) and
        .[1].status == "done" and .[1].metric > 0 and .[1].best_step > 0 and
        .[1].error == null' <<<"$output"
    [ -e "$(jq -r '.[1].path' <<<"$output")/record.json" ]
}

@test "--slurm writes a job script that runs the points" {
    "$CELLRUN" sweep c.yaml --dir s seed=1,2 --slurm >job.sh
    grep -qx '#SBATCH --array=0-1' job.sh
    "$CELLRUN" sweep c.yaml --dir $'a b\n#SBATCH --x' seed=1,2 --slurm |
        grep -qx '#SBATCH --job-name=a_b__SBATCH_--x'
    if command -v shellcheck >/dev/null; then shellcheck job.sh; fi
    mkdir bin
    printf '#!/bin/sh\nexec "$@"\n' >bin/srun
    printf '#!/bin/sh\necho "$@" >>requeued\n' >bin/scontrol
    chmod +x bin/*
    export PATH=$PWD/bin:$(dirname "$CELLRUN"):$PATH SLURM_ARRAY_JOB_ID=7
    SLURM_ARRAY_TASK_ID=0 run -0 sh job.sh
    SLURM_ARRAY_TASK_ID=1 run -0 sh job.sh
    [ "$(jq .seed s/*/record.json | sort | xargs)" = '1 2' ]
    [ ! -e requeued ]
    printf '#!/bin/sh\nexit 75\n' >bin/srun
    SLURM_ARRAY_TASK_ID=1 run -75 sh job.sh
    [ "$(cat requeued)" = 'requeue 7_1' ]
}

@test "processes under mpirun share the points" {
    command -v mpirun >/dev/null || skip 'no mpirun'
    run -0 mpirun --allow-run-as-root --oversubscribe -n 2 "$CELLRUN" sweep \
        c.yaml --dir s -q 'seed=range(1,7)'
    [ "$(cut -f 2 s/sweep.tsv | sort | uniq -c | xargs)" = '6 done 1 status' ]
}

@test "a point whose record is damaged is run again" {
    run -0 "$CELLRUN" sweep c.yaml --dir s seed=1,2 -q
    id=$(sed -n '2s/\t.*//p' s/sweep.tsv)
    truncate -s 9 "s/$id/record.json"
    run -0 "$CELLRUN" sweep c.yaml --dir s seed=1,2 --status
    [[ $output == *"2 points: 1 waiting 1 done"* ]]
    run -0 "$CELLRUN" sweep c.yaml --dir s seed=1,2 -q
    jq -e '.status == "completed"' "s/$id/record.json"
}

@test "a claim that is a link is not followed" {
    run -0 "$CELLRUN" sweep c.yaml --dir s seed=1,2 --dry-run
    ids=$(grep -o '^[0-9a-f]\{8\}' <<<"$output")
    mkdir -p s/.sweep
    echo mine >mine
    ln -s ../../mine "s/.sweep/${ids:0:8}"
    run -1 "$CELLRUN" sweep c.yaml --dir s seed=1,2 -q
    [[ "$output" == *"cannot write the folder"* ]]
    [ "$(cat mine)" = mine ]
    # nor is one waited for that is no file
    rm "s/.sweep/${ids:0:8}"
    mkfifo "s/.sweep/${ids:0:8}"
    run -0 timeout 20 "$CELLRUN" sweep c.yaml --dir s seed=1,2 --status
}

@test "a sweep without points, or with wrong parameters, runs nothing" {
    run -2 "$CELLRUN" sweep c.yaml --dir s 'seed=range(3,3)'
    [[ "$output" == *"'seed': found a range of 0 values"* ]]
    run -2 "$CELLRUN" sweep c.yaml --dir s \
        'seed=range(-9223372036854775807,9223372036854775807)'
    [[ "$output" == *"found a range of 18446744073709551614 values"* ]]
    head -c 100000 /dev/zero | tr '\0' '\t' >wide.tsv
    head -c 100000 /dev/zero | tr '\0' '\n' >>wide.tsv
    run -3 "$CELLRUN" sweep c.yaml --dir s --points wide.tsv
    [[ "$output" == *"the file has no points"* ]]
    printf 'base: c.yaml\nsweep: {parameters: {seed: {distribution: uniform, %s' \
        'min: 2, max: 1}}}' >w.yaml
    run -2 "$CELLRUN" sweep w.yaml --dir s
    [[ "$output" == *"'seed': expected min and max with min <= max"* ]]
    [[ "$output" == *'Nothing was run.'* ]]
    run -2 "$CELLRUN" sweep c.yaml --dir s seed=1,2 --print --status
    [ ! -e s ]
}

@test "a condition that is neither true nor false is an error" {
    for condition in 3 '$(a*2)' '' '$(a)' yes '[true]'; do
        printf 'base: c.yaml\nvars: {a: 1}\nseed: $a\nsweep:\n  where: %s\n' \
            "$condition" >w.yaml
        run -2 "$CELLRUN" sweep w.yaml --dir s --dry-run vars.a=1,2
        [[ $output == *"w.yaml:5:"*"'sweep.where': found "*", expected true or false"* ]]
        [[ $output == *"    5 |   where: $condition"* ]]
        printf 'base: c.yaml\nvars: {a: 1}\nsweep: {parameters: {seed: {values: [$a, 2], when: %s}}}\n' \
            "$condition" >w.yaml
        run -2 "$CELLRUN" sweep w.yaml --dir s --dry-run
        [[ $output == *"w.yaml:3:"*"'when': found "*", expected true or false"* ]]
    done
    [ ! -e s ]
}

@test "values of narrow ranges differ, and stay within them" {
    # values DISTRIBUTION MIN MAX
    values() {
        printf 'base: c.yaml\nsweep: {method: random, count: 20, parameters: {%s: {distribution: %s, min: %s, max: %s}}}\n' \
            "${KEY:-optimizer.learning_rate}" "$@" >n.yaml
        "$CELLRUN" sweep n.yaml --dir s --dry-run 2>/dev/null |
            awk -v a="$2" -v b="$3" '$2 == "waiting" { print $3; if (!($3 >= a && $3 <= b)) exit 1 }'
    }
    for range in '0.1 0.1000001' '0.12345678 0.12345679' '0.01 0.0100000001'; do
        read -r min max <<<"$range"
        for d in uniform log_uniform; do
            run -0 values "$d" "$min" "$max"
            [ "$(sort -u <<<"$output" | wc -l)" = 20 ]
        done
    done
    run -0 values uniform 0.01 0.1 # six digits elsewhere
    [ "$(wc -L <<<"$output")" -le 9 ]
    run -0 values uniform 0.012345678 0.0112345678e1
    KEY=seed run -0 values int_uniform 3 7
    [ "$(sort -u <<<"$output" | xargs)" = '3 4 5 6 7' ]
}

@test "ranges that no integers or no numbers fill are errors" {
    # wrong MESSAGE DISTRIBUTION MIN MAX
    wrong() {
        printf 'base: c.yaml\nsweep: {method: random, parameters: {seed: {distribution: %s, min: %s, max: %s}}}\n' \
            "${@:2}" >w.yaml
        run -2 "$CELLRUN" sweep w.yaml --dir s
        [[ $output == *"'seed': $1"* && $output == *'Nothing was run.'* ]]
    }
    wrong 'found 1.5 and 3.0, expected integers' int_uniform 1.5 3
    wrong 'found 1.0 and 3.5, expected integers' int_log_uniform 1 3.5
    wrong 'found 1.0 and 1e+17, expected integers' int_uniform 1 1e17
    wrong 'the range from min to max is too large' uniform -1e308 1e308
    wrong 'the range from min to max is too large' log_uniform 1e-300 1e300
    [ ! -e s ]
}

@test "too many combinations of values are an error" {
    run -2 timeout 60 "$CELLRUN" sweep c.yaml --dir s 'seed=range(0,1000)' \
        'datapipe.batch.batch_size=range(1,1002)'
    [[ $output == *"found more than 1000000 combinations of values"* ]]
    run -2 timeout 60 "$CELLRUN" sweep c.yaml --dir s 'seed=range(0,1000000)' \
        'datapipe.batch.batch_size=range(1,1000000)' sweep.method=halving \
        'network.fc.out_channels=range(1,1000000)'
    [[ $output == *"found more than 1000000 combinations of values"* ]]
    { echo seed && seq 1000001; } >p.tsv
    run -2 timeout 60 "$CELLRUN" sweep c.yaml --dir s --points p.tsv
    [[ $output == *"p.tsv"*"found 1000001 points, expected at most 1000000"* ]]
    [ ! -e s ]
}

@test "what cannot be read is an error, and nothing waits for it" {
    local drop=() # what lets root read anywhere
    [ "$(id -u)" != 0 ] ||
        drop=(setpriv --bounding-set=-dac_override,-dac_read_search)
    run -0 "$CELLRUN" sweep c.yaml --dir s seed=1,2 -q
    id=$(sed -n '2s/\t.*//p' s/sweep.tsv)
    chmod 0 "s/$id"
    run -0 "${drop[@]}" "$CELLRUN" sweep c.yaml --dir s seed=1,2 --status
    [[ $output == *"cannot read the run directory: Permission denied"* ]]
    [[ ${lines[-1]} == '2 points: 1 done 1 failed' ]]
    run -7 timeout 60 "${drop[@]}" "$CELLRUN" sweep c.yaml --dir s seed=1,2 -q
    chmod 0 s
    run -1 "${drop[@]}" "$CELLRUN" sweep c.yaml --dir s seed=1,2 --status
    [[ $output == *"s: error: cannot read the folder: Permission denied"* ]]
    run -1 timeout 60 "${drop[@]}" "$CELLRUN" sweep c.yaml --dir s seed=1,2
    [[ $output == *"1 error. Nothing was run."* ]]
    chmod 755 s "s/$id"
    : >file
    run -1 "$CELLRUN" sweep c.yaml --dir file seed=1,2
    [[ $output == *"file: error: cannot read the folder: Not a directory"* ]]
}

@test "a key that is set twice is an error" {
    # twice MESSAGE ARGS...
    twice() {
        run -2 "$CELLRUN" sweep "${@:2}" --dir s
        [[ $output == *"error: 'seed' is a parameter of the sweep $1"* ]]
        [ ! -e s ]
    }
    printf 'base: c.yaml\nsweep: {together: [{seed: 1}, {seed: 2}], parameters: {seed: {values: [3]}}}\n' >d.yaml
    twice twice d.yaml
    twice 'and has one value on the command line' d.yaml seed=7
    twice twice c.yaml seed=1,2 seed=3,4
    twice 'and has one value on the command line' c.yaml seed=1,2 --seed 3
    printf 'seed\tseed\n1\t2\n' >p.tsv
    twice twice c.yaml --points p.tsv
}

@test "a list of points may begin with a byte order mark" {
    printf '\xef\xbb\xbfseed\r\n1\r\n2\r\n' >p.tsv
    run -0 "$CELLRUN" sweep c.yaml --dir s --points p.tsv --dry-run
    [[ ${lines[0]} == *' seed '* && ${lines[-1]} == '2 points: 2 waiting' ]]
}

@test "texts that a spreadsheet runs as formulas are quoted in sweep.tsv" {
    run -0 "$CELLRUN" sweep c.yaml --dir s -q 'run.name==1+1,+a,b' \
        optimizer.weight_decay=0,1e-5
    [ "$(cut -f4 s/sweep.tsv | sort -u | xargs -d'\n')" = \
        '"+a" "=1+1" b run.name' ]
    printf 'base: c.yaml\nvars: {x: 0}\nseed: $(x+2)\n' >v.yaml
    run -0 "$CELLRUN" sweep v.yaml --dir t -q vars.x=-1,+1 # numbers are not
    [ "$(cut -f4 t/sweep.tsv | xargs)" = 'vars.x -1 +1' ]
}

@test "--count with a grid, and a sweep whose condition nothing meets" {
    run -0 --separate-stderr "$CELLRUN" sweep c.yaml --dir s --count 1 \
        --dry-run seed=1,2
    [[ $stderr == *"--count has no effect: the method grid takes all points"* ]]
    printf 'base: c.yaml\nvars: {a: 1}\nsweep: {where: $(a == 2), parameters: {seed: {distribution: int_uniform, min: 1, max: 9}}}\ntrain: {epochs: $a}\n' >w.yaml
    for method in random tpe; do
        run -2 "$CELLRUN" sweep w.yaml --dir s sweep.method=$method
        [[ $output == *"the sweep has no points: no combination of values meets 'sweep.where'"* ]]
    done
}

@test "the metric of the table does not depend on which point came first" {
    points=(c.yaml 'metrics=[accuracy],[loss]')
    run -0 "$CELLRUN" sweep "${points[@]}" --dir s -q
    run -0 "$CELLRUN" sweep "${points[@]}" --dir t -q --index 1
    run -0 "$CELLRUN" sweep "${points[@]}" --dir t -q
    diff <(table s) <(table t)
    [ "$(sed -n '1s/.*\(eval[^\t]*\).*/\1/p' t/sweep.tsv)" = eval.accuracy ]
}

@test "a point that another machine works on is left alone until it is silent" {
    points=(c.yaml --dir s seed=1,2)
    run -0 "$CELLRUN" sweep "${points[@]}" -q
    id=$(sed -n '2s/\t.*//p' s/sweep.tsv)
    rm -r "s/$id"
    mkdir "s/$id"
    echo 'elsewhere 1 1 other-boot pid:[1]' >"s/$id/lock"
    run -0 "$CELLRUN" sweep "${points[@]}" --status
    [ "${lines[-1]}" = '2 points: 1 running 1 done' ]
    run -2 "$CELLRUN" sweep "${points[@]}" --index 0
    [[ $output == *"process 1 on elsewhere is using this run directory"* ]]
    touch -d '3 minutes ago' "s/$id/lock"
    run -0 "$CELLRUN" sweep "${points[@]}" --status
    [ "${lines[-1]}" = '2 points: 1 waiting 1 done' ]
    run -0 timeout 60 "$CELLRUN" sweep "${points[@]}" -q
    [ "$(cut -f2 s/sweep.tsv | xargs)" = 'status done done' ]
}

@test "a run that fails while it is prepared has failed, also with a record" {
    # record.json fits into a block, resolved.yaml does not
    run -7 --separate-stderr bash -c "ulimit -f 1; exec '$CELLRUN' sweep c.yaml --dir s seed=1,2"
    [[ $stderr == *" failed seed=1  cannot write "*": File too large [E0602]"* ]]
    [ "$(cut -f 2,3 s/sweep.tsv | sort -u | xargs)" = "failed 1 status exit" ]
    grep -q '"status":"running"' s/*/record.json
    run -7 "$CELLRUN" sweep c.yaml --dir s seed=1,2 -q
    run -0 "$CELLRUN" sweep c.yaml --dir s seed=1,2 -q --retry-failed
    [ "$(cut -f 2 s/sweep.tsv | sort -u | xargs)" = "done status" ]
}
