# A run on a terminal: the table of epochs, the bar, and what is left of it.
# script(1) makes the terminal, terminal.pl says what it shows.
bats_require_minimum_version 1.5.0
set -o pipefail

setup() {
    . "$BATS_TEST_DIRNAME/small.bash"
    cd "$BATS_TEST_TMPDIR"
    unset CELLRUN_SET CELLRUN_DATA CELLRUN_RUNS CELLRUN_THREADS COLUMNS \
        NO_COLOR CLICOLOR_FORCE
    export TERM=xterm LC_ALL=C.UTF-8
    config c.yaml
}

# on WIDTH COMMAND: runs it in a terminal of that width; what it writes in raw,
# what the terminal shows in screen, what must not happen in faults. Without
# noflsh the keys Ctrl-C and Ctrl-Z discard output that script has not read yet.
on() {
    timeout 300 script -qefc "stty cols $1 rows 24 noflsh; $2" raw >/dev/null 3>&-
    shows "$1"
}

shows() {
    sed -e '1{/^Script started/d}' -e '${/^Script done/d}' raw |
        perl "$BATS_TEST_DIRNAME/terminal.pl" "$1" >screen 2>faults
}

# epochs: the first column of the table
epochs() {
    sed -n 's|^ *\([0-9.]*\)/[0-9]* .*|\1|p' screen | xargs
}

# A bar does not change what remains: it was drawn, and is gone.
bar_is_gone() {
    grep -qF '[' <(tr -d '\033' <raw)
    cat faults
    cat faults; [ ! -s faults ]
    run ! grep -F '[' screen
    run ! grep -F 'left' screen
}

@test "one row for each epoch, no line too wide, nothing left: 40, 80, 200 columns" {
    for n in 40 80 200; do
        on $n "$CELLRUN train c.yaml -o r$n --epochs 12" </dev/null
        bar_is_gone
        [ "$(epochs)" = "1 2 3 4 5 6 7 8 9 10 11 12" ]
        [ "$(grep -c '^epoch ' screen)" = 1 ]
        [ "$(awk -v n=$n 'length > n' screen | grep -cv '^[a-z.]*: ')" = 0 ]
        # header, rows, summary
        [ "$(sed -n '1,13!p' screen | head -1)" = 'status: completed' ]
    done
}

@test "columns: the more room the more of them, under one another" {
    on 36 "$CELLRUN train c.yaml -o a -q --progress bar" </dev/null
    on 39 "$CELLRUN train c.yaml -o b" </dev/null
    [ "$(head -1 screen | xargs)" = 'epoch loss accuracy time' ]
    on 100 "$CELLRUN train c.yaml -o c" </dev/null
    [ "$(head -1 screen | xargs)" = \
        'epoch loss accuracy eval.loss samples/s lr time' ]
    # the cells end where their names end
    local at
    at=$(head -1 screen | awk '{ print index($0, "accuracy") + 7 }')
    for i in 2 3 4; do
        [[ $(sed -n ${i}p screen | cut -c "$((at - 5))-$at") == 0.* ]]
    done
    # the learning rate where it changes: in the first row only
    [ "$(grep -c ' 0.05 ' screen)" = 1 ]
    grep -q '^ *1/3 .* 0.05 .* best$' screen
}

@test "a terminal that is resized during the run" {
    # after epoch 4 the width is 40, after epoch 8 it is 120
    cat >resize <<'END'
case $CELLRUN_EPOCH in
3) n=40 ;;
7) n=120 ;;
*) exit ;;
esac
stty -F /dev/tty cols $n
printf '\033]width %d\a' $n
END
    on 80 "$CELLRUN train c.yaml -o r --epochs 12 run.exec_on_eval='sh resize'" \
        </dev/null
    bar_is_gone
    [ "$(epochs)" = "1 2 3 4 5 6 7 8 9 10 11 12" ]
    # a header says which columns follow
    [ "$(grep -c '^epoch ' screen)" = 3 ]
    [ "$(sed -n 5,9p screen | awk 'length >= 40' | wc -l)" = 0 ]
}

@test "evaluations within an epoch have rows of their own" {
    on 80 "$CELLRUN train c.yaml -o r --epochs 2 eval.every='10 steps'" </dev/null
    bar_is_gone
    [ "$(epochs)" = '0.53 1 1.05 1.58 2' ]
    on 80 "$CELLRUN train c.yaml -o s --steps 30 eval.every='9 h'" </dev/null
    [ "$(epochs)" = '1 1.58' ]
    on 80 "$CELLRUN train c.yaml -o t --epochs 2 '~dataset.eval' '~metrics'" </dev/null
    bar_is_gone
    [ "$(epochs)" = '1 2' ]
    on 80 "$CELLRUN train c.yaml -o u --epochs 4 train.grad_accumulation=4" </dev/null
    [ "$(epochs)" = '1 2 3 4' ]
}

# press REGEX KEY [REGEX KEY]... COMMAND: types each key when what the command
# writes matches; so does COMMAND itself, which begins it. The shell around it survives Ctrl-C, also before it waits.
press() {
    {
        while [ $# -gt 1 ]; do
            within 20 grep -zq "$1" raw
            printf "$2"
            shift 2
        done
        within 50 test -e ended
    } | on 200 "trap : INT; ${!#}; echo status \$? >ended"
}

@test "Ctrl-C: nothing is left, what is saved and how to continue is said" {
    : >raw
    press '2/1000000 ' '\003' "$CELLRUN train c.yaml -o r --epochs 1000000"
    grep -qx 'status 130' ended
    bar_is_gone
    grep -qx 'saved: r/ckpt/c-.*\.safetensors (after step [0-9]* of 19000000)' screen
    grep -qx 'to continue: cellrun resume r' screen
    # every epoch has its row, up to the one that was interrupted
    [ "$(epochs)" = "$(seq "$(epochs | wc -w)" | xargs)" ]
    run -0 "$CELLRUN" ckpt verify r/ckpt/last
}

@test "Ctrl-Z: the bar is erased, fg continues" {
    : >raw
    # the space is escaped: raw begins with the command
    press '2/1000000 ' '\032' 'fg again.*2/1000000 ' '\003' "bash -mc '
        $CELLRUN train c.yaml -o r --epochs 1000000 \\
            eval.every=9h checkpoint.every=9h
        echo fg\\ again; fg'"
    cat faults; [ ! -s faults ]
    grep -q 'fg again' screen
    run ! grep -F ' left' screen
    [ "$(epochs)" = "$(seq "$(epochs | wc -w)" | xargs)" ]
}

@test "colours, characters: NO_COLOR, --color, the locale" {
    esc=$(printf '\033')
    on 80 "$CELLRUN train c.yaml -o a" </dev/null
    grep -qF "$esc[32mbest" raw
    NO_COLOR=1 on 80 "$CELLRUN train c.yaml -o b" </dev/null
    run ! grep -q "$esc\[[0-9;]*m" raw
    bar_is_gone
    on 80 "$CELLRUN train c.yaml -o c --color never" </dev/null
    run ! grep -q "$esc\[[0-9;]*m" raw
    on 120 "$CELLRUN train c.yaml -o d --epochs 9" </dev/null
    grep -q '▁' raw
    LC_ALL=C on 120 "$CELLRUN train c.yaml -o e --epochs 9" </dev/null
    run ! grep -qP '[^\x00-\x7f]' raw
    grep -q '\^\^' raw
}

@test "a dumb terminal, and --progress plain: the plain log" {
    for how in 'TERM=dumb' 'TERM=' 'A=b'; do
        flag=
        [ "$how" != A=b ] || flag='--progress plain'
        on 80 "env $how $CELLRUN train c.yaml -o r --force $flag" </dev/null
        run ! grep -qF "$(printf '\033[J')" raw
        [ "$(grep -c '^mean loss of epoch' screen)" = 3 ]
    done
    on 80 "$CELLRUN train c.yaml -o r --force --progress none" </dev/null
    [ "$(head -1 screen)" = 'status: completed' ]
}

@test "the log has no bar and no table" {
    on 80 "$CELLRUN train c.yaml -o r" </dev/null
    "$CELLRUN" train c.yaml -o s 2>err >out
    cmp r/log.txt s/log.txt
    cmp err s/log.txt
    run ! grep -q "$(printf '\r')" s/log.txt
}

@test "resume has the same table" {
    "$CELLRUN" train c.yaml -o r -q --steps 30 >/dev/null
    on 80 "$CELLRUN resume r --epochs 4" </dev/null
    bar_is_gone
    [ "$(epochs)" = '2 3 4' ]
}

# means FILE: the mean loss of each epoch of 300 samples, by the train records
# of each step
means() {
    jq -rs '[.[] | select(.split == "train")] | [., [{samples: 0}] + .] |
        transpose | map(select(.[0]) | .[0] + {n: (.[0].samples - .[1].samples)}) |
        group_by(.epoch) | .[] | (map(.loss * .n) | add) / (map(.n) | add)' "$1"
}

@test "pipes: the mean training loss of each epoch, exact over its samples" {
    "$CELLRUN" train c.yaml -o r log.every='1 steps' 2>err >out
    means r/metrics.jsonl >want
    sed -n 's/^mean loss of epoch [123]: //p' err >printed
    jq 'select(.split == "eval").train_loss' r/metrics.jsonl >recorded
    [ "$(wc -l <want)" = 3 ]
    paste want printed recorded | awk '
        function off(a, b) { return a > b ? a - b : b - a }
        off($1, $2) > 1e-6 || off($1, $3) > 1e-12 { exit 1 }'
    # after the lines of the epoch, before its evaluation
    [ "$(grep -A1 '^mean' err | grep -c '^Test: ')" = 3 ]
}

@test "the mean of an epoch survives exact resume, in the middle of it" {
    for more in a=1 train.grad_accumulation=3; do
        [ "$more" != a=1 ] || more=seed=1
        rm -rf r s
        "$CELLRUN" train c.yaml "$more" -o r -q >out
        "$CELLRUN" train c.yaml "$more" -o s -q --steps 8 >out
        "$CELLRUN" resume s --epochs 3 -q >out
        # the evaluation at step 8, the end of the first process, is not in r
        diff <(jq -c 'select(.split == "eval") | del(.t)' r/metrics.jsonl) \
            <(jq -c 'select(.split == "eval" and .step != 8) | del(.t)' \
                s/metrics.jsonl)
        [ "$(grep '^mean' s/log.txt)" = "$(grep '^mean' r/log.txt)" ]
    done
    # a whole epoch leaves no sum in the checkpoint
    run -0 "$CELLRUN" ckpt show --meta cellrun.state s/ckpt/last
    run ! grep epoch_loss <<<"$output"
}

@test "what is saved is said: time limit, nothing, after divergence" {
    run -75 --separate-stderr "$CELLRUN" train c.yaml -o a --epochs 1000000 \
        --time-limit 0.2s
    [[ $'\n'$stderr == *$'\nsaved: a/ckpt/c-'*$' of 19000000)\nto continue: cellrun resume a' ]]
    run -75 --separate-stderr "$CELLRUN" train c.yaml -o b --epochs 1000000 \
        --time-limit 0.2s --no-ckpt
    [[ $'\n'$stderr == *$'\nnothing is saved: --no-ckpt is set' ]]
    run -75 --separate-stderr "$CELLRUN" train c.yaml -o c --epochs 1000000 \
        --time-limit 0.2s checkpoint.weights_only=true
    [[ $'\n'$stderr == *$'\nit has only weights: use it with train --load' ]]
    run -5 --separate-stderr "$CELLRUN" train c.yaml -o d \
        optimizer.learning_rate="[$(yes 0.05, | head -25 | xargs) 1e300]"
    [[ $'\n'$stderr == *$'saved: d/ckpt/c-1_19.safetensors (after step 19 of 57)\nto continue with other settings: cellrun resume d --allow-change KEY=VALUE' ]]
    run -0 "$CELLRUN" resume d -q --allow-change optimizer.learning_rate=0.05
    [ "$(value status)" = completed ]
}

@test "predict: a bar on the terminal for work that takes time, gone at the end; none elsewhere" {
    "$CELLRUN" train c.yaml -o r -q --epochs 1 >/dev/null
    # files until the bar is there, which waits for half a second of work
    cat >files.sh <<'END'
for i in $(seq 600); do
    echo eval-x.npy
    ! grep -qF 'samples/s' raw || exit 0
    sleep 0.1
done
END
    on 70 "sh files.sh | tee files | $CELLRUN predict --ckpt r --files-from - -o rows.tsv" </dev/null
    grep -qF 'samples/s' raw
    [ -z "$(cat screen)" ]
    cat faults; [ ! -s faults ]
    (cat files; sleep 0.6; echo eval-x.npy) |
        "$CELLRUN" predict --ckpt r --files-from - -o again.tsv 2>err
    [ ! -s err ]
    head -n "$(wc -l <rows.tsv)" again.tsv | cmp rows.tsv -
}
