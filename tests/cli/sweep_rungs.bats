# sweep with the methods halving and asha: points that stop at rungs.
bats_require_minimum_version 1.5.0
set -o pipefail
load small

# a sweep of learning rates, some of them far too small, some too large
setup_file() {
    cd "$BATS_FILE_TMPDIR"
    config c.yaml
    cat >s.yaml <<'END'
base: c.yaml
train: {epochs: 4}
sweep:
  method: halving
  count: 8
  metric: {name: eval.accuracy, goal: maximize}
  parameters:
    optimizer.learning_rate: {distribution: log_uniform, min: 1e-5, max: 1.0}
  halving: {min: 1, eta: 2}
END
    "$CELLRUN" sweep s.yaml --dir whole --jobs 2 2>whole.err
}

setup() {
    cd "$BATS_FILE_TMPDIR"
}

# column NAME FILE: the values of a column of a TSV file
column() {
    awk -F'\t' -v name="$1" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) c = i; next } { print $c }' "$2"
}

# at EPOCH DIR: the accuracy of a run at the end of that epoch
at() {
    jq -r "select(.split == \"eval\" and .epoch == $1 - 1) | .accuracy" "$2/metrics.jsonl" | tail -1
}

# best DIR EPOCH N ID...: the N of the points with the best accuracy there
best() {
    local dir=$1 epoch=$2 n=$3 id
    shift 3
    for id in "$@"; do
        printf '%s %s\n' "$(at "$epoch" "$dir/$id")" "$id"
    done | sort -s -k1,1gr | head -n "$n" | cut -d' ' -f2 | sort
}

# same tables but for the time they took
same_table() {
    diff <(cut -f1,2,4,5,6,7 "$1/sweep.tsv") <(cut -f1,2,4,5,6,7 "$2/sweep.tsv")
}

@test "halving trains all points for min epochs, the best of each rung longer" {
    local ids
    [ "$(column epochs whole/sweep.tsv | sort -n | xargs)" = "1 1 1 1 2 2 4 4" ]
    [ "$(column status whole/sweep.tsv | sort | uniq -c | xargs)" = "2 done 6 stopped" ]
    mapfile -t ids < <(column id whole/sweep.tsv)
    diff <(best whole 1 4 "${ids[@]}") <(awk -F'\t' 'NR > 1 && $5 > 1 { print $1 }' <(cut -f1-4,6 whole/sweep.tsv) | sort)
    mapfile -t ids < <(best whole 1 4 "${ids[@]}")
    diff <(best whole 2 2 "${ids[@]}") <(awk -F'\t' '$2 == "done" { print $1 }' whole/sweep.tsv | sort)
}

@test "a promoted point has the bytes of a run that did not stop" {
    local id rate
    id=$(awk -F'\t' '$2 == "done" { print $1; exit }' whole/sweep.tsv)
    rate=$(awk -F'\t' '$2 == "done" { print $4; exit }' whole/sweep.tsv)
    "$CELLRUN" train s.yaml -o alone -q optimizer.learning_rate="$rate"
    cmp alone/ckpt/last.safetensors "whole/$id/ckpt/last.safetensors"
}

@test "halving by two processes that are killed gives the same table" {
    local i pid
    for i in 1 2 3 4 5 6; do
        "$CELLRUN" sweep s.yaml --dir parts -q 2>/dev/null >/dev/null &
        pid=$!
        "$CELLRUN" sweep s.yaml --dir parts -q 2>/dev/null >/dev/null &
        sleep 0.0$i
        kill -9 $pid $! 2>/dev/null || :
        wait
    done
    "$CELLRUN" sweep s.yaml --dir parts -q 2>/dev/null >/dev/null &
    "$CELLRUN" sweep s.yaml --dir parts -q
    wait
    same_table whole parts
}

@test "a run that was killed between a rung and its evaluation gets it" {
    local dir rate
    cp -a whole killed
    for dir in killed/*/; do
        [ "$(jq .epochs "$dir/record.json")" = 1 ] || continue
        # as SIGTERM leaves it after the last step of the epoch
        rate=$(awk -F'\t' -v id="$(basename "$dir")" '$1 == id { print $4 }' whole/sweep.tsv)
        rm -rf none
        "$CELLRUN" train s.yaml -q -o none optimizer.learning_rate="$rate" \
            eval.every='3 epochs' train.stop_after='20 steps' || [ $? = 75 ]
        rm "$dir"/ckpt/*
        cp none/ckpt/s-1_19.safetensors "$dir/ckpt/last.safetensors"
        sed -i 's/"status":"stopped"/"status":"terminated"/' "$dir/record.json"
        grep -v '"split":"eval"' "$dir/metrics.jsonl" >rows
        cp rows "$dir/metrics.jsonl"
    done
    [ "$("$CELLRUN" sweep s.yaml --dir killed --status | tail -1)" = \
        "8 points: 4 interrupted 2 stopped 2 done" ]
    "$CELLRUN" sweep s.yaml --dir killed -q
    same_table whole killed
}

@test "asha promotes the best of each rung without waiting, by two processes" {
    local ids
    "$CELLRUN" sweep s.yaml --dir a -q sweep.method=asha >/dev/null &
    "$CELLRUN" sweep s.yaml --dir a -q sweep.method=asha
    wait
    mapfile -t ids < <(column id a/sweep.tsv)
    # all of the best half in the end; others were among the best before
    best a 1 4 "${ids[@]}" >best
    awk -F'\t' 'NR > 1 && $5 > 1 { print $1 }' <(cut -f1-4,6 a/sweep.tsv) | sort >longer
    [ -z "$(comm -23 best longer)" ]
    mapfile -t ids <longer
    best a 2 $((${#ids[@]} / 2)) "${ids[@]}" >best
    awk -F'\t' '$2 == "done" { print $1 }' a/sweep.tsv | sort >done
    [ -z "$(comm -23 best done)" ]
    # a point of a rung has passed those below
    [ "$(column status a/sweep.tsv | grep -c 'waiting\|running\|interrupted')" = 0 ]
}

@test "a sweep that is done starts nothing again" {
    run -0 "$CELLRUN" sweep s.yaml --dir whole
    [ "$output" = whole/sweep.tsv ]
    run -0 "$CELLRUN" sweep s.yaml --dir whole --status
    [[ ${lines[-1]} == "8 points: 6 stopped 2 done" ]]
}

@test "lists of values are combined as by grid; goal minimize; rungs in steps" {
    run -0 "$CELLRUN" sweep c.yaml --dir g -q sweep.method=halving \
        sweep.metric.name=eval.loss sweep.halving.unit=steps \
        sweep.halving.min=2 train.steps=4 sweep.halving.eta=2 \
        optimizer.learning_rate=0.1,1e-9
    [ "$(column steps g/sweep.tsv | xargs)" = "4 2" ]
    run -0 "$CELLRUN" sweep c.yaml --dir g2 -q sweep.method=halving \
        sweep.metric.name=eval.loss sweep.metric.goal=maximize \
        sweep.halving.unit=steps sweep.halving.min=2 sweep.halving.max=4 \
        sweep.halving.eta=2 optimizer.learning_rate=0.1,1e-9 train.steps=3
    [ "$(column steps g2/sweep.tsv | xargs)" = "2 4" ]
}

@test "wrong settings of rungs are reported before anything is run" {
    # wrong MESSAGE ARGS...
    wrong() {
        run -2 "$CELLRUN" sweep s.yaml --dir w "${@:2}"
        [[ $output == *"$1"* && $output == *"Nothing was run."* ]]
        [ ! -e w ]
    }
    wrong "min is 9, expected at most max, 4" sweep.halving.min=9
    wrong "'train.epochs' cannot be a parameter" train.epochs=1,2
    wrong "has no direction" sweep.metric.name=eval.strange sweep.metric.goal=auto
    wrong "--print cannot be used with the method halving" --print
    wrong "--index cannot be used with the method halving" --index 0
    wrong "needs 'sweep.halving.max' or 'train.epochs'" train.steps=3
}

@test "points whose lengths follow from a parameter cannot be compared" {
    printf 'base: s.yaml\nvars: {a: 4}\nseed: $a\ntrain: {epochs: $a}\n' >l.yaml
    run -2 "$CELLRUN" sweep l.yaml --dir l vars.a=4,2
    [[ $output == *"train.epochs of a point is 2, expected 4: the method halving compares points of one length"* ]]
    [ ! -e l ]
    # unless halving.max replaces it
    run -0 "$CELLRUN" sweep l.yaml --dir l --dry-run vars.a=4,2 \
        sweep.halving.max=6 --count 3
    [[ ${lines[-1]} == "3 points: 3 waiting" ]]
}

@test "a larger halving.max continues the points" {
    run -0 "$CELLRUN" sweep s.yaml --dir m -q --count 4
    (cd m && echo [0-9a-f]*/) >before
    run -0 "$CELLRUN" sweep s.yaml --dir m -q --count 4 sweep.halving.max=8
    diff <(cd m && echo [0-9a-f]*/) before
    [ "$(column epochs m/sweep.tsv | sort -n | tail -1)" = 8 ]
}

@test "points without the metric of the sweep end it with a message" {
    run -2 "$CELLRUN" sweep s.yaml --dir n -q '~dataset.eval' '~metrics'
    [[ $output == *"compares points by 'eval.accuracy', which the runs do not have"* ]]
}
