# runs: what run directories have to tell.
bats_require_minimum_version 1.5.0
set -o pipefail

# a_run DIR ID STARTED ACCURACY LOSS LR [STATUS]
a_run() {
    mkdir -p "$1/ckpt"
    cat >"$1/record.json" <<END
{"cellrun":"0.1.0","id":"$2","name":"net","seed":1,"started":"$3",
 "seconds":1.5,"status":"${7:-completed}","exit":0,"epochs":3,"steps":30,
 "loss":$5,"eval":{"accuracy":$4,"loss":$5},
 "best":{"metric":"accuracy","mode":"max","value":$4,"epoch":3,"step":30},
 "ckpt":"ckpt/best.safetensors"}
END
    cat >"$1/resolved.yaml" <<END
seed: 1   # net.yaml:2
network: [{Dense: [3, 2]}]
optimizer: {SGD: {learning_rate: $6}}
run: {name: x$2}
END
}

setup() {
    cd "$BATS_TEST_TMPDIR"
    unset CELLRUN_RUNS
    a_run runs/net/aaaa1111 aaaa1111 2026-01-01T10:00:00Z 0.91 0.30 0.1
    a_run runs/net/aabb2222 aabb2222 2026-01-01T11:00:00Z 0.955 0.15 0.01
    a_run runs/other cccc3333 2026-01-01T09:00:00Z 0.7 0.9 1e-3 diverged
}

@test "a table, oldest first, with what differs" {
    run -0 --separate-stderr "$CELLRUN" runs
    [ "${#lines[@]}" = 4 ]
    [ "$(xargs <<<"${lines[0]}")" = "run status epochs\
 optimizer.learning_rate eval.accuracy eval.loss seconds" ]
    [ "$(xargs <<<"${lines[1]}")" = \
      "runs/other diverged 3 0.001 0.7000 0.9000 1.5" ]
    [ "$(xargs <<<"${lines[3]}")" = \
      "runs/net/aabb2222 completed 3 0.01 0.9550 0.1500 1.5" ]
    [ -z "$stderr" ]
    run -0 "$CELLRUN" runs ls
    [ "${#lines[@]}" = 4 ]
}

@test "sorted: metrics with the best first" {
    run -0 "$CELLRUN" runs --sort eval.accuracy --cols run,accuracy --tsv
    [ "$output" = "run	accuracy
runs/net/aabb2222	0.955
runs/net/aaaa1111	0.91
runs/other	0.7" ]
    run -0 "$CELLRUN" runs --sort loss --cols eval.loss --tsv
    [ "$(xargs <<<"$output")" = "eval.loss 0.15 0.3 0.9" ]
    run -0 "$CELLRUN" runs --sort=-loss --cols loss --tsv
    # `loss` alone is the metric too
    [ "$(xargs <<<"$output")" = "loss 0.9 0.3 0.15" ]
    run -0 "$CELLRUN" runs --sort optimizer.learning_rate --cols id --tsv
    [ "$(xargs <<<"$output")" = "id cccc3333 aabb2222 aaaa1111" ]
}

@test "sorted: runs without a value are last, in both directions" {
    a_run runs/a none0000 2026-01-01T08:00:00Z 0.5 0.5 0.1
    a_run runs/b null0000 2026-01-01T07:00:00Z null 0.5 0.1
    a_run runs/c text0000 2026-01-01T06:00:00Z '"n/a"' 0.5 0.1
    a_run runs/d same0000 2026-01-01T12:00:00Z 0.91 0.5 0.1
    sed -i 's/"eval":{"accuracy":0.5,/"eval":{/' runs/a/record.json
    run -0 "$CELLRUN" runs --sort accuracy --cols id --tsv
    [ "$(xargs <<<"$output")" = \
      "id aabb2222 aaaa1111 same0000 cccc3333 text0000 null0000 none0000" ]
    run -0 "$CELLRUN" runs --sort=-accuracy --cols id --tsv
    [ "$(xargs <<<"$output")" = \
      "id cccc3333 aaaa1111 same0000 aabb2222 text0000 null0000 none0000" ]
    # texts by their characters, equal ones by their start
    run -0 "$CELLRUN" runs --sort status --cols status,id --tsv
    [ "$(tail -n 1 <<<"$output")" = "diverged	cccc3333" ]
    [ "$(sed -n 2p <<<"$output")" = "completed	text0000" ]
    run -0 "$CELLRUN" runs --sort=-status --cols status,id --tsv
    [ "$(sed -n 2,3p <<<"$output" | xargs)" = \
      "diverged cccc3333 completed text0000" ]
}

@test "filtered" {
    run -0 "$CELLRUN" runs --where 'eval.accuracy>0.9' --cols id --tsv
    [ "$(xargs <<<"$output")" = "id aaaa1111 aabb2222" ]
    run -0 "$CELLRUN" runs --cols id --tsv \
        --where 'status=completed and optimizer.learning_rate <= 0.01'
    [ "$(xargs <<<"$output")" = "id aabb2222" ]
    run -0 "$CELLRUN" runs --where 'status!=completed,epochs==3' --cols id \
        --tsv
    [ "$(xargs <<<"$output")" = "id cccc3333" ]
    run -0 "$CELLRUN" runs --where 'accuracy>1' --json
    [ "$output" = "[]" ]
    run -2 --separate-stderr "$CELLRUN" runs --where 'accuracy'
    [[ "$stderr" == *"--where: found 'accuracy', expected a comparison"* ]]
    # an empty answer is one to a question that was understood
    for bad in 'accuracy>>0.9' '>0.9' 'accuracy>0.9,' 'accuracy=!0.9'; do
        run -2 --separate-stderr "$CELLRUN" runs --where "$bad"
        [[ "$stderr" == *"expected a comparison"*"[E0501]"* ]]
    done
    run -2 --separate-stderr "$CELLRUN" runs --where 'accuracy>abc'
    [[ "$stderr" == *"found 'accuracy>abc', but > compares with a number"* ]]
    run -0 --separate-stderr "$CELLRUN" runs --where 'accuracy>0.99'
    [ -z "$output" ]
    [ "$stderr" = "no run below runs matches --where" ]
}

@test "filtered: values that are missing, texts, several terms" {
    a_run runs/text text0000 2026-01-01T06:00:00Z '"0.95x"' 0.5 0.1
    a_run runs/none none0000 2026-01-01T08:00:00Z 0.5 0.5 nan
    sed -i 's/"eval":{"accuracy":0.5,/"eval":{/' runs/none/record.json
    while IFS=: read -r where want; do
        run -0 "$CELLRUN" runs --where "$where" --cols id --tsv
        [ "$(sed 1d <<<"$output" | xargs)" = "$want" ] || {
            echo "$where: $output"
            false
        }
    done <<'END'
accuracy>0.1:cccc3333 aaaa1111 aabb2222
accuracy<2:cccc3333 aaaa1111 aabb2222
accuracy>=0.91:aaaa1111 aabb2222
accuracy>0.91:aabb2222
accuracy<=0.91:cccc3333 aaaa1111
accuracy<0.91:cccc3333
accuracy=0.910:aaaa1111
accuracy!=0.91:text0000 none0000 cccc3333 aabb2222
accuracy=0.95x:text0000
accuracy=0.91x:
run=runs/other:cccc3333
path!=runs/other:text0000 none0000 aaaa1111 aabb2222
 id = text0000 :text0000
status=completed and accuracy<0.95,loss>0.2 and seed=1:aaaa1111
loss>0.2,accuracy<0.95 and status=completed:aaaa1111
optimizer.learning_rate>0.05:text0000 aaaa1111
END
    run -0 "$CELLRUN" runs --sort optimizer.learning_rate --cols id --tsv
    [ "$(tail -n 1 <<<"$output")" = none0000 ]
    run -0 "$CELLRUN" runs --sort=-optimizer.learning_rate --cols id --tsv
    [ "$(tail -n 1 <<<"$output")" = none0000 ]
}

@test "the best, and its path for other commands" {
    run -0 "$CELLRUN" runs best --metric eval.accuracy --path
    [ "$output" = runs/net/aabb2222 ]
    run -0 "$CELLRUN" runs best --metric loss --path --where 'id!=aabb2222'
    [ "$output" = runs/net/aaaa1111 ]
    run -0 "$CELLRUN" runs best
    [ "${lines[0]}" = "run: runs/net/aabb2222" ]
    [ "${lines[1]}" = "accuracy: 0.9550" ]
    [ "${lines[2]}" = "ckpt: runs/net/aabb2222/ckpt/best.safetensors" ]
    run -0 "$CELLRUN" runs best --json
    [[ "$output" == '{"path": "runs/net/aabb2222", "cellrun": '* ]]
    # of equal ones the oldest
    a_run runs/new dddd4444 2026-01-01T12:00:00Z 0.955 0.15 0.1
    a_run runs/old eeee5555 2026-01-01T10:30:00Z 0.955 0.15 0.1
    run -0 "$CELLRUN" runs best --path
    [ "$output" = runs/old ]
    run -4 --separate-stderr "$CELLRUN" runs best --metric status --path
    [ -z "$output" ]
    [[ "$stderr" == *"no run below this folder has a value of status"* ]]
}

@test "one in full, by its directory or the beginning of its id" {
    run -0 "$CELLRUN" runs show runs/net/aaaa1111
    [ "${lines[0]}" = "path: runs/net/aaaa1111" ]
    [[ "$output" == *$'\n'"eval.accuracy: 0.91"$'\n'* ]]
    run -0 "$CELLRUN" runs show aabb
    [ "${lines[0]}" = "path: runs/net/aabb2222" ]
    run -0 "$CELLRUN" runs show net/aabb2222 --json
    [[ "$output" == '{"path": "runs/net/aabb2222", '* ]]
    run -2 --separate-stderr "$CELLRUN" runs show aa
    [[ "$stderr" == *"'aa' is the beginning of several ids below 'runs'"* ]]
    run -2 --separate-stderr "$CELLRUN" runs show zz
    [[ "$stderr" == *"'zz' is not a run directory"* ]]
}

@test "two compared" {
    run -0 "$CELLRUN" runs diff aaaa aabb --tsv
    [[ "$output" == *$'optimizer.SGD.learning_rate\t0.1\t0.01'* ]]
    [[ "$output" == *$'eval.accuracy\t0.91\t0.955'* ]]
    [[ "$output" != *seed* ]]
    run -0 "$CELLRUN" runs diff aaaa aabb --json
    [[ "$output" == *'"optimizer.SGD.learning_rate": ["0.1", "0.01"]'* ]]
}

@test "two compared as a tree, lists element by element" {
    cat >runs/net/aaaa1111/resolved.yaml <<'END'
network: [Flatten, {Dense: [3, 2]}, ReLU, {Dense: [2, 2]}]
optimizer: {SGD: {learning_rate: 0.1}}
vars: {sizes: [1, 2, 3], more: [1, 2], same: 1, only: {a: here}}
END
    cat >runs/net/aabb2222/resolved.yaml <<'END'
network: [Flatten, {Dense: [3, 4]}, ReLU, {Dense: [4, 2]}, Sigmoid]
optimizer: {Adam: {learning_rate: 0.1, some_longer_name: 1, another_longer_name: [1, 2, 3]}}
vars: {sizes: [1, 3], more: [0, 1, 2, 4], same: 1}
END
    run -0 "$CELLRUN" runs diff aaaa aabb
    [ "$output" = '--- runs/net/aaaa1111
+++ runs/net/aabb2222
  network:
    1:
      Dense:
-       1: 2
+       1: 4
    3:
      Dense:
-       0: 2
+       0: 4
+   4: Sigmoid
  optimizer:
-   SGD: {learning_rate: 0.1}
+   Adam:
+     learning_rate: 0.1
+     some_longer_name: 1
+     another_longer_name: [1, 2, 3]
  vars:
    sizes:
-     1: 2
    more:
+     0: 0
+     3: 4
-   only: {a: here}
  result:
    eval:
-     accuracy: 0.91
+     accuracy: 0.955
-     loss: 0.3
+     loss: 0.15
    best:
-     value: 0.91
+     value: 0.955' ]
    run -0 "$CELLRUN" runs diff aaaa aabb --color always
    [[ "$output" == *$'\n\e[31m-       1: 2\e[0m\n\e[32m+       1: 4\e[0m\n'* ]]
    run -0 "$CELLRUN" runs diff aaaa aabb --json
    [ "$(jq -c '."network.1.Dense.1", ."network.4", ."vars.sizes.1"' \
        <<<"$output" | xargs)" = "[2,4] [-,Sigmoid] [2,-]" ]
    run -0 "$CELLRUN" runs diff aaaa aaaa
    [ "${#lines[@]}" = 2 ]
    rm runs/net/aaaa1111/resolved.yaml
    run -0 "$CELLRUN" runs diff aaaa aabb
    [[ "$output" == *$'\n+ vars: {sizes: [1, 3], more: [0, 1, 2, 4], same: 1}\n'* ]]
}

@test "one in full: files, checkpoints and command" {
    echo 'cellrun train net.yaml' >runs/net/aaaa1111/command
    for i in 1 2; do
        echo $i >runs/net/aaaa1111/ckpt/net-${i}_8.safetensors
    done
    ln runs/net/aaaa1111/ckpt/net-1_8.safetensors \
        runs/net/aaaa1111/ckpt/best.safetensors
    ln runs/net/aaaa1111/ckpt/net-2_8.safetensors \
        runs/net/aaaa1111/ckpt/last.safetensors
    for name in aaaa1 net/aaaa1111 ./runs//net/aaaa1111/; do
        run -0 "$CELLRUN" runs show "$name"
        [ "${lines[0]}" = "path: runs/net/aaaa1111" ]
        [ "$(tail -n 3 <<<"$output" | sed 's/[0-9]* bytes/N/')" = \
'checkpoints: net-1_8.safetensors (best) net-2_8.safetensors (last)
files: 7, N
command: cellrun train net.yaml' ]
    done
    run -2 --separate-stderr "$CELLRUN" runs show net
    [[ "$stderr" == *"'net' is a folder of 2 runs, expected one run"* ]]
}

# lock DIR HOST PID START BOOT: the lock of a run, as train writes it.
lock() {
    echo "$2 $3 $4 $5 $(readlink /proc/self/ns/pid)" >"$1/lock"
}

@test "a run whose process is gone is interrupted" {
    start=$(sed 's/.*) //' /proc/$$/stat | cut -d' ' -f20)
    boot=$(</proc/sys/kernel/random/boot_id)
    sed -i 's/completed/running/' runs/net/*/record.json
    a_run runs/net/dddd4444 dddd4444 2026-01-01T12:00:00Z 0.1 3 0.1 running
    a_run runs/net/eeee5555 eeee5555 2026-01-01T13:00:00Z 0.1 3 0.1 running
    a_run runs/net/ffff6666 ffff6666 2026-01-01T14:00:00Z 0.1 3 0.1 running
    lock runs/net/aaaa1111 "$(uname -n)" $$ "$start" "$boot"
    lock runs/net/aabb2222 "$(uname -n)" $$ 1 "$boot" # another process
    lock runs/net/dddd4444 elsewhere 1 1 another-boot
    lock runs/net/eeee5555 elsewhere 1 1 another-boot
    touch -d '10 minutes ago' runs/net/eeee5555/lock
    run -0 "$CELLRUN" runs --cols id,status --tsv
    [ "$output" = "id	status
cccc3333	diverged
aaaa1111	running
aabb2222	interrupted
dddd4444	running
eeee5555	interrupted
ffff6666	interrupted" ]
    run -0 "$CELLRUN" runs show aabb
    [[ "$output" == *$'\n'"status: interrupted"$'\n'* ]]
    run -0 "$CELLRUN" runs show runs/net/ffff6666
    [[ "$output" == *$'\n'"status: interrupted"$'\n'* ]]
    [ -e runs/net/aabb2222/lock ]
}

@test "a run under way has the numbers of its last evaluation" {
    lock runs/net/aaaa1111 elsewhere 1 1 another-boot
    sed -i 's/"eval":{[^}]*},//; s/completed/running/' \
        runs/net/aaaa1111/record.json
    cat >runs/net/aaaa1111/metrics.jsonl <<'END'
{"t":1,"step":10,"epoch":0,"split":"train","loss":2}
{"t":1,"step":10,"epoch":0,"split":"eval","accuracy":0.25,"loss":2.1}
{"t":2,"step":20,"epoch":1,"split":"eval","accuracy":0.5,"loss":1.5}
{"t":2,"step":21,"epoch":1,"split":"ev
END
    truncate -s -1 runs/net/aaaa1111/metrics.jsonl
    run -0 "$CELLRUN" runs --where status=running --tsv --cols id,accuracy,loss
    [ "$(xargs <<<"$output")" = "id accuracy loss aaaa1111 0.5 1.5" ]
    # also one that was resumed, whose record has those of its start
    lock runs/net/aabb2222 elsewhere 1 1 another-boot
    sed -i 's/completed/running/
        s/"seed":1/"data":{"train":{"samples":80}},&/' \
        runs/net/aabb2222/record.json
    cat >runs/net/aabb2222/metrics.jsonl <<'END'
{"t":1,"step":35,"epoch":3,"samples":280,"split":"eval","accuracy":0.5,"loss":1}
{"t":1,"step":40,"epoch":3,"samples":320,"split":"eval","accuracy":0.75,"loss":0.5,"train_loss":0.25}
END
    run -0 "$CELLRUN" runs --where status=running --tsv \
        --cols id,epochs,steps,accuracy,loss
    [ "$(xargs <<<"$output")" = "id epochs steps accuracy loss \
aaaa1111 1 20 0.5 1.5 aabb2222 4 40 0.75 0.5" ]
    # only metrics are columns
    run -0 "$CELLRUN" runs --where status=running --tsv
    [[ "${lines[0]}" != *samples* && "${lines[0]}" != *train_loss* ]]
}

@test "what is not a file is no reason to wait" {
    sed -i 's/"eval":{[^}]*},//; s/completed/running/' \
        runs/net/*/record.json
    mkfifo runs/net/aaaa1111/metrics.jsonl runs/net/aabb2222/lock
    run -0 timeout 300 "$CELLRUN" runs --tsv --cols id,loss
    [ "${#lines[@]}" = 4 ]
}

@test "a folder of another name, none, and a damaged record" {
    mv runs elsewhere
    run -0 --separate-stderr "$CELLRUN" runs
    [ -z "$output" ]
    [ "$stderr" = "no runs below runs" ]
    for o in --json '--group-by a.b --json' '--sort a.b --json' \
             '--where a.b>1 --json'; do
        run -0 "$CELLRUN" runs $o
        [ "$output" = "[]" ]
    done
    run -2 --separate-stderr "$CELLRUN" runs --dir nosuch
    [[ "$stderr" == "nosuch: error: --dir: cannot open: No such file"* ]]
    CELLRUN_RUNS=elsewhere run -0 "$CELLRUN" runs
    [ "${#lines[@]}" = 4 ]
    printf '{"id":' >elsewhere/other/record.json
    run -0 --separate-stderr "$CELLRUN" runs --dir elsewhere
    [ "${#lines[@]}" = 3 ]
    [[ "$stderr" == "elsewhere/other/record.json: warning: not a run record: "* ]]
}

@test "members of a record and a config of other types are ignored" {
    for list in '[1, [2]]' '"x"'; do
        jq -c ".eval = $list | .best = $list | .phases = $list |
            .vars = $list | .data = $list" runs/other/record.json >x
        cp x runs/other/record.json
        printf -- '- a\n- [b]\n' >runs/other/resolved.yaml
        run -0 "$CELLRUN" runs
        [[ "$output" != *null* ]]
        run -0 "$CELLRUN" runs --json
        run -0 "$CELLRUN" runs --group-by status
        run -2 "$CELLRUN" runs --group-by vars.w --json
        run -0 "$CELLRUN" runs --sort eval.accuracy --where 'seed!=9'
        run -2 "$CELLRUN" runs --sort nosuch.key
        run -0 "$CELLRUN" runs best --metric accuracy
        run -0 "$CELLRUN" runs show other
        run -0 "$CELLRUN" runs diff other aaaa
        run -2 "$CELLRUN" runs --dir runs/other --cols nosuch.key
    done
}

@test "names of files cannot move the cursor" {
    mv runs/other $'runs/\e[2Jx'
    run -0 "$CELLRUN" runs
    [[ "$output" == *'runs/\x1b[2Jx'* ]]
}

@test "wrong usage" {
    run -2 --separate-stderr "$CELLRUN" runs bets
    [[ "$stderr" == *"did you mean 'best'?"* ]]
    run -2 --separate-stderr "$CELLRUN" runs show
    [[ "$stderr" == *"runs show: found 0 runs, expected 1"* ]]
    run -2 "$CELLRUN" runs diff aaaa
    run -2 --separate-stderr "$CELLRUN" runs ls elsewhere
    [[ "$stderr" == "command line, argument 3: error: runs ls: found 1 run, expected 0"*$'\n   elsewhere\n   ^^^^^^^^^ use --dir elsewhere for another folder of runs' ]]
    mkdir elsewhere
    run -2 --separate-stderr "$CELLRUN" runs elsewhere
    [[ "$stderr" == *"did you mean --dir elsewhere?"* ]]
    run -2 --separate-stderr "$CELLRUN" runs diff aaaa aabb cccc
    [[ "$stderr" == "command line, argument 5: error: "* ]]
}

@test "a full disk" {
    run -1 --separate-stderr bash -c '"$CELLRUN" runs >/dev/full'
    [[ "$stderr" == *"cannot write standard output"* ]]
}

@test "results that are named by an option: the way that is better" {
    for i in aaaa1111:0.2:0.91 aabb2222:0.1:0.8; do
        IFS=: read -r id less more <<<"$i"
        sed -i "s/\"eval\":{/&\"confusion_matrix_miss_rate\":$less,\"confusion_matrix_specificity\":$more,\"top_3_accuracy\":$more,\"F0.5\":$more,/" \
            runs/net/$id/record.json
    done
    run -0 "$CELLRUN" runs best --metric confusion_matrix_miss_rate --path
    [ "$output" = runs/net/aabb2222 ]
    run -0 "$CELLRUN" runs --sort confusion_matrix_miss_rate --cols id --tsv
    [ "$(xargs <<<"$output")" = "id aabb2222 aaaa1111 cccc3333" ]
    for name in confusion_matrix_specificity top_3_accuracy F0.5; do
        run -0 "$CELLRUN" runs best --metric "$name" --path
        [ "$output" = runs/net/aaaa1111 ]
        run -0 "$CELLRUN" runs --sort "$name" --cols id --tsv
        [ "$(xargs <<<"$output")" = "id aaaa1111 aabb2222 cccc3333" ]
    done
}

@test "the direction of the best metric, where the config has it" {
    for id in aaaa1111 aabb2222; do
        sed -i 's/"metric":"accuracy","mode":"max"/"metric":"mine","mode":"max"/' \
            runs/net/$id/record.json
    done
    run -0 "$CELLRUN" runs best --metric mine --path
    [ "$output" = runs/net/aabb2222 ]
    sed -i 's/"mode":"max"/"mode":"min"/' runs/net/*/record.json
    run -0 "$CELLRUN" runs best --metric mine --path
    [ "$output" = runs/net/aaaa1111 ]
}

# config DIR TEXT: makes a run with this resolved.yaml.
config() {
    a_run "$1" "${1##*/}" 2026-01-01T10:00:00Z 0.9 0.3 0.1
    printf '%s' "$2" >"$1/resolved.yaml"
}

@test "configs that differ in a line are read as if each were parsed" {
    rm -r runs
    config runs/a $'k: 1  # a.yaml:1\nx:\n  - 5 steps\n  - y: 0.5\nz: "1"\n'
    config runs/b $'k: 2  # a.yaml:9\nx:\n  - 6 steps\n  - y: 0.5\nz: "1"\n'
    config runs/c $'k: 1\nx:\n  - 5 steps\n  - y: "0.5"\nz: "2"\n'
    config runs/d $'k: 1\nx:\n  - 5 steps\n  - y: [7]\nz: "1"\n'
    config runs/e $'k: 1\nx:\n  - 5 steps\n  - y: 0.5: 1\nz: "1"\n'
    config runs/f $'k: 1\nx:\n  - 5 steps\n  - y: 0.5\n    w: 3\nz: "1"\n'
    config runs/g $'k: 1\nx:\n  - 5 steps\n  - y: true\nz: "1"\n'
    config runs/h $'k: 1\nx:\n  - 5 steps\n  - y: 0.5\nz: "1"\n \t'
    run -0 "$CELLRUN" runs --cols id,k,x.0,x.1.y,x.1.w,z --tsv
    [ "$output" = "id	k	x.0	x.1.y	x.1.w	z
a	1	5 steps	0.5		1
b	2	6 steps	0.5		1
c	1	5 steps	0.5		2
d	1	5 steps	[7]		1
e					
f	1	5 steps	0.5	3	1
g	1	5 steps	true		1
h					" ]
    rm -r runs
    # a value that is used twice, and one that continues in the next line
    config runs/a $'s: &v 1\nx: *v\nt: one\n  two\n'
    config runs/b $'s: &v 2\nx: *v\nt: one\n  two\n'
    config runs/c $'s: &v 1\nx: *v\nt: three\n  two\n'
    run -0 "$CELLRUN" runs --cols s,x,t --tsv
    [ "$output" = "s	x	t
1	1	one two
2	2	one two
1	1	three two" ]
    run -0 "$CELLRUN" runs --tsv
    [ "${lines[0]}" = \
      "run	status	epochs	s	x	t	eval.accuracy	eval.loss	seconds" ]
}

@test "columns for what differs within lists, and for types" {
    rm -r runs
    config runs/a $'n: [{Dense: {in: 3, out: 2}}, ReLU]\nopt: {SGD: {lr: 1}}\ns: [1, 2]\n'
    config runs/b $'n: [{Dense: {in: 3, out: 4}}, ReLU]\nopt: {SGD: {lr: 2}}\ns: [1, 3]\n'
    run -0 "$CELLRUN" runs --tsv
    [ "${lines[0]}" = "run	status	epochs	n.0.out	opt.lr	s	eval.accuracy	eval.loss	seconds" ]
    [ "$(cut -f 4-6 <<<"${lines[2]}")" = "4	2	[1, 3]" ]
    # the same from files that are parsed on their own
    sed -i 's/, ReLU/, ReLU  /; s/SGD/SGD /' runs/b/resolved.yaml
    run -0 "$CELLRUN" runs --tsv
    [ "$(cut -f 4-6 <<<"${lines[0]}")" = "n.0.out	opt.lr	s" ]
    # and from files that differ in a line
    config runs/a $'n:\n  - Dense:\n      out: 2\ns:\n  - 1\n  - 2\n'
    config runs/b $'n:\n  - Dense:\n      out: 4\ns:\n  - 1\n  - 3\n'
    run -0 "$CELLRUN" runs --tsv
    [ "$(cut -f 4-5 <<<"${lines[0]}")" = "n.0.out	s" ]
    # another type: its name, and the arguments that both have
    config runs/a $'n: [{Dense: {in: 3, out: 2}}, ReLU]\nopt: {SGD: {lr: 1}}\ns: [1, 2]\n'
    config runs/b $'n: [{Dense: {in: 3, out: 2}}, ReLU]\nopt: {Adam: {lr: 2, beta1: 0.9, beta2: 0.999, epsilon: 1e-8}}\ns: [1, 2]\n'
    run -0 "$CELLRUN" runs
    [ "$(xargs <<<"${lines[0]}")" = \
      "run status epochs opt opt.lr eval.accuracy eval.loss seconds" ]
    [ "$(xargs <<<"${lines[2]}")" = \
      "runs/b completed 3 Adam 2 0.9000 0.3000 1.5" ]
    # a run without a config differs in nothing; at most 8 columns
    config runs/b $'n: [{Dense: {in: 3, out: 2}}, ReLU]\nopt: {SGD: {lr: 1}}\ns: [1, 2]\n'
    config runs/c ''
    rm runs/c/resolved.yaml
    run -0 "$CELLRUN" runs --tsv
    [ "$(cut -f 4 <<<"${lines[0]}")" = eval.accuracy ]
    rm -r runs/c
    config runs/a 'v: {a: 1, b: 1, c: 1, d: 1, e: 1, f: 1, g: 1, h: 1, i: 1, j: 1}'
    config runs/b 'v: {a: 2, b: 2, c: 2, d: 2, e: 2, f: 2, g: 2, h: 2, i: 2, j: 2}'
    run -0 "$CELLRUN" runs --tsv
    [ "$(cut -f 4-12 <<<"${lines[0]}" | xargs)" = \
      "v.a v.b v.c v.d v.e v.f v.g v.h eval.accuracy" ]
    # lists of different lengths are one value
    config runs/a $'n: [{Dense: {in: 3, out: 2}}, ReLU]\nopt: {SGD: {lr: 1}}\ns: [1, 2]\n'
    config runs/b $'n: [{Dense: {in: 3, out: 2}}]\nopt: {SGD: {lr: 1}}\ns: [1]\n'
    run -0 "$CELLRUN" runs --tsv
    [ "$(cut -f 4-5 <<<"${lines[0]}")" = "n	s" ]
}

@test "a column that no run has" {
    for o in --sort=-acuracy --cols=id,acuracy --where='acuracy>1' \
             'best --metric=acuracy'; do
        run -2 --separate-stderr "$CELLRUN" runs $o
        [ -z "$output" ]
        [[ "$stderr" == *"no run has a 'acuracy'"*"[E0501]"*"'accuracy'?"* ]]
        [[ "$stderr" == *"columns are: run accuracy loss best.accuracy "* ]]
    done
    run -2 --separate-stderr "$CELLRUN" runs --sort optimizer.learning_rat
    [[ "$stderr" == *"did you mean 'optimizer.learning_rate'?"* ]]
    run -2 --separate-stderr "$CELLRUN" runs --sort eval.acuracy
    [[ "$stderr" == *"did you mean 'accuracy'?"* ]]
    # a run under way lacks the keys of its end
    sed -i 's/"seconds":1.5,//; s/"eval":{[^}]*},//' runs/*/*/record.json \
        runs/other/record.json
    run -0 "$CELLRUN" runs --sort accuracy --cols seconds,eval.F1 --tsv
    [ "${lines[0]}" = "seconds	eval.F1" ]
    run -0 "$CELLRUN" runs --cols best.F1 --tsv
}

@test "variables of the config are columns" {
    cat >v.yaml <<'END'
vars: {width: 4, wide: $(2*width)}
dataset: {train: {NumpySlicesDataset: {data: [x.npy, y.npy], column_names: [x, label]}}}
network: [{Dense: [1, $wide]}]
loss: CrossEntropyLoss
optimizer: {SGD: {learning_rate: 0.1}}
train: {epochs: 1}
END
    printf '\x93NUMPY\x01\x00\x76\x00%-117s\n' \
        "{'descr': '<f4', 'fortran_order': False, 'shape': (4, 1), }" >x.npy
    printf '\x93NUMPY\x01\x00\x76\x00%-117s\n' \
        "{'descr': '<i4', 'fortran_order': False, 'shape': (4,), }" >y.npy
    head -c 16 /dev/zero >>x.npy
    head -c 16 /dev/zero >>y.npy
    "$CELLRUN" train v.yaml -q --run-dir runs/v
    "$CELLRUN" train v.yaml -q --run-dir runs/w vars.width=6
    "$CELLRUN" resume runs/w -q --epochs 2
    run -0 "$CELLRUN" runs --cols run,vars.width,vars.wide,epochs --tsv \
        --where 'vars.width>1'
    [ "$output" = "run	vars.width	vars.wide	epochs
runs/v	4	8	1
runs/w	6	12	2" ]
}

@test "mean and standard deviation over seeds" {
    a_run runs/s1 s1 2026-01-01T12:00:00Z 0.5 1 0.5
    a_run runs/s2 s2 2026-01-01T13:00:00Z 0.8 3 0.5
    a_run runs/s3 s3 2026-01-01T14:00:00Z 0.2 2 0.5
    run -0 "$CELLRUN" runs --group-by optimizer.learning_rate
    [ "$(xargs <<<"${lines[0]}")" = \
      "optimizer.learning_rate n eval.accuracy eval.loss" ]
    [ "$(xargs <<<"${lines[1]}")" = "0.001 1 0.7000 0.9000" ]
    [ "$(xargs <<<"${lines[4]}")" = "0.5 3 0.5000 ± 0.3000 2.0000 ± 1.0000" ]
    run -0 "$CELLRUN" runs --group-by optimizer.learning_rate,status --tsv
    [ "${lines[0]}" = "optimizer.learning_rate	status	n	eval.accuracy.mean\
	eval.accuracy.std	eval.loss.mean	eval.loss.std" ]
    [[ "${lines[4]}" == "0.5	completed	3	0.5	0.3"*"	2.0	1.0" ]]
    run -0 "$CELLRUN" runs --group-by status --where 'id=s1' --json
    [[ "$output" == '[{"status": "completed", "n": 1, '* ]]
    [[ "$output" == *'"eval.accuracy": {"mean": 0.5, "std": null, "n": 1}'* ]]
    [[ "$output" == *'"eval.loss": {"mean": 1.0, "std": null, "n": 1}}]' ]]
    # a run without the metric is none of its n; null is no number
    sed -i 's/"eval":{"accuracy":0.8,/"eval":{/' runs/s2/record.json
    sed -i 's/"eval":{"accuracy":0.7,/"eval":{"accuracy":null,/' \
        runs/other/record.json
    run -0 "$CELLRUN" runs --group-by optimizer.learning_rate
    [ "$(xargs <<<"${lines[4]}")" = "0.5 3 2.0000 ± 1.0000 0.3500 ± 0.2121" ]
    [ "$(xargs <<<"${lines[1]}")" = "0.001 1 0.9000 -" ]
    run -0 "$CELLRUN" runs --group-by optimizer.learning_rate --tsv
    [[ "${lines[1]}" == "0.001	1	0.9			" ]]
    run -0 "$CELLRUN" runs --group-by optimizer.learning_rate --json
    [ "$(jq -c '.[3]."eval.accuracy".n, .[0]."eval.accuracy"' <<<"$output" |
        xargs)" = "2 {mean:null,std:null,n:0}" ]
    # each run is a group; a key that is named twice counts once
    run -0 "$CELLRUN" runs --group-by run,run --json
    [ "$(jq -c '[(map(.run) | unique | length), (map(.n) | max)]' \
        <<<"$output")" = '[6,1]' ]
    [ "$(grep -o '"run":' <<<"$output" | wc -l)" = 6 ]
    run -2 --separate-stderr "$CELLRUN" runs --group-by statsu
    [[ "$stderr" == *"--group-by: no run has a 'statsu'"*"'status'?"* ]]
}
