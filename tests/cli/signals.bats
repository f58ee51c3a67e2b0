# Signals to a run: what it does, and its exit status.
bats_require_minimum_version 1.5.0
set -o pipefail

setup() {
    . "$BATS_TEST_DIRNAME/small.bash"
    cd "$BATS_TEST_TMPDIR"
    unset CELLRUN_SET CELLRUN_DATA CELLRUN_RUNS CELLRUN_THREADS
    config c.yaml
    p=
}

teardown() {
    [ -z "$p" ] || kill -9 $p 2>/dev/null || true
}

# status_of SIGNAL COMMAND...: how it ends, as waitpid says, after the signal,
# which it is sent when it has its handlers; it reads from an open pipe.
status_of() {
    perl -e '
        my $signal = shift;
        pipe my $in, my $out or die;
        my $p = fork // die;
        if (!$p) {
            open STDIN, "<&", $in or die;
            open STDOUT, ">", "/dev/null" or die;
            close $out;
            exec @ARGV or die;
        }
        for (1 .. 1000) {
            open my $f, "<", "/proc/$p/status" or die;
            my ($set) = map { /^SigCgt:\s*(\S+)/ } <$f>;
            last if hex(substr $set, -4) & 1 << 14;
            select undef, undef, undef, 0.02;
        }
        kill $signal, $p;
        waitpid $p, 0;
        print $? & 127 ? "signal " . ($? & 127) : "status " . ($? >> 8), "\n";
    ' "$@"
}

# start COMMAND...: in the background as process p, what it prints in out and
# err, its status in rc. A shell of its own waits for it: bash's wait in a bats
# test can come back early ("No record of process").
start() {
    rm -f pid rc
    (
        status=0
        sh -c 'echo $$ >pid; exec "$@"' sh "$@" >out 2>err || status=$?
        echo $status >rc.new
        mv rc.new rc
    ) 3>&- &
    within 20 test -s pid
    p=$(cat pid)
}

# begin ARGUMENTS: a run without end in r; it has begun to train
begin() {
    start "$CELLRUN" train c.yaml -o r --epochs 1000000 eval.every='9 h' \
        checkpoint.every='9 h' "$@"
    within 20 grep -q 'loss:' err
}

# long_evaluation: of zeros that take no room on the disk, one by one
long_evaluation() {
    local n=20000000
    sed -i 's/eval-x.npy, eval-y.npy/zeros-x.npy, zeros-y.npy/' c.yaml
    npy zeros-x.npy '<f4' "($n, 8)" </dev/null
    npy zeros-y.npy '<i4' "($n,)" </dev/null
    truncate -s $((128 + n * 32)) zeros-x.npy
    truncate -s $((128 + n * 4)) zeros-y.npy
}

# ends STATUS...: the process does, with one of them
ends() {
    within 60 test -e rc
    rc=$(cat rc)
    p=
    output=$(cat out)
    case " $* " in
    *" $rc "*) ;;
    *)
        echo "status $rc: $output"
        cat err
        false
        ;;
    esac
}

@test "INT and TERM end any command with 130 and 143, not as a signal" {
    [ "$(status_of INT "$CELLRUN" config -)" = "status 130" ]
    [ "$(status_of TERM "$CELLRUN" fmt -)" = "status 143" ]
    [ "$(status_of INT "$CELLRUN" bench c.yaml)" = "status 130" ]
    [ "$(status_of TERM "$CELLRUN" selftest)" = "status 143" ]
    [ "$(status_of HUP "$CELLRUN" config -)" = "signal 1" ]
}

@test "INT and TERM: save, 130 and 143" {
    for s in INT:130:interrupted TERM:143:terminated; do
        IFS=: read -r name code word <<<"$s"
        begin
        kill -"$name" $p
        ends "$code"
        [ "$(value status)" = "$word" ] || { cat out err; false; }
        grep -qx 'to continue: cellrun resume r' err
        run -0 "$CELLRUN" ckpt verify r/ckpt/last
        grep -q "\"status\":\"$word\",\"exit\":$code" r/record.json
        [ ! -e r/lock ]
        rm -r r
    done
}

@test "a run saved by a signal resumes without a trace" {
    begin
    kill -TERM $p
    ends 143
    n=$(value steps)
    run -0 "$CELLRUN" train c.yaml -o r -q --resume auto --steps $((n + 40)) \
        eval.every='9 h' checkpoint.every='9 h'
    run -0 "$CELLRUN" train c.yaml -o s -q --steps $((n + 40)) \
        eval.every='9 h' checkpoint.every='9 h'
    run -0 "$CELLRUN" ckpt diff r/ckpt/last s/ckpt/last
}

@test "HUP and USR1 save, and the run continues" {
    begin
    kill -HUP $p
    within 20 test -e r/ckpt/last.safetensors
    first=$(readlink -f r/ckpt/last.safetensors; ls -i r/ckpt/last.safetensors)
    kill -USR1 $p
    within 20 sh -c '[ "$(ls -i r/ckpt/last.safetensors)" != "'"${first##*$'\n'}"'" ]'
    kill -0 $p
    kill -TERM $p
    ends 143
}

@test "run.on_usr1: stop ends with 75 after saving" {
    begin run.on_usr1=stop
    kill -USR1 $p
    ends 75
    [ "$(value status)" = stopped ]
    grep -qx 'to continue: cellrun resume r' err
    run -0 "$CELLRUN" ckpt verify r/ckpt/last
}

@test "USR2 prints a status line and reads log.every again" {
    echo 'log: {every: 9 h}' >log.yaml
    start "$CELLRUN" train c.yaml log.yaml -o r --epochs 1000000 \
        eval.every='9 h' checkpoint.every='9 h'
    within 20 grep -q 'loss:' err
    [ "$(grep -c 'loss:' err)" = 1 ]
    echo 'log: {every: 1 steps}' >log.yaml
    kill -USR2 $p
    within 20 grep -Eq '^epoch [0-9]+, step [0-9]+ of 19000000, loss [0-9.]+, lr 0.05$' err
    within 20 sh -c '[ "$(grep -c loss: err)" -gt 5 ]'
    echo 'log: {evry: 1 steps}' >log.yaml
    kill -USR2 $p
    within 20 grep -q "'log.evry' is not a key of log" err
    kill -0 $p
    kill -TERM $p
    ends 143
}

@test "a second signal ends at once, whatever is left" {
    begin
    kill -STOP $p
    kill -TERM $p
    kill -INT $p
    kill -CONT $p
    # by the first signal's way or the second's, never by a crash
    ends 143 130
}

@test "during an evaluation a signal does not wait for its end" {
    long_evaluation
    begin eval.every='1 steps' eval.batch_size=1
    kill -TERM $p
    ends 143
    run -0 "$CELLRUN" ckpt verify r/ckpt/last
}

@test "nohup: an ignored HUP stays ignored" {
    start env --ignore-signal=HUP "$CELLRUN" train c.yaml -o r \
        --epochs 1000000 eval.every='9 h' checkpoint.every='9 h'
    within 20 grep -q 'loss:' err
    kill -HUP $p
    kill -USR2 $p
    within 20 grep -q '^epoch' err
    [ ! -e r/ckpt/last.safetensors ]
    kill -TERM $p
    ends 143
}

# prepares ARGUMENTS: a run that waits for its second config, more.yaml, which
# is a pipe: give writes it
prepares() {
    rm -f more.yaml
    mkfifo more.yaml
    start "$CELLRUN" train c.yaml more.yaml -o r "$@"
    exec 9>more.yaml # until the run reads it
}

give() {
    rm more.yaml
    echo "$1" >more.yaml # for USR2, which reads it again
    echo "$1" >&9
    exec 9>&-
}

# ThreadSanitizer holds signals back while a call such as open waits.
needs_signals_in_calls() {
    [[ $("$CELLRUN" version) != *sanitize=thread* ]] ||
        skip 'ThreadSanitizer delays signals'
}

@test "INT and TERM while a run is prepared: it exits with 130 and 143 at once" {
    needs_signals_in_calls
    for s in INT:130 TERM:143; do
        rm -f more.yaml child wait
        mkfifo more.yaml
        # the status as wait has it: a shell calls the end by a signal 130 too
        perl -e 'my $p = fork // die;
            exec @ARGV if !$p;
            open my $f, ">", "child.new"; print $f $p; close $f;
            rename "child.new", "child"; waitpid $p, 0;
            open $f, ">", "wait"; print $f $?' \
            "$CELLRUN" train c.yaml more.yaml -o r >out 2>err 3>&- &
        exec 9>more.yaml # until the run reads it
        within 20 test -e child
        p=$(cat child)
        kill -"${s%:*}" $p
        within 20 test -s wait
        p=
        exec 9>&-
        [ "$(cat wait)" = $((${s#*:} << 8)) ]
        [ ! -e r ]
        [ ! -s out ]
    done
}

@test "a run that is prepared holds its directory, and INT gives it back" {
    [[ $("$CELLRUN" version) != *-fsanitize* ]] ||
        skip 'a sanitizer must be the first library that is loaded'
    start env INJECT_KIND=rename INJECT_AT=1 INJECT_STOP=1 \
        LD_PRELOAD="$BUILD/tests/inject/inject.so" \
        "$CELLRUN" train c.yaml -o r
    within 20 grep -q '^State:.T' /proc/$p/status
    [ -e r/lock ]
    run -2 "$CELLRUN" train c.yaml -o r
    [[ $output == *"process $p on "*"is using this run directory [E0502]"* ]]
    kill -INT $p
    kill -CONT $p
    ends 130
    [ ! -e r/lock ]
    run -0 "$CELLRUN" train c.yaml -o r -q --resume auto
}

@test "data convert and selftest: a signal leaves no folder" {
    [[ $("$CELLRUN" version) != *-fsanitize* ]] ||
        skip 'a sanitizer must be the first library that is loaded'
    for s in INT:130 TERM:143; do
        start env INJECT_KIND=sync INJECT_AT=1 INJECT_STOP=1 \
            LD_PRELOAD="$BUILD/tests/inject/inject.so" \
            "$CELLRUN" data convert c.yaml -o n
        within 20 grep -q '^State:.T' /proc/$p/status
        [ -d n ]
        kill -"${s%:*}" $p
        kill -CONT $p
        ends "${s#*:}"
        [ -z "$(find . -type d -empty)" ]
    done
    export TMPDIR=$PWD/tmp
    mkdir tmp
    start env INJECT_KIND=sync INJECT_AT=1 INJECT_STOP=1 \
        LD_PRELOAD="$BUILD/tests/inject/inject.so" \
        "$CELLRUN" selftest --quick
    within 20 grep -q '^State:.T' /proc/$p/status
    [ -n "$(ls tmp)" ]
    kill -INT $p
    kill -CONT $p
    ends 130
    [ -z "$(find tmp -type d -empty -name 'cellrun*')" ]
}

@test "sweep --jobs auto: a signal leaves no folder" {
    [ "$(nproc)" -gt 1 ] || skip 'one processor: nothing is measured'
    export TMPDIR=$PWD/tmp
    mkdir tmp
    for s in INT:130 TERM:143; do
        start "$CELLRUN" sweep c.yaml --dir s --jobs auto seed=1,2
        within 20 compgen -G 'tmp/cellrun-sweep-*/*'
        kill -"${s%:*}" $p
        ends "${s#*:}"
        [ -z "$(ls tmp)" ]
    done
    # the sweep is continued
    run -0 "$CELLRUN" sweep c.yaml --dir s -q --jobs 2 seed=1,2
}

@test "HUP, USR1 and USR2 while a run is prepared wait for its first step" {
    prepares
    kill -HUP $p
    kill -USR1 $p
    kill -USR2 $p
    give 'train: {epochs: 2}'
    ends 0
    [ "$(value status)" = completed ]
    grep -q '^epoch 1, step 0 of 38' err
    run -0 "$CELLRUN" ckpt verify r/ckpt/last
}

@test "USR1 that stops ends a run with 75 while it is prepared" {
    prepares run.on_usr1=stop
    kill -USR1 $p
    give 'train: {epochs: 2}'
    ends 75
    [ ! -e r/record.json ]
}

@test "USR1 that stops does not wait for the end of an evaluation" {
    long_evaluation
    begin eval.every='1 steps' eval.batch_size=1 run.on_usr1=stop
    kill -USR1 $p
    ends 75
    [ "$(value status)" = stopped ]
    # at the first evaluation
    [ "$(value steps)" = 1 ]
    run -0 "$CELLRUN" ckpt verify r/ckpt/last
}
