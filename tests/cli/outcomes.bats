# What a run stores of its evaluation: eval.npz, samples.json, the phases of
# record.json.
bats_require_minimum_version 1.5.0
set -o pipefail

setup() {
    . "$BATS_TEST_DIRNAME/small.bash"
    unset CELLRUN_SET CELLRUN_DATA CELLRUN_RUNS
    cd "$BATS_TEST_TMPDIR"
}

# npz FILE NAME TEMPLATE: the numbers of an array, one per line
npz() {
    perl -0777 -e 'my ($name, $template) = @ARGV; $_ = <STDIN>;
        my %size = ("f" => 4, "l" => 4, "q" => 8);
        /PK\x03\x04.{26}\Q$name\E\.npy.*?\x93NUMPY..(..)/s or die "no $name";
        my $from = $+[0] + unpack "v", $1;
        my $head = substr $_, $+[0], unpack "v", $1;
        my ($shape) = $head =~ /\(([^)]*)\)/;
        my $n = 1; $n *= $_ for $shape =~ /\d+/g;
        my $bytes = $n * $size{substr $template, 0, 1};
        printf "%.6g\n", $_ for unpack "$template<*", substr $_, $from, $bytes
        ' "$2" "$3" <"$1"
}

# known FILE LOSS LABELS: a network whose logits are (1, 3) and (2, 4)
known() {
    printf 'a,b,label\n1,0,%s\n0,1,%s\n' $3 >t.csv
    cat >"$1" <<END
cellrun: 1
dataset:
  train: {CSVDataset: {dataset_files: t.csv, columns: {x: {fields: [a, b], type: float32}, label: {fields: label, type: ${4:-int32}}}}}
  eval: {CSVDataset: {dataset_files: t.csv, columns: {x: {fields: [a, b], type: float32}, label: {fields: label, type: ${4:-int32}}}}}
datapipe: {batch: {batch_size: 2}}
network: {fc: {Dense: {out_channels: 2, has_bias: false, weight_init: {Array: {values: [[1, 2], [3, 4]]}}}}}
loss: $2
optimizer: {SGD: {learning_rate: 0.0}}
metrics: [loss]
predict: {labels: ["<b>cat", dog]}
train: {steps: 2}
END
}

@test "classes: label, prediction, probability and loss of each sample" {
    known c.yaml CrossEntropyLoss "0 1"
    "$CELLRUN" train c.yaml -o r -q >/dev/null
    [ "$(npz r/eval.npz label l | xargs)" = "0 1" ]
    [ "$(npz r/eval.npz predicted l | xargs)" = "1 1" ]
    [ "$(npz r/eval.npz sample q | xargs)" = "0 1" ]
    # 1 / (1 + e^-2); ln(1 + e^2), ln(1 + e^-2)
    [ "$(npz r/eval.npz probability f | xargs)" = "0.880797 0.880797" ]
    [ "$(npz r/eval.npz loss f | xargs)" = "2.12693 0.126928" ]
    # the first of two equal evaluations is the best
    [ "$(npz r/eval.npz evaluation q | xargs)" = "1 0 2 2" ]
}

@test "a loss of log probabilities, a metric block, smoothing: the same loss" {
    known c.yaml '{CrossEntropyLoss: {label_smoothing: 0.5}}' "1 0"
    "$CELLRUN" train c.yaml -o r -q >/dev/null
    [ "$(npz r/eval.npz loss f | xargs)" = "0.126928 2.12693" ]
}

@test "numbers: truth, output and mean squared error" {
    printf 'a,b,y,z\n1,0,2,3\n0,1,4,4\n' >t.csv
    known c.yaml MSELoss "0 1"
    printf 'a,b,y,z\n1,0,2,3\n0,1,4,4\n' >t.csv
    sed -i 's/label: {fields: label, type: int32}/label: {fields: [y, z], type: float32}/; /^predict/d' c.yaml
    "$CELLRUN" train c.yaml -o r -q >/dev/null
    [ "$(npz r/eval.npz truth f | xargs)" = "2 3 4 4" ]
    [ "$(npz r/eval.npz output f | xargs)" = "1 3 2 4" ]
    [ "$(npz r/eval.npz loss f | xargs)" = "0.5 2" ]
}

@test "samples.json: the worst first, with the names of classes and columns" {
    known c.yaml CrossEntropyLoss "1 0"
    "$CELLRUN" train c.yaml -o r -q >/dev/null
    jq -e '.classes == ["<b>cat", "dog"] and .step == 1 and
        (.worst | map(.sample)) == [1, 0] and
        .worst[0].columns == {x: {a: 0, b: 1}} and
        (.first | length) == 2 and (.first[0].columns | has("label") | not)' \
        r/samples.json
    "$CELLRUN" train c.yaml -o s -q log.images.wrong=1 >/dev/null
    jq -e '(.worst | map(.sample)) == [1]' s/samples.json
}

@test "pictures are PNG of at most 96 pixels" {
    "$CELLRUN" train "$BATS_TEST_DIRNAME/../../configs/digits.yaml" -o r -q \
        train.steps=2 >/dev/null
    jq -r '.worst[0].columns.image | "\(.height) \(.width)"' r/samples.json |
        grep -x "28 28"
    jq -r '.worst[0].columns.image.png' r/samples.json | base64 -d >one.png
    [ "$(head -c 4 one.png | tail -c 3)" = PNG ]
    [ "$(jq '.worst | length' r/samples.json)" = 32 ]
}

@test "no files with --dry-run and --no-ckpt; --force removes the old ones" {
    known c.yaml CrossEntropyLoss "0 1"
    "$CELLRUN" train c.yaml -o r -q --dry-run >/dev/null
    [ ! -e r ]
    "$CELLRUN" train c.yaml -o r -q >/dev/null
    [ -e r/eval.npz ]
    [ -e r/samples.json ]
    "$CELLRUN" train c.yaml -o r -q --no-ckpt --force >/dev/null
    [ ! -e r/eval.npz ]
    [ ! -e r/samples.json ]
}

@test "a killed run has eval.npz of its best evaluation" {
    known c.yaml CrossEntropyLoss "0 1"
    "$CELLRUN" train c.yaml -o r -q train.steps=1000000000 >/dev/null &
    for ((i = 0; i < 80; i++)); do
        [ ! -e r/eval.npz ] || break
        sleep 0.1
    done
    kill -KILL $!
    wait $! || [ $? = 137 ]
    [ "$(npz r/eval.npz evaluation q | sed -n 1p)" = 1 ]
}

@test "a resumed run keeps the files of a better evaluation" {
    config c.yaml
    "$CELLRUN" train c.yaml -o r -q --epochs 2 >/dev/null
    cp r/eval.npz before.npz
    # nothing can be better: the learning rate is 0 from here
    "$CELLRUN" resume r -q --epochs 3 --allow-change \
        optimizer.learning_rate=0.0 >/dev/null
    cmp before.npz r/eval.npz
}

@test "a resumed run keeps the first samples, and finds them if there are none" {
    config c.yaml
    # the loss of the evaluation falls: the resumed run has a new best
    "$CELLRUN" train c.yaml -o whole -q --epochs 2 checkpoint.best.metric=loss >/dev/null
    "$CELLRUN" train c.yaml -o r -q --epochs 1 checkpoint.best.metric=loss >/dev/null
    "$CELLRUN" resume r -q --epochs 2 >/dev/null
    [ "$(jq -c .step r/samples.json)" = 38 ]
    cmp whole/samples.json r/samples.json
    # a process that was killed before it wrote them; and nothing is better
    rm r/samples.json
    "$CELLRUN" resume r -q --epochs 3 --allow-change \
        optimizer.learning_rate=0.0 >/dev/null
    [ "$(jq '.first | length' r/samples.json)" = 16 ]
    # damaged ones are replaced
    for damage in '' '{"first":[' '{"first":[\n]\n],\n"step":1}' '{}' '[]'; do
        printf "$damage" >r/samples.json
        "$CELLRUN" resume r -q --epochs $((++epochs + 3)) >/dev/null
        [ "$(jq '.first | length' r/samples.json)" = 16 ]
    done
}

@test "record.json has the samples of an epoch, from which epochs follow" {
    config c.yaml
    "$CELLRUN" train c.yaml -o a -q --epochs 2 train.limit=100 >/dev/null
    "$CELLRUN" train c.yaml -o b -q --epochs 2 train.limit=100 \
        datapipe.batch.drop_remainder=true >/dev/null
    sed '/^  eval:/c\  split: {eval_from_train: 20%}' c.yaml >s.yaml
    "$CELLRUN" train s.yaml -o c -q --epochs 2 >/dev/null
    [ "$(jq -c '[.data[].samples]' [abc]/record.json | xargs)" = \
        '[100,100] [96,96] [240,60]' ]
    for run in a b c; do
        run -0 "$CELLRUN" plot $run --metric eval.loss --x epoch --tsv
        [ "$(awk 'NR > 1 { print $4 }' <<<"$output" | xargs)" = "1.0 2.0" ]
    done
    "$CELLRUN" report c -o r.html
    grep -q 'train: 240 samples.*eval: 60 samples' r.html
}

@test "record.json has the seconds of each phase" {
    known c.yaml CrossEntropyLoss "0 1"
    "$CELLRUN" train c.yaml -o r -q >/dev/null
    jq -e '(.phases | keys) == ["checkpoints", "command", "data", "evaluation",
        "other", "sample", "steps", "updates", "watch"] and
        (.seconds + 0.01 >= ([.phases[]] | add)) and .phases.steps > 0' \
        r/record.json
}

@test "positions: losses, right ones and classes of the tokens of texts" {
    printf ababa >t.txt
    cat >c.yaml <<'END'
cellrun: 1
dataset:
  train: {CharSequenceDataset: {files: t.txt, seq_len: 4}}
  eval: {CharSequenceDataset: {files: t.txt, seq_len: 4}}
datapipe: {batch: {batch_size: 1}}
network: {inputs: [tokens], cells: {e: {Embedding: {vocab_size: 2, embedding_size: 2, embedding_table: {Array: {values: [[1, 3], [2, 4]]}}}}}, construct: return e(tokens)}
loss: {CrossEntropyLoss: {axis: -1}}
optimizer: {SGD: {learning_rate: 0.0}}
train: {steps: 1}
END
    "$CELLRUN" train c.yaml -o r -q >/dev/null
    # tokens abab, labels baba: ln(1 + e^-2) for b, ln(1 + e^2) for a
    [ "$(npz r/eval.npz loss f | xargs)" = 1.12693 ]
    [ "$(npz r/eval.npz right f | xargs)" = 0.5 ]
    [ "$(npz r/eval.npz class_positions q | xargs)" = "2 2" ]
    [ "$(npz r/eval.npz position_losses q | xargs)" = "2 0 0 0 0 0 0 0 2$(
        printf ' 0%.0s' {10..64})" ]
    [ "$(jq -c '[.classes, .worst[0].losses, .worst[0].columns.tokens]' \
        r/samples.json)" = '[["a","b"],[0.127,2.13,0.127,2.13],"abab"]' ]
    "$CELLRUN" report r -o r.html
    grep -q '4 positions: mean loss 1.1269 nats, which is 1.6258 bits' r.html
    grep -q 'ab<mark class="s2">a</mark>b' r.html
}

@test "positions whose outputs are no probabilities count as the surest" {
    # NLLLoss of logits 50, without LogSoftmax: the loss is -50
    perl -e 'print pack "l<*", (0) x 8' | npy z.npy '<i4' '(4, 2)'
    perl -e 'print pack "f<*", (0) x 24' | npy x.npy '<f4' '(4, 2, 3)'
    cat >n.yaml <<'END'
cellrun: 1
dataset:
  train: {NumpySlicesDataset: {data: [x.npy, z.npy], column_names: [x, label]}}
  eval: {NumpySlicesDataset: {data: [x.npy, z.npy], column_names: [x, label]}}
datapipe: {batch: {batch_size: 4}}
network:
  cells: {fc: {Dense: {in_channels: 3, out_channels: 5, bias_init: {Constant: {value: 50.0}}}}}
  construct: return transpose(fc(x), (0, 2, 1))
loss: NLLLoss
optimizer: {SGD: {learning_rate: 0.0}}
metrics: [loss]
train: {steps: 1}
END
    run -0 "$CELLRUN" train n.yaml -o r -q
    [ "$(npz r/eval.npz position_losses q | head -n 1)" = 8 ]
    [ "$(npz r/eval.npz loss f | xargs)" = "-50 -50 -50 -50" ]
}

@test "several labels: bits of what is true and what was found" {
    # logits (1, 2, -3) and (-1, 2, 3)
    printf 'a,b,p,q,r\n1,0,1,0,1\n0,1,0,1,1\n' >t.csv
    cat >c.yaml <<'END'
cellrun: 1
dataset:
  train: {CSVDataset: {dataset_files: t.csv, columns: {x: {fields: [a, b], type: float32}, label: {fields: [p, q, r], type: float32}}}}
  eval: {CSVDataset: {dataset_files: t.csv, columns: {x: {fields: [a, b], type: float32}, label: {fields: [p, q, r], type: float32}}}}
datapipe: {batch: {batch_size: 2}}
network: {fc: {Dense: {out_channels: 3, has_bias: false, weight_init: {Array: {values: [[1, -1], [2, 2], [-3, 3]]}}}}}
loss: BCEWithLogitsLoss
optimizer: {SGD: {learning_rate: 0.0}}
predict: {labels: [tall, "<i>", old]}
train: {steps: 1}
END
    "$CELLRUN" train c.yaml -o r -q >/dev/null
    [ "$(npz r/eval.npz true_labels q | xargs)" = "5 6" ]
    [ "$(npz r/eval.npz found_labels q | xargs)" = "3 6" ]
    # ln(1 + e^-1) + ln(1 + e^2) + ln(1 + e^3), a third of it
    [ "$(npz r/eval.npz loss f | head -1)" = 1.82959 ]
    [ "$(jq -c '.worst[0] | [.true_labels, .found_labels]' r/samples.json)" = \
        '[[0,2],[0,1]]' ]
    "$CELLRUN" report r -o - | perl -0777 -pe 's/<[^>]*>/ /g; s/ +/ /g' >w
    # precision, recall, F1, true, found
    grep -q 'tall 1.0000 1.0000 1.0000 1 1' w
    grep -q '&#60;i&#62; 0.5000 1.0000 0.6667 1 2' w
    grep -q 'old 1.0000 0.5000 0.6667 2 1' w
    grep -q 'exact matches of all labels 0.5000' w
}
