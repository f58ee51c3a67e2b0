# runs rm, runs gc: what is deleted, and what stays.
bats_require_minimum_version 1.5.0
set -o pipefail

# a_run DIR ID [STATUS]: a run directory with all that train writes
a_run() {
    mkdir -p "$1/ckpt"
    echo '{"cellrun":"0.1.0","id":"'"$2"'","started":"2026-01-01T10:00:00Z",
 "status":"'"${3:-completed}"'","epochs":3,"eval":{"accuracy":0.5}}' \
        >"$1/record.json"
    for f in config.yaml resolved.yaml command metrics.jsonl log.txt \
             eval.npz samples.json report.html provenance.json \
             events.out.tfevents.17.cellrun conv-12.npz; do
        echo "seed: 1" >"$1/$f"
    done
    for i in 1 2 3; do
        head -c 1000 /dev/zero >"$1/ckpt/net-${i}_8.safetensors"
    done
    ln "$1/ckpt/net-2_8.safetensors" "$1/ckpt/best.safetensors"
    ln "$1/ckpt/net-3_8.safetensors" "$1/ckpt/last.safetensors"
}

# lock DIR: the lock of a live process on another machine
lock() {
    echo 'elsewhere 1 1 another-boot pid:[1]' >"$1/lock"
}

setup() {
    cd "$BATS_TEST_TMPDIR"
    unset CELLRUN_RUNS COLUMNS PAGER
    a_run runs/net/aaaa1111 aaaa1111
    a_run runs/net/bbbb2222 bbbb2222 failed
    a_run runs/net/cccc3333 cccc3333 running
}

# all FOLDER...: each file and its size
all() {
    find "$@" -printf '%p %s %y\n' | sort
}

@test "rm deletes the runs that are named, and nothing else" {
    run -0 --separate-stderr "$CELLRUN" runs rm aaaa runs/net/bbbb2222 --yes \
        --tsv
    [ "$output" = "run	status	files	size
runs/net/aaaa1111	completed	17	$((3000 + 11 * 8 + $(wc -c <runs/net/cccc3333/record.json) + 2))
runs/net/bbbb2222	failed	17	$((3000 + 11 * 8 + $(wc -c <runs/net/cccc3333/record.json) - 1))" ]
    [ "$stderr" = "deleted 2 runs, 6.3 KiB" ]
    [ "$(ls -A runs/net)" = cccc3333 ]
    [ "$(find runs -type f | wc -l)" = 17 ]
}

@test "rm --where deletes the runs that satisfy it, but no running one" {
    lock runs/net/cccc3333
    run -0 --separate-stderr "$CELLRUN" runs rm --where 'accuracy=0.5' -y
    [[ "$stderr" == "1 run skipped: still running"*"deleted 2 runs, "* ]]
    [ "$(ls -A runs/net)" = cccc3333 ]
    [ "$(find runs -type f | wc -l)" = 18 ]
    run -0 --separate-stderr "$CELLRUN" runs rm --where 'accuracy>0.5' -y
    [ "$stderr" = "no run to delete" ]
    # its process has been killed
    touch -d '10 minutes ago' runs/net/cccc3333/lock
    run -0 --separate-stderr "$CELLRUN" runs rm --where status=interrupted -y \
        --json
    [ "$(jq -c '.[] | [.path, .status, .files, .stays]' <<<"$output")" = \
      '["runs/net/cccc3333","interrupted",18,[]]' ]
    [ -z "$(ls -A runs/net)" ]
}

@test "without a terminal --yes is needed; --dry-run deletes nothing" {
    all runs >before
    for c in 'rm aaaa' 'rm --where status=failed' gc; do
        run -2 --separate-stderr "$CELLRUN" runs $c </dev/null
        [ -z "$output" ]
        [[ "$stderr" == *"asks before it deletes, but standard input or"* ]]
        [[ "$stderr" == *"use --yes to delete"* ]]
        run -0 "$CELLRUN" runs $c --dry-run </dev/null
        [ -n "$output" ]
        run -0 "$CELLRUN" runs $c --dry-run --yes
    done
    run -0 --separate-stderr "$CELLRUN" runs gc -n --tsv
    [ "$output" = "run	what	files	size
runs/net/aaaa1111	checkpoints	1	1000" ]
    all runs | cmp - before
}

@test "on a terminal they ask: only y and yes delete" {
    for answer in n '' q; do
        run -0 script -qec "$CELLRUN runs rm aaaa" /dev/null <<<"$answer"
        [[ "$output" == *"Delete 1 run, 3.1 KiB? [y/N]"*"Nothing was deleted."* ]]
        [ -e runs/net/aaaa1111 ]
    done
    run -0 script -qec "$CELLRUN runs gc" /dev/null <<<y
    [[ "$output" == *"Delete 1 file, 1000 bytes? [y/N]"*"deleted 1 file"* ]]
    run -0 script -qec "$CELLRUN runs rm aaaa" /dev/null <<<yes
    [[ "$output" == *"deleted 1 run, "* ]]
    [ ! -e runs/net/aaaa1111 ]
}

@test "rm refuses running runs, links and other files, and then deletes none" {
    lock runs/net/cccc3333
    mkdir other notes
    echo 1 >other/file
    echo '{' >notes/record.json
    echo 1 >notes/metrics.jsonl
    ln -s net/aaaa1111 runs/link
    all runs other notes >before
    for bad in cccc:'the run is still running' other:'neither a run directory nor' \
               notes:'without a readable record.json' \
               link:'found a symbolic link, expected a run directory' \
               net:'is a folder of 3 runs, expected one run' \
               runs/net:'is a folder of 3 runs' \
               nosuch:'is not a run directory'; do
        run -2 --separate-stderr "$CELLRUN" runs rm net/aaaa1111 "${bad%%:*}" \
            --yes
        [[ "$stderr" == *"${bad#*:}"* ]]
        [[ "$stderr" != *deleted* ]]
    done
    run -2 --separate-stderr "$CELLRUN" runs rm --yes
    [[ "$stderr" == *"found neither, expected the names of runs or --where"* ]]
    run -2 --separate-stderr "$CELLRUN" runs rm aaaa --where id=bbbb2222 --yes
    [[ "$stderr" == *"found both, expected the names of runs or --where"* ]]
    run -2 "$CELLRUN" runs gc aaaa --yes
    # a link does not make an id ambiguous
    run -0 "$CELLRUN" runs rm aaaa --dry-run --tsv
    [[ "$output" == *$'\nruns/net/aaaa1111\t'* ]]
    all runs other notes | cmp - before
}

@test "rm and gc follow no link out of the run" {
    mkdir away
    cp -r runs/net/aaaa1111 away/
    # a checkpoint folder on another disk, a file, a run, a folder of runs
    rm -r runs/net/aaaa1111/ckpt runs/net/bbbb2222
    ln -s "$PWD/away/aaaa1111/ckpt" runs/net/aaaa1111/ckpt
    ln -sf "$PWD/away/aaaa1111/log.txt" runs/net/aaaa1111/log.txt
    ln -s "$PWD/away/aaaa1111" runs/net/dddd4444
    ln -s "$PWD/away" runs/away
    all away >before
    run -0 --separate-stderr "$CELLRUN" runs gc --yes
    [ "$stderr" = "nothing to delete" ]
    run -0 --separate-stderr "$CELLRUN" runs rm --where id=aaaa1111 --yes --tsv
    [[ "$output" == *$'\nruns/net/aaaa1111\tcompleted\t'*$'\tckpt' ]]
    [ "${#lines[@]}" = 2 ]
    all away | cmp - before
    [ "$(ls -A runs/net/aaaa1111)" = ckpt ]
    [ -L runs/net/dddd4444 ]
    [ -L runs/away ]
}

@test "rm leaves what no run wrote" {
    echo mine >runs/net/aaaa1111/notes.txt
    mkdir runs/net/aaaa1111/figures
    echo mine >runs/net/aaaa1111/ckpt/readme
    echo mine >runs/net/aaaa1111/conv-x.npz
    mkfifo runs/net/aaaa1111/events.out.tfevents.18.x
    run -0 --separate-stderr "$CELLRUN" runs rm aaaa --dry-run --tsv
    [[ "$output" == *$'\tckpt/readme, conv-x.npz, events.out.tfevents.18.x and 2 more' ]]
    run -0 "$CELLRUN" runs rm aaaa --yes
    [ "$(cd runs/net/aaaa1111 && find . | sort | xargs)" = \
      ". ./ckpt ./ckpt/readme ./conv-x.npz ./events.out.tfevents.18.x ./figures ./notes.txt" ]
    run -0 "$CELLRUN" runs --cols id --tsv
    [ "$(xargs <<<"$output")" = "id bbbb2222 cccc3333" ]
}

@test "rm knows all that a run writes" {
    . "$BATS_TEST_DIRNAME/small.bash"
    rm -r runs
    config c.yaml
    "$CELLRUN" train c.yaml -q -o runs/c --steps 8 log.tensorboard=true \
        log.csv=true log.report=true 'log.histograms=1 epoch' \
        'watch=[{at: act, every: 4 steps, save: seen.npz, in: [train, eval]}, {at: out, every: 4 steps, save: out.safetensors}]'
    "$CELLRUN" report runs/c -o runs/c/report.html -q
    [ "$(ls -A runs/c | wc -l)" -gt 15 ]
    run -0 "$CELLRUN" runs rm runs/c --dry-run --json
    [ "$(jq -c '.[0].stays' <<<"$output")" = "[]" ]
    "$CELLRUN" runs rm runs/c --yes -q
    [ -z "$(ls -A runs)" ]
}

@test "gc keeps the best, the last, and what is not complete" {
    a_run runs/e eeee5555 early_stopped
    a_run runs/f ffff6666 # copies, and no last
    rm runs/f/ckpt/best.safetensors runs/f/ckpt/last.safetensors
    echo mine >runs/f/ckpt/average.safetensors
    run -0 --separate-stderr "$CELLRUN" runs gc --yes --tsv
    [ "$output" = "run	what	files	size
runs/e	checkpoints	1	1000
runs/f	checkpoints	2	2000
runs/net/aaaa1111	checkpoints	1	1000" ]
    [ "$stderr" = "deleted 4 files, 3.9 KiB" ]
    [ "$(ls runs/e/ckpt | xargs)" = \
      "best.safetensors last.safetensors net-2_8.safetensors net-3_8.safetensors" ]
    [ "$(ls runs/f/ckpt | xargs)" = "average.safetensors net-3_8.safetensors" ]
    [ "$(ls runs/net/bbbb2222/ckpt | wc -l)" = 5 ]
    [ "$(ls runs/net/cccc3333/ckpt | wc -l)" = 5 ]
    run -0 --separate-stderr "$CELLRUN" runs gc --yes
    [ "$stderr" = "nothing to delete" ]
}

@test "gc deletes temporary files, runs that never began, and what rm left" {
    rm -r runs/net
    a_run runs/a aaaa1111 failed
    a_run runs/live bbbb2222 running
    lock runs/live
    touch runs/live/.log.txt.tmp.77
    touch runs/a/.record.json.tmp.77 runs/a/ckpt/.last.safetensors.tmp.8 \
          runs/a/tmp.5 runs/a/.profile runs/a/.notes.of.2024
    echo 'elsewhere 1 1 another-boot pid:[1]' >runs/a/lock
    touch -d '10 minutes ago' runs/a/lock
    mkdir -p runs/never/ckpt runs/folder runs/starts/ckpt runs/.hidden/ckpt
    touch runs/never/lock.tmp.x.7
    lock runs/starts
    mv runs/a runs/b
    a_run runs/.b.removed.123 bbbb2222
    mkdir -p runs/.c.removed.x/ckpt
    run -0 --separate-stderr "$CELLRUN" runs gc --yes --tsv
    cut -f 1-3 <<<"$output" | cmp - <(printf '%s\n' "run	what	files" \
        "runs/.b.removed.123	a deleted run	17" \
        "runs/b	temporary files	3" \
        "runs/never	a run that never began	1")
    [ "$(ls -A runs | xargs)" = ".c.removed.x .hidden b folder live starts" ]
    [ "$(ls -A runs/b | grep -c tmp)" = 1 ]
    [ -e runs/b/.profile ]
    [ -e runs/b/.notes.of.2024 ]
    [ ! -e runs/b/lock ]
    [ "$(ls runs/b/ckpt | wc -l)" = 5 ]
    [ -e runs/live/.log.txt.tmp.77 ]
}

@test "two rm at once, and one that is killed" {
    for i in 1 2 3 4 5 6 7 8; do
        a_run runs/x$i 0000000$i
    done
    "$CELLRUN" runs rm --where 'id!=aaaa1111' --yes -q >/dev/null 2>one &
    "$CELLRUN" runs rm --where 'id!=aaaa1111' --yes -q >/dev/null 2>two ||
        [ $? = 2 ]
    wait $! || [ $? = 2 ]
    [ "$(find runs -name record.json)" = runs/net/aaaa1111/record.json ]
    [ -z "$(find runs -name '.*')" ]
    # whatever is there when it dies is a whole run, or a remainder for gc
    for i in $(seq 10); do
        a_run runs/y dddd4444
        "$CELLRUN" runs rm runs/y --yes -q >/dev/null 2>&1 &
        perl -e 'select undef, undef, undef, 0.0007 * $ARGV[0]' "$i"
        kill -9 $! 2>/dev/null || true
        wait $! || [ $? -ge 0 ]
        if [ -e runs/y ]; then
            [ "$(ls runs/y/ckpt | wc -l)" = 5 ]
        fi
        run -0 "$CELLRUN" runs gc --yes
        [ -z "$(find runs -name '.*')" ]
        rm -rf runs/y
    done
}
