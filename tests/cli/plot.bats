# plot: curves of runs in the terminal, as SVG and PNG, and as numbers.
bats_require_minimum_version 1.5.0
set -o pipefail

# run_dir DIR ID SEED LR SCALE: a run of ten steps and two evaluations
run_dir() {
    local i
    mkdir -p "$1"
    for ((i = 1; i <= 10; i++)); do
        echo "{\"t\":$((1000 + i)).5,\"step\":$i,\"epoch\":$(((i - 1) / 5)),\"samples\":$((i * 8)),\"split\":\"train\",\"loss\":$((11 - i))e-1,\"lr\":$4}"
        ((i % 5)) || echo "{\"t\":$((1000 + i)).75,\"step\":$i,\"epoch\":$((i / 5 - 1)),\"samples\":$((i * 8)),\"split\":\"eval\",\"accuracy\":0.$((i * $5)),\"loss\":0.5}"
    done >"$1/metrics.jsonl"
    echo "{\"id\":\"$2\",\"started\":\"2026-01-0$3T00:00:00Z\",\"status\":\"completed\",\"data\":{\"train\":{\"samples\":40}}}" >"$1/record.json"
    printf 'seed: %s\noptimizer: {SGD: {learning_rate: %s}}\n' "$3" "$4" >"$1/resolved.yaml"
}

setup() {
    unset CELLRUN_RUNS CELLRUN_SET LC_CTYPE LANG NO_COLOR CLICOLOR_FORCE
    export COLUMNS=48 LC_ALL=C
    cd "$BATS_TEST_TMPDIR"
    run_dir runs/g/a aaaa1111 1 0.1 8
    run_dir runs/g/b aabb2222 2 0.1 9
    run_dir runs/g/c cccc3333 3 0.5 7
}

# is_svg FILE: elements are closed in order, and no number is missing
is_svg() {
    perl -0ne 'exit 1 if !/^<svg [^>]*>\n.*<\/svg>\n\z/s || /nan|inf\b/;
               my @open;
               while (m{<(/?)(\w+)[^>]*?(/?)>}g) {
                   if ($1) { exit 1 if pop @open ne $2 }
                   elsif (!$3) { push @open, $2 }
               }
               exit(@open != 0)' "$1"
}

@test "a panel in ASCII: axes with round numbers, gaps, a summary" {
    sed -i '/"step":[67],.*train/s/"loss":[^,]*/"loss":null/' runs/g/a/metrics.jsonl
    run -0 --separate-stderr "$CELLRUN" plot runs/g/a --metric train.loss
    [ "$output" = 'train.loss
 1.0+    ***
    |       ***
    |          **
 0.8+            ****
    |                ****
 0.6+                    **
    |
    |
 0.4+
    |                                  ***
 0.2+                                     ***
    |                                        **
    |                                          *
 0.0+
    ++--------------------+--------------------+
     0                    5                   10
                        step
  * train.loss  last 0.1  min 0.1  max 1' ]
    [ -z "$stderr" ]
}

@test "several runs: colours in a terminal, characters without colours" {
    run -0 "$CELLRUN" plot g --metric accuracy
    [[ $output == *"  * a  last 0.8  min 0.4   max 0.8"*"  + b  last 0.9 "*"  o c  last 0.7 "* ]]
    characters=$output
    [[ $characters != *$'\033'* ]]
    LC_ALL=C.UTF-8 run -0 "$CELLRUN" plot g --metric accuracy --color always
    [[ $output == *$'\033[34m\xe2\x94\x81\033[0m a  last 0.8 '* ]]
    [[ $output == *$'\033[33m\xe2\xa0'* || $output == *$'\033[33m\xe2\xa1'* || $output == *$'\033[33m\xe2\xa2'* ]]
    LC_ALL=C.UTF-8 CLICOLOR_FORCE=1 NO_COLOR=1 run -0 "$CELLRUN" plot g --metric accuracy
    [[ $output != *$'\033'* ]]
    [ "$(tail -n 3 <<<"$output")" = "$(tail -n 3 <<<"$characters")" ]
    [[ $output != *⠉* && $output == *" ++"* ]]
}

@test "no line is wider than 40 to 400 columns" {
    for n in 40 57 400; do
        LC_ALL=C.UTF-8 run -0 "$CELLRUN" plot g --columns $n
        [ "$(LC_ALL=C.UTF-8 wc -L <<<"$output")" = $n ]
        COLUMNS=$n LC_ALL=C.UTF-8 run -0 "$CELLRUN" plot g
        [ "$(LC_ALL=C.UTF-8 wc -L <<<"$output")" = $n ]
    done
    [ "$("$CELLRUN" plot g --columns 7 | awk '/--/ { print length; exit }')" = 40 ]
}

@test "a run is named by its directory, its path, its id or a folder" {
    for name in runs/g/b ./runs//g/b/ g/b aabb; do
        run -0 --separate-stderr "$CELLRUN" plot "$name" --metric accuracy --tsv
        [ "$(sed -n '2s/\t.*//p' <<<"$output")" = runs/g/b ]
        [ "$(wc -l <<<"$output")" = 3 ]
    done
    for names in g runs/g runs 'g/c g' 'aaaa cccc aabb'; do
        # shellcheck disable=SC2086
        run -0 "$CELLRUN" plot $names --metric accuracy --tsv
        [ "$(cut -f1 <<<"$output" | sort -u | xargs)" = 'a b c run' ]
    done
    mkdir other none
    mv runs/g other
    CELLRUN_RUNS=other run -0 "$CELLRUN" plot aaaa --metric accuracy --tsv
    [ "$(wc -l <<<"$output")" = 3 ]
    run -2 "$CELLRUN" plot other/g/a nothing
    [[ $output == *"'nothing' is not a run directory, and no run below 'runs' has such an id"* ]]
    CELLRUN_RUNS=other run -2 "$CELLRUN" plot aa
    [[ $output == *"'aa' is the beginning of several ids below 'other'"* ]]
    run -2 "$CELLRUN" plot none
    [[ $output == *"'none' is neither a run directory nor a folder with runs"* ]]
}

@test "numbers as TSV and JSON are those of metrics.jsonl" {
    echo 'not a record' >>runs/g/a/metrics.jsonl
    printf '{"t":2000,"step":11,"split":"train","loss":7' >>runs/g/a/metrics.jsonl
    sed -i '4s/"loss":[^,]*/"loss":null/' runs/g/a/metrics.jsonl
    run -0 --separate-stderr "$CELLRUN" plot g/a --metric train.loss --tsv
    [[ $stderr == *"runs/g/a/metrics.jsonl: warning: 1 line is not records, the first is line 13 [E0203]"* ]]
    [ "$(sed 1d <<<"$output" | cut -f 1,3,6)" = "$(
        head -n 12 runs/g/a/metrics.jsonl | jq -r 'select(.split == "train") |
            ["runs/g/a", .step, .loss // ""] | @tsv' |
            sed 's/\t1$/\t1.0/')" ]
    [ "$(sed 1d <<<"$output" | cut -f 4,5 | sed -n '1p;10p' | xargs)" = '0.2 0.0 2.0 9.0' ]
    run -0 --separate-stderr "$CELLRUN" plot g/a --metric loss,accuracy --json
    jq -e '[.curves[] | [.run, .metric, .runs]] ==
        [["runs/g/a", "train.loss", 1], ["runs/g/a", "eval.loss", 1],
         ["runs/g/a", "eval.accuracy", 1]] and
        .curves[0].step == [range(1; 11)] and .curves[0].value[3] == null and
        .curves[2] == {run: "runs/g/a", metric: "eval.accuracy", runs: 1,
            step: [5, 10], epoch: [1, 2], time: [4.25, 9.25],
            value: [0.4, 0.8]}' <<<"$output"
}

@test "--smooth is the corrected moving average" {
    "$CELLRUN" plot g/a --metric train.loss --smooth 0.6 --tsv |
        awk -F '\t' 'NR > 1 {
            y[NR - 1] = $6; sum = 0
            for (k = 1; k < NR; k++) sum += 0.4 * 0.6 ^ (NR - 1 - k) * y[k]
            d = sum / (1 - 0.6 ^ (NR - 1)) - $7
            if (d < -1e-12 || d > 1e-12) exit bad = 1
        } END { exit bad || NR != 11 }'
    run -2 "$CELLRUN" plot g/a --smooth 1
    # a bare name is that of training and evaluation, if these have it
    echo '{"t":1,"step":11,"split":"watch","at":"fc","what":"grad","loss":9,"mean":3}' >>runs/g/a/metrics.jsonl
    for names in 'loss eval.loss,train.loss' 'mean watch.fc.grad.mean'; do
        run -0 "$CELLRUN" plot g/a --metric "${names% *}" --tsv
        [ "$(sed 1d <<<"$output" | cut -f 2 | sort -u | paste -sd,)" = "${names#* }" ]
    done
    run -0 "$CELLRUN" plot g/a --smooth 0.5
    [[ $output == "loss, smoothed by 0.5"* ]]
}

@test "--over and --group-by draw means with deviations" {
    run -0 --separate-stderr "$CELLRUN" plot g --over seed --metric accuracy --tsv
    tsv=$output
    awk -F '\t' 'function off(a, b) { return a - b < -1e-12 || a - b > 1e-12 }
        NR == 2 { bad += $1 != "learning_rate=0.1" || off($6, 0.425) ||
                  off($7, sqrt(2 * 0.025 ^ 2)) }
        NR == 5 { bad += $1 != "learning_rate=0.5" || off($6, 0.7) || $7 != "" }
        END { exit bad || NR != 5 }' <<<"$output"
    run -0 "$CELLRUN" plot g --group-by optimizer.learning_rate --metric accuracy --tsv
    [ "$output" = "$tsv" ]
    # a run that is not as far has no part in the steps that it lacks
    sed -i '$d' runs/g/b/metrics.jsonl
    run -0 "$CELLRUN" plot g/a g/b --over seed --metric accuracy --tsv
    [ "$(sed -n '3s/.*\t0.8\t/0.8 /p' <<<"$output")" = '0.8 ' ]
    [[ $output == *$'\nmean\teval.accuracy\t5\t'* ]]
    run -0 "$CELLRUN" plot g --over seed --metric accuracy
    [[ $output == *"* learning_rate=0.1, mean of 2 runs  last 0.8"* ]]
    run -0 "$CELLRUN" plot g --group-by seed --metric accuracy
    [[ $output == *"warning: each group has one run: there is nothing to average"* ]]
    run -2 "$CELLRUN" plot g --group-by nothing
    [[ $output == *"no run has a 'nothing' to be grouped by"* ]]
    run -2 "$CELLRUN" plot g --group-by seed --over seed
}

@test "more than 8 curves: dashes in files, characters in a terminal" {
    for i in {01..30}; do
        mkdir -p "many/$i"
        cp runs/g/a/* "many/$i"
    done
    run -0 "$CELLRUN" plot many --metric accuracy -o m.svg
    is_svg m.svg
    # 30 curves, and as many lines in the legend
    [ "$(grep -o 'class="curve[^"]*"' m.svg | sort | uniq -c |
        awk '{ print $1 }' | sort -u)" = 2 ]
    [ "$(grep -o 'class="curve[^"]*"' m.svg | sort -u | wc -l)" = 30 ]
    grep -q 'class="curve mixed c6"' m.svg
    LC_ALL=C.UTF-8 run -0 "$CELLRUN" plot $(echo many/* | cut -d " " -f 1-20) \
        --metric accuracy --color always
    # pairs of colour and character
    [ "$(sed -n 's/^  \(.*\) [0-9][0-9] *last.*/\1/p' <<<"$output" | sort -u |
        wc -l)" = 20 ]
    [[ $output != *$'\xe2\x94\x81'* ]]
}

@test "SVG: one panel for each metric, bands, the same bytes" {
    run -0 "$CELLRUN" plot g --over seed --title 'A <title>' --x epoch -o p.svg
    [ -z "$output" ]
    is_svg p.svg
    [ "$(grep -c '<desc' p.svg)" = 3 ]
    [ "$(grep -c 'class="band c1"' p.svg)" = 3 ]
    grep -q 'class="title"[^>]*>A &#60;title&#62;</text>' p.svg
    grep -q 'prefers-color-scheme:dark' p.svg
    "$CELLRUN" plot g --over seed --title 'A <title>' --x epoch -o - | cmp - p.svg
    "$CELLRUN" plot g/a --metric train.loss --smooth 0.5 --logy --x time -o s.svg
    is_svg s.svg
    [ "$(grep -c 'class="curve faint c1"' s.svg)" = 1 ]
    grep -q '>8 s</text>' s.svg
    [ "$(sed -n 's|.*"end">\(.*\)</text>|\1|p' s.svg | xargs)" = '0.1 0.2 0.5 1' ]
}

@test "PNG by librsvg, or a message that names its package" {
    export LSAN_OPTIONS=detect_leaks=0 # fontconfig keeps its tables
    run -0 "$CELLRUN" plot g -o p.png
    [ -z "$output" ]
    [[ $(file -b p.png) == 'PNG image data, 1440 x '* ]] ||
        [ "$(head -c 8 p.png | od -An -tx1 | tr -d ' ')" = 89504e470d0a1a0a ]
    mkdir lib
    echo >lib/librsvg-2.so.2
    LD_LIBRARY_PATH=$PWD/lib run -1 "$CELLRUN" plot g -o q.png
    [[ $output == *"PNG needs the library librsvg-2.so.2, which cannot be opened"*"install the package librsvg2-2"* ]]
    [ ! -e q.png ]
}

@test "errors: unknown metrics, empty runs, files, wrong use" {
    run -2 --separate-stderr "$CELLRUN" plot g/a --metric acuracy
    [[ $stderr == *"--metric: the run has no metric 'acuracy' [E0004]"*"did you mean 'accuracy'?"*"metrics: train.loss train.lr eval.accuracy eval.loss"* ]]
    [ -z "$output" ]
    run -2 "$CELLRUN" plot g --metric eval.loss,train.accuracy
    [[ $output == *"no run has a metric 'train.accuracy'"* ]]
    sed -i '/accuracy/d' runs/g/b/metrics.jsonl
    run -0 --separate-stderr "$CELLRUN" plot g --metric accuracy
    [[ $stderr == *"runs/g/b: warning: the run has no metric 'accuracy'"* ]]
    : >runs/g/a/metrics.jsonl
    run -2 "$CELLRUN" plot g/a
    [[ $output == *"runs/g/a: error: the run has no records to plot"* ]]
    run -0 --separate-stderr "$CELLRUN" plot g/a g/c
    [[ $stderr == *"runs/g/a: warning: the run has no records"* ]]
    rm runs/g/c/metrics.jsonl
    mkdir runs/g/c/metrics.jsonl
    run -1 "$CELLRUN" plot g/c
    [[ $output == *"runs/g/c/metrics.jsonl: error: cannot read: Is a directory"* ]]
    run -2 "$CELLRUN" plot
    run -2 "$CELLRUN" plot g/b -o b.gif
    [[ $output == *"-o: found 'b.gif', expected a name that ends in .svg or .png"* ]]
    run -1 "$CELLRUN" plot g/b -o /nowhere/b.svg
    run -1 bash -c '"$CELLRUN" plot g/b --tsv >/dev/full'
}

@test "a record that cannot be read does not hide the curves" {
    echo '{' >runs/g/a/record.json
    run -0 --separate-stderr "$CELLRUN" plot g/a --metric accuracy --tsv
    [[ $stderr == *"record.json: warning: not a run record"* ]]
    [ "$(wc -l <<<"$output")" = 3 ]
    rm runs/g/a/record.json
    run -0 --separate-stderr "$CELLRUN" plot g/a --metric accuracy --tsv
    [ "$(wc -l <<<"$output")" = 3 ]
    [ -z "$stderr" ]
}

@test "--follow writes the file until the run ends" {
    sed -i 's/completed/running/' runs/g/a/record.json
    : >runs/g/a/lock
    "$CELLRUN" plot g/a --metric train.loss --follow -o f.svg 3>&- &
    until [ -e f.svg ]; do
        kill -0 $!
        sleep 0.05
    done
    cp f.svg first.svg
    echo '{"t":1020,"step":20,"epoch":4,"samples":160,"split":"train","loss":0.05}' >>runs/g/a/metrics.jsonl
    sed 's/running/completed/' runs/g/a/record.json >done.json
    mv done.json runs/g/a/record.json
    wait $!
    run ! cmp -s f.svg first.svg
    "$CELLRUN" plot g/a --metric train.loss -o - | cmp - f.svg
    for how in json tsv; do
        run -2 "$CELLRUN" plot g/a -o - --$how
        [[ $output == *"--$how and -o - both write to standard output"* ]]
    done
    run -2 "$CELLRUN" plot g/a --follow
    [[ $output == *"--follow: standard output is not a terminal; use -o FILE"* ]]
}

@test "--follow ends with the process of the run, even if it was killed" {
    sed -i 's/completed/running/' runs/g/a/record.json
    run -0 timeout 300 "$CELLRUN" plot g/a --follow -o f.svg
    is_svg f.svg
}

@test "a record that is not a file is no reason to wait" {
    rm runs/g/a/record.json
    mkfifo runs/g/a/record.json
    run -0 timeout 300 "$CELLRUN" plot runs/g/a --metric lr
}

@test "runs export: no path is a formula for a spreadsheet" {
    cp -r runs/g/a =1+1
    run -0 "$CELLRUN" runs export =1+1
    [ "$(sed 1d <<<"$output" | cut -d, -f1 | sort -u)" = ./=1+1 ]
}

@test "runs export writes the records as CSV and TSV" {
    sed -i 's/"lr"/"a, \\"b\\"\\u001b[2J"/' runs/g/b/metrics.jsonl
    run -0 --separate-stderr "$CELLRUN" runs export g/a g/b
    [ "$(head -n 1 <<<"$output")" = 'run,split,step,epoch,samples,t,loss,lr,accuracy,"a, ""b""\x1b[2J"' ]
    [ "$(sed -n 7p <<<"$output")" = 'runs/g/a,eval,5,0,40,1005.750,0.5,,0.4,' ]
    [ "$(wc -l <<<"$output")" = 25 ]
    cmp <(sed -n '2,13p' <<<"$output" | cut -d, -f 2-7) \
        <(jq -r '[.split, .step, .epoch, .samples, "\(.t)0\(if .split == "train" then "0" else "" end)", .loss] | join(",")' runs/g/a/metrics.jsonl)
    csv=$output
    run -0 "$CELLRUN" runs export g/a g/b -o e.csv
    [ -z "$output" ]
    [ "$(cat e.csv)" = "$csv" ]
    run -0 "$CELLRUN" runs export aaaa --tsv
    [ "$(sed -n 7p <<<"$output")" = $'runs/g/a\teval\t5\t0\t40\t1005.750\t0.5\t\t0.4' ]
    run -2 "$CELLRUN" runs export
    [[ $output == *"runs export: found 0 runs, expected 1 or more"* ]]
    run -2 "$CELLRUN" runs export nothing
    : >runs/g/a/metrics.jsonl
    run -2 "$CELLRUN" runs export g/a
    [[ $output == *"runs/g/a: error: the run has no records"* ]]
}
