# Tables on a terminal: their width, and the pager. script(1) makes the
# terminal.
bats_require_minimum_version 1.5.0
set -o pipefail

# a_run ID ACCURACY LR
a_run() {
    mkdir -p "runs/a-long-name-of-a-folder/$1"
    cat >"runs/a-long-name-of-a-folder/$1/record.json" <<END
{"cellrun":"0.1.0","id":"$1","name":"net","started":"2026-01-01T10:00:00Z",
 "seconds":1.5,"status":"completed","epochs":3,
 "eval":{"accuracy":$2,"loss":0.123456789}}
END
    cat >"runs/a-long-name-of-a-folder/$1/resolved.yaml" <<END
optimizer: {SGD: {learning_rate: $3}}
vars: {note: $3 is a rather long remark}
END
}

setup() {
    cd "$BATS_TEST_TMPDIR"
    unset CELLRUN_RUNS COLUMNS PAGER LESS NO_COLOR CLICOLOR_FORCE
    export TERM=xterm LC_ALL=C.UTF-8
    a_run aaaa1111 0.91 0.125
    a_run aabb2222 0.5 0.25
}

# on COLUMNS ROWS COMMAND: what the command prints in a terminal of that size
on() {
    timeout 300 script -qefc "stty cols $1 rows $2; $3" /dev/null </dev/null |
        tr -d '\r'
}

# widest: columns of the widest line on standard input
widest() {
    perl -CI -ne 'chomp; $n = 0;
        $n += /[\x{2e80}-\x{ffef}]/ ? 2 : 1 for split //;
        $m = $n if $n > $m; END { print $m }'
}

@test "a table takes the width of the terminal: values of metrics stay" {
    for n in 20 30 40 60 80; do
        on $n 50 "$CELLRUN runs" >out
        [ "$(widest <out)" -le $n ]
        [ "$(grep -c 0.9100 out)" = 1 ]
    done
    [ "$(on 40 50 "$CELLRUN runs" | tail -n 3)" = "\
runs…a1111  compl…     3  0.9100  0.1235
runs…b2222  compl…     3  0.5000  0.1235
--wide adds optimizer.learning_rate, va…" ]
    [ "$(on 40 50 "$CELLRUN runs" | head -n 1)" = \
      "run         status  epo…  accur…    loss" ]
}

@test "numbers are never shortened: a column fits or is omitted" {
    a_run aacc3333 0.7 0.25
    for n in 28 30 36 42 60; do
        on $n 50 "$CELLRUN runs --group-by optimizer.learning_rate" >out
        [ "$(widest <out)" -le $n ]
        [ "$(grep -c '0.6000 ± 0.1414$\|0.6000 ± 0.1414  0.1235 ± 0.0000$' \
            out)" = 1 ]
    done
}

@test "--wide, a pipe, --tsv and a file show all" {
    "$CELLRUN" runs >out
    [ "$(widest <out)" -gt 120 ]
    on 40 50 "$CELLRUN runs --wide" | cmp - out
    on 40 50 "$CELLRUN runs | cat" | cmp - out
    COLUMNS=40 "$CELLRUN" runs | cmp - out
    on 200 50 "$CELLRUN runs" | cmp - out
    on 40 50 "$CELLRUN runs --tsv" | cmp - <("$CELLRUN" runs --tsv)
    on 200 50 "COLUMNS=50 $CELLRUN runs" >out
    [ "$(widest <out)" -le 50 ]
    [ "$(widest <out)" -gt 40 ]
}

@test "wide characters count as two columns, combining ones as none" {
    sed -i 's/is a rather/学習率を変える/' runs/*/aaaa1111/resolved.yaml
    sed -i 's/is a rather/aͤaͤaͤaͤ/' runs/*/aabb2222/resolved.yaml
    on 64 50 "$CELLRUN runs --cols run,vars.note,accuracy" >out
    [ "$(sed 's/ͤ//g' out | widest)" = 64 ]
    [ "$(sed 's/ͤ//g; 1d' out | while read -r line; do
        widest <<<"$line" && echo; done | xargs)" = "64 64" ]
    for n in 30 31 32 33; do
        on $n 50 "$CELLRUN runs --cols vars.note,accuracy" >out
        [ "$(sed 's/ͤ//g' out | widest)" -le $n ]
    done
    # without UTF-8 the mark is two dots
    LC_ALL=C run -0 on 40 50 "$CELLRUN runs --cols run,accuracy"
    [ "${lines[1]}" = "runs/a-long-nam..folder/aaaa1111  0.9100" ]
}

@test "other tables fit too" {
    cat >c.yaml <<'END'
network:
  inputs: {x: {shape: [8], type: float32}}
  cells: {first_of_the_layers: {Dense: {out_channels: 4}}, act: ReLU}
  construct: |
    return act(first_of_the_layers(x))
END
    for n in 40 80; do
        on $n 50 "$CELLRUN summary c.yaml" >out
        [ "$(sed -n '/^cell/,/^$/p' out | widest)" -le $n ]
        grep -q '^[a-z…_]* .*36' out
    done
    on 40 50 "$CELLRUN init --list" >out
    [ "$(widest <out)" -le 40 ]
    grep -q '^digits .*…$' out
}

@test "long output goes through the pager, short output does not" {
    export PAGER='sed s/^/P:/'
    for i in $(seq 10 30); do
        a_run aaaa11$i 0.$i 0.5
    done
    "$CELLRUN" runs --cols id,accuracy >out
    on 80 20 "$CELLRUN runs --cols id,accuracy" | cmp - <(sed s/^/P:/ out)
    on 80 40 "$CELLRUN runs --cols id,accuracy" | cmp - out
    on 80 20 "$CELLRUN runs --cols id,accuracy --no-pager" | cmp - out
    on 80 20 "PAGER= $CELLRUN runs --cols id,accuracy" | cmp - out
    on 80 20 "PAGER=cat $CELLRUN runs --cols id,accuracy" | cmp - out
    on 80 20 "TERM=dumb $CELLRUN runs --cols id,accuracy" | cmp - out
    on 80 20 "$CELLRUN runs --cols id,accuracy | cat" | cmp - out
    on 80 20 "$CELLRUN help runs" >help
    [ "$(grep -vc '^P:' help)" = 0 ]
    # one that is left early, or that does not exist, is no error
    run -0 on 80 20 "PAGER='head -n 2' $CELLRUN runs --cols id"
    [ "${#lines[@]}" = 2 ]
    sed -i "s/rather/$(printf %05000d 0)/" runs/*/*/resolved.yaml
    run -0 on 80 20 "PAGER='head -c 80' $CELLRUN runs --wide --cols vars.note"
    [[ "$output" != *error* ]]
    run -0 on 80 20 "PATH= PAGER=nosuch $CELLRUN runs --cols id"
    run -0 on 80 20 "env -u PAGER PATH=/nowhere $CELLRUN runs --cols id,accuracy"
    cmp - out <<<"$output"
}
