# predict --stream: one line in, one line out, for a program that keeps it.
bats_require_minimum_version 1.5.0
set -o pipefail

# y = a + b of a column x of two numbers; the brightest of four pixels
setup_file() {
    . "$BATS_TEST_DIRNAME/small.bash"
    unset CELLRUN_SET CELLRUN_DATA CELLRUN_RUNS CELLRUN_THREADS
    cd "$BATS_FILE_TMPDIR"
    printf 'who,a,b,y\nA,1,2,5\nB,3,4,11\n' >sums.csv
    cat >sum.yaml <<'END2'
cellrun: 1
dataset: {train: {CSVDataset: {dataset_files: sums.csv, columns: {x: {fields: [a, b], type: float32}, label: {fields: y, type: float32}}}}}
network:
  cells: {w: {Parameter: {shape: [2], init: {One: {}}}}}
  construct: return sum(x * w, axis=1)
loss: MSELoss
optimizer: {SGD: {learning_rate: 1e-30}}
train: {epochs: 1}
END2
    "$CELLRUN" train sum.yaml -o sum -q
    perl -e 'print pack "C*", map { 3 * $_ } 0 .. 7' |
        npy pixels.npy '|u1' '(2, 2, 2, 1)'
    perl -e 'print pack "l<*", 0, 1' | npy labels.npy '<i4' '(2,)'
    cat >pixels.yaml <<'END2'
cellrun: 1
dataset: {train: {NumpySlicesDataset: {data: [pixels.npy, labels.npy], column_names: [image, label]}}}
datapipe: {image: [{Rescale: {rescale: 1.0, shift: 0.0}}]}
network:
  inputs: [image]
  cells: {w: {Parameter: {shape: [1], init: {One: {}}}}, f: Flatten}
  construct: return f(image) * w
loss: CrossEntropyLoss
optimizer: {SGD: {learning_rate: 1e-30}}
train: {epochs: 1}
END2
    "$CELLRUN" train pixels.yaml -o pixels -q
}

setup() {
    . "$BATS_TEST_DIRNAME/small.bash"
    unset CELLRUN_SET CELLRUN_DATA CELLRUN_RUNS CELLRUN_THREADS
    cd "$BATS_FILE_TMPDIR"
    tmp=$BATS_TEST_TMPDIR
}

# ask LINE: what the server answers, before it has seen the next line
ask() {
    echo "$1" >&"${server[1]}"
    read -r -t 300 -u "${server[0]}" answer
}

@test "a shell keeps it as a server: each answer comes before the next line" {
    coproc server { exec "$CELLRUN" predict --ckpt sum --stream 2>"$tmp/err"; }
    ask 1,2
    [ "$answer" = 3 ]
    ask '[10, 20.5]'
    [ "$answer" = 30.5 ]
    ask '{"b": 1, "a": -1}'
    [ "$answer" = 0 ]
    ask one,two
    [ "$answer" = '' ]
    ask 4,5
    [ "$answer" = 9 ]
    pid=$server_PID
    eval "exec ${server[1]}>&-"
    rc=0
    wait "$pid" || rc=$?
    [ "$rc" = 3 ]
    grep -q "found 'one', expected a number" "$tmp/err"
    grep -q '1 of 5 samples have errors: left blank' "$tmp/err"
}

@test "a bad line is answered, its message is out at once" {
    coproc server { exec "$CELLRUN" predict --ckpt sum --stream --json \
                        2>"$tmp/err"; }
    ask '{"a":1}'
    [[ $(jq -r .error <<<"$answer") == "column 'x'"*": found nothing"* ]]
    [ "$(jq -r .message "$tmp/err" | head -1)" = "$(jq -r .error <<<"$answer")" ]
    ask ''
    [[ $(jq -r .error <<<"$answer") == *"the line is empty"* ]]
    [ "$(jq -r '.file, .line' "$tmp/err" | tail -2 | xargs)" = \
        'standard input 2' ]
    ask '{"x":[1,1]}'
    [ "$(jq -c .output <<<"$answer")" = '[2]' ]
    pid=$server_PID
    eval "exec ${server[1]}>&-"
    rc=0
    wait "$pid" || rc=$?
    [ "$rc" = 3 ]
}

@test "TERM and INT end it after a line, with 143 and 130" {
    for signal in TERM:143 INT:130; do
        coproc server { exec "$CELLRUN" predict --ckpt sum --stream; }
        ask 1,2
        [ "$answer" = 3 ]
        pid=$server_PID rc=0
        kill -"${signal%:*}" "$pid"
        wait "$pid" || rc=$?
        [ "$rc" = "${signal#*:}" ]
    done
}

@test "whoever stops reading ends it" {
    run -0 bash -c 'seq 100000 | sed "s/\$/,1/" |
        { "$0" predict --ckpt sum --stream; echo "$?" >"$1"; } | head -2' \
        "$CELLRUN" "$tmp/rc"
    [ "$output" = $'2\n3' ]
    [ "$(cat "$tmp/rc")" = 141 ]
}

@test "one line out for each line in, the last without a newline" {
    run -0 bash -c 'printf "1,1\r\n2,2\n3,3" | "$0" predict --ckpt sum --stream' \
        "$CELLRUN"
    [ "$output" = $'2\n4\n6' ]
    run -0 "$CELLRUN" predict --ckpt sum --stream </dev/null
    [ -z "$output" ]
    # a long line, and many that are in the pipe at once
    perl -e 'print join(",", 1, "0" x 300000 . 2), "\n" x 1;
             print "$_,1\n" for 1 .. 20000' >"$tmp/in"
    run -0 "$CELLRUN" predict --ckpt sum --stream <"$tmp/in"
    [ "${#lines[@]}" = 20001 ]
    [ "${lines[0]}" = 3 ]
    [ "${lines[20000]}" = 20001 ]
}

@test "a first line with names, and fields passed through" {
    printf 'b,who,a\n2,X,1\n5,Y,4\n' >"$tmp/in"
    run -0 "$CELLRUN" predict --ckpt sum --stream --names yes --id who \
        --header <"$tmp/in"
    [ "$output" = $'who\toutput\nX\t3\nY\t9' ]
    run -0 "$CELLRUN" predict --ckpt sum --stream --id 2 <<<'1,2,Z'
    [ "$output" = $'Z\t3' ]
}

@test "--on-error stop ends it; skip gives no line" {
    run -3 --separate-stderr "$CELLRUN" predict --ckpt sum --stream \
        --on-error stop <<<$'1,1\nx\n2,2'
    [ "$output" = 2 ]
    run -3 --separate-stderr "$CELLRUN" predict --ckpt sum --stream \
        --on-error skip <<<$'1,1\nx\n2,2'
    [ "$output" = $'2\n4' ]
}

@test "a network of images takes their numbers, or names of files" {
    run -0 "$CELLRUN" predict --ckpt pixels --stream <<<$'0,0,9,0\n255,1,2,3'
    [ "$output" = $'2\n0' ]
    run -3 --separate-stderr "$CELLRUN" predict --ckpt pixels --stream \
        <<<$'0,0,256,0\n0,0,1.5,0\n0,7,0,0'
    [ "$output" = $'\n\n1' ]
    [[ $stderr == *"column 'image': found 256, expected 0 to 255"* ]]
    for names in '--files-from -' '--rows names' '--rows names -'; do
        run -0 "$CELLRUN" predict --ckpt pixels --stream $names <<<pixels.npy
        [ "$output" = $'3\n3' ]
    done
}

@test "what a stream cannot do" {
    for flags in '-o x' '--format npy' --wrong sums.csv '--data train'; do
        # shellcheck disable=SC2086
        run -2 "$CELLRUN" predict --ckpt sum --stream $flags </dev/null
        [[ $output == *"--stream"* ]]
    done
}

@test "escapes of JSON strings: a surrogate pair is one character" {
    printf '%s\n' '{"a":1,"b":2,"who":"\ud83d\ude00 \u00e9\t"}' \
        '{"a":1,"b":2,"who":"\ud83d"}' '{"a":1,"b":2,"who":"x\ude00"}' \
        '{"a":1,"b":2,"who":"\ud83d\u0041"}' >"$tmp/r.jsonl"
    run -3 --separate-stderr "$CELLRUN" predict --ckpt sum "$tmp/r.jsonl" \
        --id who
    [ "$output" = "$tmp/r.jsonl#0	😀 é\\t	3" ]
    for at in 2:21 3:22 4:21; do
        [[ $stderr == *"r.jsonl:$at: error: JSON: found half of a surrogate pair [E0203]"* ]]
    done
}
