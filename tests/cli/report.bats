# report: one page about a run, or about several.
bats_require_minimum_version 1.5.0
set -o pipefail

# Runs for all tests: classes whose outcomes are known, numbers, three seeds.
setup_file() {
    unset CELLRUN_SET CELLRUN_DATA CELLRUN_RUNS
    cd "$BATS_FILE_TMPDIR"
    . "$BATS_TEST_DIRNAME/small.bash"
    # logits (1, 3), (2, 4), (-1, -3), (1, 3): only the second is right
    printf 'a,b,label\n1,0,0\n0,1,1\n-1,0,1\n1,0,0\n' >t.csv
    cat >c.yaml <<'END'
cellrun: 1
dataset:
  train: {CSVDataset: {dataset_files: t.csv, columns: {x: {fields: [a, b], type: float32}, label: {fields: label, type: int32}}}}
  eval: {CSVDataset: {dataset_files: t.csv, columns: {x: {fields: [a, b], type: float32}, label: {fields: label, type: int32}}}}
datapipe: {batch: {batch_size: 4}}
network: {fc: {Dense: {out_channels: 2, has_bias: false, weight_init: {Array: {values: [[1, 2], [3, 4]]}}}}}
loss: CrossEntropyLoss
optimizer: {SGD: {learning_rate: 0.0}}
metrics: [accuracy, loss]
predict: {labels: ["<b>cat", 'd"og']}
train: {steps: 2}
END
    "$CELLRUN" train c.yaml -o classes -q >/dev/null
    sed 's/CrossEntropyLoss/MSELoss/; /^predict/d
         s/fields: label, type: int32/fields: [a, b], type: float32/
         s/accuracy/mae/' c.yaml >n.yaml
    "$CELLRUN" train n.yaml -o numbers -q >/dev/null
    config s.yaml
    for lr in 0.05 0.5; do
        for seed in 1 2; do
            "$CELLRUN" train s.yaml -q -o "sweep/$lr-$seed" --epochs 2 \
                seed=$seed optimizer.learning_rate=$lr >/dev/null
        done
    done
}

setup() {
    unset CELLRUN_SET CELLRUN_DATA CELLRUN_RUNS
    cd "$BATS_TEST_TMPDIR"
    runs=$BATS_FILE_TMPDIR
}

# words FILE: its text without tags, one line for each row of a table
words() {
    perl -0777 -pe 's/<(style|script|svg|title).*?<\/\1>//gs; s/\n/ /g;
        s/<\/(tr|p|h\d|div|li|caption)>/\n/g; s/<[^>]*>/ /g; s/ +/ /g;
        s/&#(\d+);/chr $1/ge' "$1" | sed 's/^ //; s/ $//'
}

# nested FILE: every element is closed, in order; void ones have no end
nested() {
    perl -0777 -ne 's/<!DOCTYPE html>//; s/<(style|script)>.*?<\/\1>//gs;
        my @open; my %void = map { $_ => 1 } qw(meta img br wbr);
        while (/<(\/?)([a-zA-Z][a-zA-Z0-9]*)((?:\s+[-:\w]+(?:="[^"<]*")?)*)\s*(\/?)>|(<)/g) {
            die "a bare < at $-[0]\n" if $5;
            next if $4 || $void{$2};
            if ($1) { my $was = pop @open; die "$was, then /$2\n" if $was ne $2 }
            else { push @open, $2 }
        }
        die "open: @open\n" if @open;
        my %id; $id{$_}++ for /\bid="([^"]*)"/g;
        $id{$_} > 1 and die "id $_ twice\n" for keys %id;
        $id{$_} or die "no id $_\n" for /href="#([^"]*)"/g;' "$1"
}

@test "classes: the numbers of the page are those of the outcomes" {
    run -0 "$CELLRUN" report "$runs/classes" -o r.html
    [ "$output" = "report: r.html" ]
    [ "$("$CELLRUN" report "$runs/classes" -o j.html -q --json)" = \
        '{"report": "j.html"}' ]
    cmp j.html r.html
    nested r.html
    words r.html >w
    grep -q '^accuracy 0.2500 0.0000 0.7500$' w
    # scikit-learn 1.3, precision_recall_fscore_support of labels 0 1 1 0 and
    # predictions 1 1 0 1: precision 0 and 1/3, recall 0 and 1/2, F1 0 and 0.4
    grep -q '^precision, mean over classes 0.1667 ' w
    grep -q '^recall, mean over classes 0.2500 ' w
    grep -q '^F1, mean over classes 0.2000 ' w
    grep -q "^d\"og 0.3333 0.5000 0.4000 2 3$" w
    # mean of ln(1 + e^-2) once and ln(1 + e^2) three times
    grep -q '^negative log-likelihood 1.6269 ' w
    # all probabilities are 1 / (1 + e^-2) = 0.8808, a quarter is right
    grep -q '^Expected calibration error: 0.6308' w
}

@test "numbers: errors, R2, points and residuals" {
    "$CELLRUN" report "$runs/numbers" -o r.html
    nested r.html
    words r.html >w
    # outputs (1, 3) (2, 4) (-1, -3) (1, 3), truths (1, 0) (0, 1) (-1, 0)
    # (1, 0): errors 0 3 2 3 0 -3 0 3; R2 is the mean of 1 - 4 / 2.75 and
    # 1 - 36 / 0.75
    grep -q '^mean absolute error 1.7500 ' w
    grep -q '^mean squared error 5.0000 ' w
    grep -q '^root mean squared error 2.2361 ' w
    grep -q '^coefficient of determination, R[^ ]* -23.7273 ' w
    grep -q 'Output 0 against label' r.html
    grep -q 'Residuals' r.html
}

@test "the same files give the same page" {
    "$CELLRUN" report "$runs/classes" -o a.html
    "$CELLRUN" report "$runs/classes" -o - >b.html
    cmp a.html b.html
}

@test "texts of a run directory are escaped" {
    cp -r "$runs/classes" bad
    evil='</script><script>alert(1)</script><img src=x onerror=alert(2)>'
    jq -c --arg e "$evil" '.name = $e | .cpu = $e | .config = $e | .error = $e |
        .host = $e | .phases[$e] = 1 | .status = $e | .eval[$e] = 1' \
        bad/record.json >x
    mv x bad/record.json
    jq -c --arg e "$evil" '.classes = [$e, $e] |
        .worst[0].columns[$e] = {png: "\"><script>", height: 1, width: 1} |
        .worst[0].columns.text = $e | .first[0].columns[$e] = $e' \
        bad/samples.json >x
    mv x bad/samples.json
    printf '%s\n' "$evil" "warning: $evil" >bad/log.txt
    printf '%s\n' "$evil" >bad/command
    printf '%s\n' "$evil" >bad/resolved.yaml
    jq -c --arg e "$evil" 'if .split == "eval" then .[$e] = 1 else . end' \
        bad/metrics.jsonl >x
    jq -nc --arg e "$evil" '{t: 1, step: 2, epoch: 0, split: "sample",
        text: $e}' >>x
    mv x bad/metrics.jsonl
    "$CELLRUN" report bad -o r.html
    nested r.html
    [ "$(grep -c '<script' r.html)" = 1 ]
    run -1 grep -E '<img src=x|[^&]onerror=[^a]' r.html
    "$CELLRUN" report bad "$runs/classes" -o r.html
    nested r.html
    [ "$(grep -c '<script' r.html)" = 1 ]
}

@test "members of other types are omitted" {
    cp -r "$runs/classes" bad
    for list in '[1, [2]]' '"x"' '{"x": [1]}'; do
        jq -c ".eval = $list | .best = $list | .phases = $list |
            .vars = $list | .data = $list | .id = $list | .name = $list |
            .status = $list | .started = $list" \
            "$runs/classes/record.json" >bad/record.json
        jq -c ".worst[0].columns = $list | .first[0].columns = $list |
            .classes = $list | .worst[1] = $list | .first[1] = $list |
            .step = $list" "$runs/classes/samples.json" >bad/samples.json
        run -0 "$CELLRUN" report bad -o r.html
        nested r.html
        run -0 "$CELLRUN" report bad "$runs/classes" -o r.html
        nested r.html
        for file in record.json samples.json; do
            echo "$list" >bad/$file
            run "$CELLRUN" report bad -o r.html
            [ "$status" -le 2 ]
        done
        cp "$runs/classes/record.json" bad
        for config in '- a\n- [b]\n' 'dataset: [x]\nnetwork: 5\n' '5\n'; do
            printf -- "$config" >bad/resolved.yaml
            run -0 "$CELLRUN" report bad -o r.html
            nested r.html
            run -0 "$CELLRUN" report bad "$runs/classes" -o r.html
            nested r.html
        done
        cp "$runs/classes/resolved.yaml" bad
    done
}

@test "links of a run directory are not followed" {
    cp -r "$runs/classes" r
    printf 'a secret\n' >secret
    for file in config.yaml command log.txt; do
        ln -sf "$PWD/secret" "r/$file"
    done
    "$CELLRUN" report r -o r.html
    run -1 grep -q 'a secret' r.html
}

@test "the policy of the page allows its own script only" {
    "$CELLRUN" report "$runs/classes" -o r.html
    perl -0777 -ne 'print $1 if /<script>(.*?)<\/script>/s' r.html >script
    hash=$(sha256sum script | cut -d' ' -f1 |
        perl -ne 'chomp; print pack "H*", $_' | base64)
    grep -q "default-src 'none'.*script-src 'sha256-$hash'" r.html
    # nothing is loaded
    run -1 grep -E '(src|href)="(https?:|//|[^#d])' r.html
}

@test "R2 of labels whose mean is large is that of the metric" {
    perl -e 'print "a,b,y\n"; printf "%g,%g,%d\n", $_ % 7, $_ % 5, 8388608 + $_ % 3
        for 1 .. 301' >y.csv
    sed 's/t.csv/y.csv/; s/fields: label, type: int32/fields: [y], type: float32/
         s/out_channels: 2, has_bias: false/out_channels: 1/
         s/\[\[1, 2\], \[3, 4\]\]}}/[[1, 2]]}}, bias_init: {Constant: {value: 8388608}}/
         s/CrossEntropyLoss/MSELoss/; s/accuracy/r2/; s/steps: 2/steps: 1/
         /^predict/d' "$runs/c.yaml" >y.yaml
    run -0 "$CELLRUN" train y.yaml -o r -q
    r2=$(sed -n 's/^eval.r2: //p' <<<"$output")
    "$CELLRUN" report r -o r.html
    words r.html >w
    grep -q "^coefficient of determination, R[^ ]* ${r2} " w
    # constant labels
    sed -i '2,$s/[0-9.]*$/0.1/' y.csv
    "$CELLRUN" train y.yaml -o c -q
    "$CELLRUN" report c -o c.html
    words c.html >w
    grep -q '^coefficient of determination, R[^ ]* 0.0000 0.0000 0.0000$' w
}

@test "several runs: what differs, the best first, mean over seeds" {
    "$CELLRUN" report "$runs/sweep" -o r.html
    nested r.html
    words r.html >w
    grep -q '^4 runs, 4 with a result; they differ in 2 settings.$' w
    best=$("$CELLRUN" runs --dir "$runs/sweep" --tsv --cols best.accuracy |
        tail -n +2 | sort -g | tail -1)
    grep -E '^(0.05|0.5)-[12] completed' w | head -1 >first
    grep -q "^[^ ]* completed $(printf %.4f "$best") " first
    "$CELLRUN" runs --dir "$runs/sweep" --tsv \
        --cols optimizer.learning_rate,best.accuracy | tail -n +2 >values
    want=$(awk '$1 == 0.5 { n++; s += $2; q += $2 * $2 }
        END { m = s / n
              printf "%.4f %.4f", m, sqrt((q - n * m * m) / (n - 1) + 1e-18) }' \
        values)
    grep -qF "0.5 2 $want" w
}

@test "a damaged or missing file is omitted, with a warning" {
    cp -r "$runs/classes" r
    head -c 300 "$runs/classes/eval.npz" >r/eval.npz
    printf '{"classes":' >r/samples.json
    rm r/metrics.jsonl r/resolved.yaml r/command
    run -0 --separate-stderr "$CELLRUN" report r -o r.html
    [[ $stderr == *eval.npz*"omitted from the report"* ]]
    [[ $stderr == *samples.json*"omitted from the report"* ]]
    nested r.html
}

@test "classes out of range in eval.npz are refused" {
    cp -r "$runs/classes" r
    # class 9 instead of 1, with the checksums that belong to it
    perl -0777 -i -pe 'sub crc { my $c = ~0 & 0xffffffff;
            for (unpack "C*", $_[0]) { $c ^= $_;
                $c = $c & 1 ? $c >> 1 ^ 0xedb88320 : $c >> 1 for 1 .. 8 }
            pack "V", ~$c & 0xffffffff }
        /predicted\.npy.*?(\x93NUMPY.*?\n)(.{16})/s or die;
        my ($head, $data, $at) = ($1, $2, $-[2]);
        my $new = "\x09\0\0\0" . substr $data, 4;
        substr $_, $at, 16, $new;
        my ($was, $is) = (crc($head . $data), crc($head . $new));
        s/\Q$was\E/$is/g == 2 or die' r/eval.npz
    run -0 --separate-stderr "$CELLRUN" report r -o r.html
    [[ $stderr == *eval.npz*"a class is out of range"* ]]
    words r.html >w
    run -1 grep -q '^Expected calibration' w
}

@test "log.report: the page at the end of a run, and of a resumed one" {
    . "$BATS_TEST_DIRNAME/small.bash"
    config s.yaml
    run -0 "$CELLRUN" train s.yaml -q -o r --epochs 1 log.report=true
    [ "$(value status)" = completed ]
    "$CELLRUN" report r -o - | cmp - r/report.html
    "$CELLRUN" resume r -q --epochs 2 >/dev/null
    words r/report.html >w
    grep -q '^Epochs 2$' w
    "$CELLRUN" report r -o - | cmp - r/report.html
    # not by --dry-run
    run -0 "$CELLRUN" train s.yaml -q -o d --dry-run log.report=true
    [ ! -e d ]
}

@test "--follow writes while the run is running, and reloads until it ends" {
    . "$BATS_TEST_DIRNAME/small.bash"
    cp -r "$runs/classes" r
    jq -c 'del(.ended, .exit) | .status = "running"' r/record.json >x
    cp x r/record.json
    : >r/lock
    "$CELLRUN" report r -o r.html --follow -q &
    within 20 grep -qs 'http-equiv="refresh"' r.html
    cp "$runs/classes/record.json" r/record.json
    wait $!
    run -1 grep -q 'http-equiv="refresh"' r.html
}

@test "--follow ends with the process of the run, even if it was killed" {
    cp -r "$runs/classes" r
    jq -c '.status = "running"' "$runs/classes/record.json" >r/record.json
    run -0 timeout 300 "$CELLRUN" report r -o r.html --follow
    run -1 grep -q 'http-equiv="refresh"' r.html
    words r.html >r.txt
    grep -q 'Status interrupted' r.txt
}

@test "--follow ends when the run is deleted; the page does not reload" {
    . "$BATS_TEST_DIRNAME/small.bash"
    cp -r "$runs/classes" r
    jq -c 'del(.ended, .exit) | .status = "running"' r/record.json >x
    cp x r/record.json
    : >r/lock
    "$CELLRUN" report r -o r.html --follow 2>err &
    within 20 grep -qs 'http-equiv="refresh"' r.html
    mv r gone
    wait $! && false || [ $? = 2 ]
    grep -q "'r' is not a run directory" err
    run -1 grep -q 'http-equiv="refresh"' r.html
    nested r.html
}

@test "wrong command lines" {
    run -2 --separate-stderr "$CELLRUN" report
    run -2 --separate-stderr "$CELLRUN" report nothing
    run -2 --separate-stderr "$CELLRUN" report "$runs/classes" -o r.txt
    run -2 --separate-stderr "$CELLRUN" report "$runs/classes" -o - --follow
    run -1 --separate-stderr "$CELLRUN" report "$runs/classes" -o no/r.html
}

@test "the network of labels that are words" {
    printf 'a,b,label\n1,0,cat\n0,1,dog\n' >t.csv
    sed 's/{fields: label, type: int32}/label/
         s/^datapipe:.*/datapipe: {label: [{LabelIndex: {classes: [dog, cat]}}], batch: {batch_size: 2}}/
         s/fc: /fc_of_words: /' "$runs/c.yaml" >w.yaml
    "$CELLRUN" train w.yaml -o r -q >/dev/null
    rm t.csv
    "$CELLRUN" report r -o r.html
    run -1 grep -q 'The network cannot be shown' r.html
    grep -q '>fc_of_words<' r.html
}

@test "thousands of records: few points, one chart of all losses" {
    cp -r "$runs/numbers" r
    awk 'BEGIN { for (i = 1; i <= 4000; i++) {
            loss = 1 / i + (i % 7) / 50
            printf "{\"t\":%d,\"step\":%d,\"epoch\":%d,\"samples\":%d,\"split\":\"train\",\"loss\":%.6f,\"lr\":0.1}\n", i, i, i - 1, 4 * i, loss
            printf "{\"t\":%d,\"step\":%d,\"epoch\":%d,\"samples\":%d,\"split\":\"eval\",\"loss\":%.6f,\"train_loss\":%.6f}\n", i, i, i - 1, 4 * i, 2 * loss, loss } }' >r/metrics.jsonl
    "$CELLRUN" report r -o r.html
    nested r.html
    [ "$(wc -c <r.html)" -lt 200000 ]
    [ "$(grep -c '<path class="curve faint' r.html)" = 3 ]
    [ "$(grep -o 'data-n="[^"]*"' r.html | sort -u | grep -v '"label"' |
        tr -d '\n')" = \
        'data-n="epoch mean"data-n="eval"data-n="train"' ]
    words r.html >w
    grep -q '^training loss, mean of the epoch 1.0200 0.0602$' w
    grep -q 'Unchanged during the run: lr 0.1' w
}

@test "watched tensors: a band, limits, other statistics, last values" {
    cp -r "$runs/numbers" r
    # two entries observe fc.grad: one its moments, one (every other step) zeros
    awk 'BEGIN { for (i = 1; i <= 10; i++) {
            head = sprintf("{\"t\":%d,\"step\":%d,\"epoch\":0,\"samples\":%d,\"split\":\"watch\"", i, i, 4 * i)
            printf "%s,\"at\":\"fc\",\"what\":\"grad\",\"mean\":%g,\"std\":%g,\"min\":%g,\"max\":%g,\"nan_count\":0}\n", head, i / 10, i / 5, -i, i
            if (i % 2)
                printf "%s,\"at\":\"fc\",\"what\":\"grad\",\"zero_fraction\":%g}\n", head, i / 20
            for (b = 1; b <= 2; b++)
                printf "%s,\"in\":\"eval\",\"batch\":%d,\"at\":\"<b>&\",\"what\":\"output\",\"norm\":%s}\n", head, b, (b > 1 ? 1000 : i == 4 ? "null" : i) } }' \
        >>r/metrics.jsonl
    "$CELLRUN" report r -o r.html
    nested r.html
    words r.html >w
    grep -q '^Watched tensors$' w
    grep -q '^fc.grad 10 1 2 -10 10 – 0.45 0$' w
    # the first batch of an evaluation, without a norm at step 4
    grep -q '^<b>&.output.eval 10 – – – – 10 – –$' w
    grep -q 'Line chart of fc.grad over step. mean: 0.1 at 1 to 1 at 10' r.html
    grep -q 'minimum: -1 at 1 to -10 at 10' r.html
    grep -q 'Line chart of fc.grad: fraction of zeros over step. fraction of zeros: 0.05 at 1 to 0.45 at 9' r.html
    grep -q 'of &#60;b&#62;&#38;.output.eval: norm over step. norm: 1 at 1 to 10 at 10, minimum 1, maximum 10' r.html
    # what never changes has no chart
    run -1 grep -q 'fc.grad: NaN or infinite' r.html
    grep -q '<path class="band c1" d="M' r.html
}

@test "watched tensors of a run, and thousands of their records" {
    . "$BATS_TEST_DIRNAME/small.bash"
    config s.yaml
    "$CELLRUN" train s.yaml -q -o r --epochs 2 log.histograms='2 steps' \
        'watch=[{at: act, what: [output], stats: [mean, std, min, max, zero_fraction], every: 1 steps}]' >/dev/null
    "$CELLRUN" report r -o r.html
    nested r.html
    words r.html >w
    grep -q '^act.output 38 ' w
    grep -q '^fc.weight.grad_params 3[78] ' w
    grep -q '>act.output: fraction of zeros<' r.html
    awk 'BEGIN { for (i = 1; i <= 20000; i++)
            printf "{\"t\":%d,\"step\":%d,\"epoch\":0,\"split\":\"watch\",\"at\":\"fc\",\"what\":\"params\",\"mean\":%g,\"std\":1,\"min\":-3,\"max\":%g}\n", i, i, sin(i), i }' \
        >r/metrics.jsonl
    "$CELLRUN" report r -o r.html
    nested r.html
    [ "$(wc -c <r.html)" -lt 300000 ]
    for k in 1 2 3; do
        jq -nc --argjson k $k '{t: 1, step: $k, epoch: 0, split: "watch",
            what: "grad_params", zero_fraction: (1 / $k), mean: $k,
            at: "vision_encoder.layers.12.blöcke.3.attention.proj.weight"}'
    done >x
    cat x >>r/metrics.jsonl
    "$CELLRUN" report r -o r.html
    nested r.html
    # of long names the end is shown
    grep -q '>….blöcke.3.attention.proj.weight.grad_params<' r.html
    grep -q '>….proj.weight.grad_params: fraction of zeros<' r.html
    grep -q 'maximum: 1 at 1 to 2e4 at 20000\|maximum: 1 at 1 to 20000 at 20000' r.html
}

@test "names of settings and metrics of several runs are escaped" {
    evil='</script><script>alert(1)</script>"><img src=x onerror=alert(2)>'
    for k in 1 2 3; do
        cp -r "$runs/classes" "bad$k"
        jq -nc --arg e "$evil" --argjson k $k \
            '{seed: $k, vars: {($e): $k, w: ($e + ($k | tostring))}}' \
            >"bad$k/resolved.yaml"
        jq -c --arg e "$evil" --argjson k $k '.best.metric = $e |
            .best.value = $k | .eval = {($e): $k}' \
            "bad$k/record.json" >x
        mv x "bad$k/record.json"
        jq -nc --arg e "$evil" '{t: 1, step: 2, epoch: 0, split: "eval",
            ($e): 1}' >"bad$k/metrics.jsonl"
    done
    "$CELLRUN" report bad1 bad2 bad3 -o r.html
    nested r.html
    [ "$(grep -c '<script' r.html)" = 1 ]
    run -1 grep -E '<img src=x|[^&]onerror=[^a]' r.html
    grep -q '3 runs, 3 with a result; they differ in 3 settings' r.html
}
