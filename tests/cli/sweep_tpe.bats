# sweep with the method tpe: points that follow from the results so far.
bats_require_minimum_version 1.5.0
set -o pipefail
load small

# a network of two shapes, one of which has a parameter of its own
setup_file() {
    cd "$BATS_FILE_TMPDIR"
    config c.yaml
    cat >s.yaml <<'END'
base: c.yaml
vars: {kind: plain, momentum: 0.9}
optimizer: !replace {Momentum: {learning_rate: 0.05, momentum: $momentum}}
train: {epochs: 1}
sweep:
  method: tpe
  count: 12
  metric: {name: eval.loss}
  tpe: {startup: 4}
  parameters:
    optimizer.learning_rate: {distribution: log_uniform, min: 1e-4, max: 1.0}
    datapipe.batch.batch_size: {distribution: int_log_uniform, min: 4, max: 64}
    vars.kind: {values: [plain, heavy]}
    vars.momentum: {distribution: uniform, min: 0.5, max: 0.99, when: $(kind == "heavy")}
END
    "$CELLRUN" sweep s.yaml --dir whole -q
}

setup() {
    cd "$BATS_FILE_TMPDIR"
}

# The columns of sweep.tsv that do not depend on the time it took.
table() {
    awk -F'\t' -v OFS='\t' '{ $(NF - 1) = ""; print }' "$1/sweep.tsv"
}

@test "tpe runs as many points as asked for, each stored with its number" {
    [ "$(cut -f2 whole/sweep.tsv | sort | uniq -c | xargs)" = "12 done 1 status" ]
    [ "$(find whole/.sweep -name 'tpe-*' | wc -l)" -ge 12 ]
    [ "$(find whole/.sweep -name '.tpe-*' | wc -l)" = 0 ]
}

@test "tpe begins with the points of random" {
    run -0 "$CELLRUN" sweep s.yaml sweep.method=random --count 4 --dir r --dry-run
    diff <(awk 'NR > 1 && NR < 6 { print $1 }' <<<"$output") \
        <(sed -n 2,5p whole/sweep.tsv | cut -f1)
}

@test "tpe keeps to the ranges and conditions of the parameters" {
    awk -F'\t' 'NR > 1 {
            good = $4 >= 1e-4 && $4 <= 1 && $5 == int($5) && $5 >= 4 && $5 <= 64
            if ($6 == "heavy") { good = good && $7 >= 0.5 && $7 <= 0.99 }
            else { good = good && $7 == "" }
            if (!good) { print; bad = 1 }
        } END { exit bad }' whole/sweep.tsv
    [ "$(cut -f6 whole/sweep.tsv | sort -u | xargs)" = "heavy plain vars.kind" ]
}

@test "tpe: a larger count adds points and changes none" {
    cp -r whole more
    run -0 "$CELLRUN" sweep s.yaml --dir more -q --count 14
    diff <(table whole) <(table more | head -n 13)
    [ "$(wc -l <more/sweep.tsv)" = 15 ]
}

@test "tpe, killed and started again: it continues with the points it has" {
    for n in 1 5 9; do
        "$CELLRUN" sweep s.yaml --dir killed -q >/dev/null &
        p=$!
        until [ -e killed/.sweep/tpe-$n ] || ! kill -0 $p 2>/dev/null; do
            sleep "0.0$((RANDOM % 5 + 1))"
        done
        kill -9 $p 2>/dev/null || :
        rc=0
        wait $p || rc=$?
        [ $rc = 0 ] || [ $rc = 137 ]
    done
    (cd killed/.sweep && md5sum tpe-*) >before
    run -0 "$CELLRUN" sweep s.yaml --dir killed -q
    [ -s before ]
    (cd killed/.sweep && md5sum -c --quiet) <before
    [ "$(cut -f2 killed/sweep.tsv | sort | uniq -c | xargs)" = "12 done 1 status" ]
}

@test "tpe, three processes at once: each point once, no more than asked for" {
    pids=()
    for _ in 1 2 3; do
        "$CELLRUN" sweep s.yaml --dir three -q >/dev/null &
        pids+=($!)
    done
    sleep 0.1
    kill -9 "${pids[1]}" 2>/dev/null || :
    wait "${pids[0]}"
    wait "${pids[2]}"
    [ "$(cut -f2 three/sweep.tsv | sort | uniq -c | xargs)" = "12 done 1 status" ]
    [ "$(cut -f1 three/sweep.tsv | sort -u | wc -l)" = 13 ]
}

@test "tpe on a small space ends with all its points" {
    run -0 --separate-stderr "$CELLRUN" sweep c.yaml --dir small -q \
        sweep.method=tpe sweep.tpe.startup=2 train.epochs=1 seed=1,2,3 --count 5
    [ "$(tail -n +2 small/sweep.tsv | cut -f4 | sort | xargs)" = "1 2 3" ]
    [[ $stderr = *"found only 3 different points, not 5"* ]]
}

@test "tpe refuses stored points of other parameters, and damaged ones" {
    cp -r whole other
    sed 's/max: 64/max: 32/' s.yaml >narrow.yaml
    run -2 "$CELLRUN" sweep narrow.yaml --dir other -q
    [[ $output = *"tpe-0: error: not a point of these parameters"* ]]
    echo 'no point' >other/.sweep/tpe-3
    run -2 "$CELLRUN" sweep s.yaml --dir other -q
    [[ $output = *"tpe-3: error: not a point of these parameters"* ]]
}

@test "tpe: --jobs auto measures its first point" {
    run -0 "$CELLRUN" sweep s.yaml --dir auto --jobs auto --count 3
    [[ $output = *"--jobs auto: "* ]]
    [ "$(cut -f2 auto/sweep.tsv | xargs)" = "status done done done" ]
    [ "$(nproc)" = 1 ] || [[ $output = *samples/s* ]]
}

@test "tpe cannot list its points in advance" {
    run -2 "$CELLRUN" sweep s.yaml --dir p --print
    [[ $output = *"decides by the results so far"* ]]
}

@test "tpe: other users may read its files; no other file is left" {
    (umask 027 && "$CELLRUN" sweep s.yaml --dir shared -q --count 1 >/dev/null)
    [ "$(stat -c %a shared/.sweep/tpe-0)" = 640 ]
    [ "$(find shared/.sweep -name '.tpe-*' | wc -l)" = 0 ]
}

@test "tpe on a file system without hard links" {
    [[ $("$CELLRUN" version) != *-fsanitize* ]] ||
        skip 'a sanitizer must be the first library that is loaded'
    "$CELLRUN" sweep s.yaml --dir links -q --count 1 >/dev/null
    INJECT_KIND=link INJECT_AT=1 LD_PRELOAD=$BUILD/tests/inject/inject.so \
        run -0 "$CELLRUN" sweep s.yaml --dir nolink -q --count 1
    diff links/.sweep/tpe-0 nolink/.sweep/tpe-0
    # nor is what is there replaced, whatever the file system can do
    echo 'no point' >nolink/.sweep/tpe-1
    run -2 "$CELLRUN" sweep s.yaml --dir nolink -q --count 2
    [[ $output = *"tpe-1: error: not a point of these parameters"* ]]
}
