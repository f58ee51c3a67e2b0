# predict: networks of several columns and outputs, and what is made of them.
# All weights are given, so that every number can be checked by hand.
bats_require_minimum_version 1.5.0
set -o pipefail

floats() {
    npy "$1" '<f4' "$2" < <(perl -e 'print pack "f<*", @ARGV' "${@:3}")
}

ints() {
    npy "$1" '<i4' "$2" < <(perl -e 'print pack "l<*", @ARGV' "${@:3}")
}

# fixed FILE NAME: trains the config of stdin with steps too small to be felt
fixed() {
    { echo 'cellrun: 1'; cat
      echo 'optimizer: {SGD: {learning_rate: 1e-30}}'
      echo 'train: {epochs: 1}'; } >"$1.yaml"
    "$CELLRUN" train "$1.yaml" -o "$1" -q
}

setup_file() {
    . "$BATS_TEST_DIRNAME/small.bash"
    unset CELLRUN_SET CELLRUN_DATA CELLRUN_RUNS CELLRUN_THREADS
    cd "$BATS_FILE_TMPDIR"
    # pairs: logit (sum of left) - (sum of right), so 1, -2, 3
    floats left.npy '(3, 2)' 1 2 0 1 4 4
    floats right.npy '(3, 2)' 1 1 1 2 2 3
    ints same.npy '(3,)' 1 1 0
    fixed pairs <<'END2'
dataset: {train: {NumpySlicesDataset: {data: [left.npy, right.npy, same.npy], column_names: [left, right, label]}}}
datapipe: {label: [{TypeCast: float32}]}
network:
  inputs: [left, right]
  cells: {twin: {Dense: {out_channels: 1, weight_init: 1.0, has_bias: false}}}
  construct: return squeeze(twin(left) - twin(right), 1)
loss: BCEWithLogitsLoss
END2
    # two heads: x as it is (two shapes), and (x0, x1, x0 + x1) (three colours)
    ints shape.npy '(3,)' 0 1 1
    ints colour.npy '(3,)' 2 2 0
    fixed heads <<'END2'
dataset: {train: {NumpySlicesDataset: {data: [left.npy, shape.npy, colour.npy], column_names: [x, shape, colour]}}}
datapipe:
  shape: []
network:
  inputs: [x]
  construct: |
    form = x
    hue = concat((x, sum(x, axis=1, keepdims=True)), axis=1)
    return form, hue
loss:
  inputs: [form, hue, shape, colour]
  cells: {ce: CrossEntropyLoss, w: {Parameter: {shape: [1], init: {Zero: {}}}}}
  construct: return ce(form, shape) + ce(hue, colour) + mean(w)
END2
}

setup() {
    . "$BATS_TEST_DIRNAME/small.bash"
    unset CELLRUN_SET CELLRUN_DATA CELLRUN_RUNS CELLRUN_THREADS
    cd "$BATS_FILE_TMPDIR"
    tmp=$BATS_TEST_TMPDIR
}

# near A B: numbers, to 6 digits
near() {
    awk -v a="$1" -v b="$2" 'BEGIN { exit (a - b) ^ 2 > 1e-12 * (1 + b * b) }'
}

# ---- a siamese network

@test "pairs: a file for each column, and the sigmoid of the difference" {
    run -0 --separate-stderr "$CELLRUN" predict --ckpt pairs left=left.npy \
        right=right.npy --probs
    [ "$(cut -f 2 <<<"$output" | xargs)" = '1 0 1' ]
    for i in 0:1 1:-2 2:3; do
        near "$(cut -f 4 <<<"${lines[${i%:*}]}")" \
            "$(perl -e 'print 1 / (1 + exp -shift)' -- "${i#*:}")"
    done
    run -2 "$CELLRUN" predict --ckpt pairs left.npy
    [[ $output == *"found a file of one column, but the network takes 2 columns"* ]]
    [[ $output == *"left=FILE right=FILE"* ]]
    run -2 "$CELLRUN" predict --ckpt pairs left=left.npy left=right.npy
    [[ $output == *"column 'left' has two files"* ]]
    run -2 "$CELLRUN" predict --ckpt pairs left=left.npy right.npy
    [[ $output == *"'right.npy' is not allowed next to COLUMN=FILE"* ]]
    for left in left=left.npy left.npy; do
        run -2 "$CELLRUN" predict --ckpt pairs "$left" rigth=right.npy
        [[ $output == *"unknown column 'rigth'"*"did you mean 'right'?"* ]]
    done
    run -2 "$CELLRUN" predict --ckpt pairs other=left.npy
    [[ $output == *"unknown column 'other'"*"takes: left right"* ]]
}

@test "pairs: an NPZ file with a member for each column" {
    [[ $("$CELLRUN" version) == *"real: float32"* ]] || skip 'float32 arrays'
    perl -e 'use strict; my ($out, @in) = @ARGV; my ($all, $dir, $n) = ("", "", 0);
        my @crc = map { my $c = $_;
            $c = $c & 1 ? 0xEDB88320 ^ ($c >> 1) : $c >> 1 for 1 .. 8; $c }
            0 .. 255;
        for my $f (@in) {
            open my $h, "<", "$f.npy"; binmode $h; local $/; my $d = <$h>;
            my $c = 0xFFFFFFFF;
            $c = $crc[($c ^ $_) & 255] ^ ($c >> 8) for unpack "C*", $d;
            my $head = pack "vvvvvVVVvv", 20, 0, 0, 0, 33, $c ^ 0xFFFFFFFF,
                length $d, length $d, length "$f.npy", 0;
            $dir .= "PK\1\2" . pack("v", 20) . $head .
                pack("vvvVV", 0, 0, 0, 0, length $all) . "$f.npy";
            $all .= "PK\3\4" . $head . "$f.npy" . $d; $n++ }
        open my $o, ">", $out; binmode $o;
        print $o $all, $dir, "PK\5\6", pack "vvvvVVv", 0, 0, $n, $n,
            length $dir, length $all, 0' "$tmp/in.npz" left right
    run -0 --separate-stderr "$CELLRUN" predict --ckpt pairs "$tmp/in.npz"
    [ "$(cut -f 2 <<<"$output" | xargs)" = '1 0 1' ]
    run -3 "$CELLRUN" predict --ckpt heads "$tmp/in.npz"
    [[ $output == *"in.npz: error: the file has no member 'x'"* ]]
}

@test "pairs: --threshold moves the line between two classes" {
    run -0 "$CELLRUN" predict --ckpt pairs left=left.npy right=right.npy \
        --threshold 0.9
    [ "$(cut -f 2 <<<"$output" | xargs)" = '0 0 1' ]
    run -0 "$CELLRUN" predict --ckpt pairs left=left.npy right=right.npy \
        --threshold 0.1
    [ "$(cut -f 2 <<<"$output" | xargs)" = '1 1 1' ]
    run -2 "$CELLRUN" predict --ckpt pairs left=left.npy right=right.npy \
        --threshold 1.5
}

@test "pairs: wrong samples with their losses, worst first" {
    run -0 "$CELLRUN" predict --ckpt pairs --data train --wrong --header
    [ "${lines[0]}" = $'input\tactual\tlabel\tloss' ]
    [[ ${lines[1]} == $'train#2\t0\t1\t'* ]]
    [[ ${lines[2]} == $'train#1\t1\t0\t'* ]]
    [ "${#lines[@]}" = 3 ]
    near "${lines[1]##*$'\t'}" "$(perl -e 'print log(1 + exp 3)')"
    near "${lines[2]##*$'\t'}" "$(perl -e 'print log(1 + exp 2)')"
    # the truth from a file of its own
    run -0 "$CELLRUN" predict --ckpt pairs left=left.npy right=right.npy \
        label=same.npy --wrong
    [ "$(cut -f 1-3 <<<"$output" | xargs)" = 'left.npy#2 0 1 left.npy#1 1 0' ]
    run -2 "$CELLRUN" predict --ckpt pairs left=left.npy right=right.npy --wrong
    [[ $output == *"--wrong: the input has no labels"* ]]
}

# ---- two heads

@test "two heads: both, under the names that construct returns" {
    run -0 --separate-stderr "$CELLRUN" predict --ckpt heads left.npy --header
    [ -z "$stderr" ]
    [ "${lines[0]}" = $'input\tform.label\thue.label' ]
    [ "${lines[1]}" = $'left.npy#0\t1\t2' ]
    [ "${lines[2]}" = $'left.npy#1\t1\t1' ]
    [ "${lines[3]}" = $'left.npy#2\t0\t2' ]
    run -0 "$CELLRUN" predict --ckpt heads left.npy --json --probs
    near "$(jq -s '.[0].form.probs[1]' <<<"$output")" \
        "$(perl -e 'print 1 / (1 + exp -1)')"
    near "$(jq -s '.[0].hue.probs | add' <<<"$output")" 1
    run -0 "$CELLRUN" predict --ckpt heads left.npy --result 1
    [ "${lines[0]}" = $'left.npy#0\t2' ]
}

@test "two heads: names of classes go to the head with that number of classes" {
    "$CELLRUN" train heads.yaml -o "$tmp/named" -q \
        'predict={labels: [red, green, blue]}'
    run -0 --separate-stderr "$CELLRUN" predict --ckpt "$tmp/named" left.npy
    [ -z "$stderr" ]
    [ "${lines[0]}" = $'left.npy#0\t1\tblue' ]
    run -0 "$CELLRUN" predict --ckpt "$tmp/named" left.npy --result 1
    [ "${lines[0]}" = $'left.npy#0\tblue' ]
    for command in check "train -q -o $tmp/misnamed"; do
        run -2 "$CELLRUN" $command heads.yaml \
            'predict={labels: [a, b, c, d]}'
        [[ $output == *"command line"*"error: predict.labels: found 4 names, expected 3, one per class [E0006]"* ]]
    done
    [ ! -e "$tmp/misnamed" ]
    # a checkpoint that was trained without them
    CELLRUN_SET='predict={labels: [a, b, c, d]}' run -2 \
        "$CELLRUN" predict --ckpt heads left.npy
    [[ $output == *"predict.labels: found 4 names, expected 3, one per class [E0006]"* ]]
}

@test "two heads: the truth of each, and a sample wrong in either" {
    run -0 "$CELLRUN" predict --ckpt heads --data train --header
    [ "${lines[0]}" = \
        $'input\tactual.shape\tactual.colour\tform.label\thue.label' ]
    [ "${lines[2]}" = $'train#1\t1\t2\t1\t1' ]
    # an array has no labels
    run -2 --separate-stderr "$CELLRUN" predict --ckpt heads left.npy --wrong
    [[ -z $output && $stderr == "left.npy: error: --wrong: the input has no labels [E0501]"* ]]
    run -0 "$CELLRUN" predict --ckpt heads --data train --wrong
    [ "$(cut -f 1 <<<"$output" | xargs)" = 'train#2 train#0 train#1' ]
    # -log p of both heads
    near "$(head -1 <<<"$output" | cut -f 6)" \
        "$(perl -e 'print log(2) + log(2 * exp(4) + exp(8)) - 4')"
}

@test "two heads: NPZ has all numbers, classes and truths by name" {
    [[ $("$CELLRUN" version) == *"real: float32"* ]] || skip 'float32 arrays'
    "$CELLRUN" predict --ckpt heads --data train --format npz -o "$tmp/o.npz"
    run -0 "$CELLRUN" ckpt show "$tmp/o.npz"
    [[ $output == *"form"*"(3, 2)"* ]]
    [[ $output == *"hue"*"(3, 3)"* ]]
    [[ $output == *"hue.label"*"(3,)"* ]]
    [[ $output == *"actual.colour"*"(3,)"* ]]
    # 0 2 1, 0 1 1 and 4 4 8 somewhere in it
    perl -0777 -ne 'exit(index($_, pack "f<*", 1, 2, 3, 0, 1, 1, 4, 4, 8) < 0)' \
        "$tmp/o.npz"
    run -2 "$CELLRUN" predict --ckpt heads left.npy --format npy
    [[ $output == *"--format npy: found 2 outputs, expected one"* ]]
    "$CELLRUN" predict --ckpt heads left.npy -o "$tmp/left.npz"
    "$CELLRUN" predict --ckpt heads left.npy --format npz | cmp - "$tmp/left.npz"
    "$CELLRUN" predict --ckpt heads left.npy --format npz -o - |
        cmp - "$tmp/left.npz"
}

@test "a class for each pixel: NPZ has maps of classes, with the shape of the labels" {
    cd "$BATS_TEST_TMPDIR"
    perl -e 'print pack "f<*", map { sin $_ } 1 .. 24' | npy x.npy '<f4' '(3, 1, 2, 4)'
    perl -e 'print pack "l<*", map { $_ % 5 } 1 .. 24' | npy y.npy '<i4' '(3, 2, 4)'
    cat >map.yaml <<'END2'
cellrun: 1
dataset: {train: {NumpySlicesDataset: {data: {x: x.npy, label: y.npy}}}}
network: [{Conv2d: {in_channels: 1, out_channels: 5, kernel_size: 1}}]
loss: CrossEntropyLoss
optimizer: {SGD: {learning_rate: 0.1}}
train: {steps: 1}
END2
    "$CELLRUN" train map.yaml -q -o map >/dev/null
    "$CELLRUN" predict --ckpt map --data train -o map.npz
    "$CELLRUN" ckpt show map.npz >shapes
    grep -qE '^output .*\(3, 5, 2, 4\)' shapes
    grep -qE '^output\.label .*\(3, 2, 4\)' shapes
    grep -qE '^actual\.label .*\(3, 2, 4\)' shapes
    # --probs: probabilities of each pixel, by its 5 outputs
    "$CELLRUN" predict --ckpt map --data train --probs -o probs.npz
    paste -d' ' <("$CELLRUN" ckpt show map.npz --values output --json | jq '.output | flatten[]') \
        <("$CELLRUN" ckpt show probs.npz --values output --json | jq '.output | flatten[]') |
        awk '{ s = int((NR - 1) / 40) * 8 + (NR - 1) % 8; e[NR] = exp($1); p[NR] = $2; at[NR] = s; sum[s] += e[NR] }
            END { if (NR != 120) exit 1
                  for (i in e) if ((p[i] - e[i] / sum[at[i]]) ^ 2 > 1e-10) exit 1 }'
}

@test "two heads: --format npz writes an archive whatever the name of -o" {
    "$CELLRUN" predict --ckpt heads left.npy --format npz -o "$tmp/o"
    "$CELLRUN" predict --ckpt heads left.npy -o "$tmp/o.npz"
    cmp "$tmp/o" "$tmp/o.npz"
}

@test "-o does not overwrite a file of --data" {
    cp left.npy "$tmp/kept.npy"
    cp heads.yaml "$tmp/kept.yaml"
    run -2 "$CELLRUN" predict --ckpt heads --data train --result 0 -o left.npy
    [[ $output == *"-o left.npy would overwrite the input"* ]]
    run -2 "$CELLRUN" predict --ckpt heads --data heads.yaml --format csv \
        -o heads.yaml
    [[ $output == *"-o heads.yaml would overwrite the input 'heads.yaml'"* ]]
    cmp left.npy "$tmp/kept.npy"
    cmp heads.yaml "$tmp/kept.yaml"
}

# ---- values inside

@test "--embed is what the last weight takes, --at any cell's output" {
    [[ $("$CELLRUN" version) == *"real: float32"* ]] || skip 'float32 arrays'
    fixed deep <<'END2'
dataset: {train: {NumpySlicesDataset: {data: [left.npy, shape.npy], column_names: [x, label]}}}
network:
  a: {Dense: {out_channels: 3, weight_init: -1.0, bias_init: 2.0}}
  relu: ReLU
  b: {Dense: {out_channels: 2, weight_init: 1.0}}
loss: CrossEntropyLoss
END2
    # 2 - (x0 + x1): -1, 1, -6; after ReLU 0, 1, 0
    run -0 "$CELLRUN" predict --ckpt deep left.npy --embed
    [ "${lines[0]}" = $'left.npy#0\t0\t0\t0' ]
    [ "${lines[1]}" = $'left.npy#1\t1\t1\t1' ]
    run -0 "$CELLRUN" predict --ckpt deep left.npy --at a --format npy \
        -o "$tmp/a.npy"
    [ "$(tail -c 36 "$tmp/a.npy" | perl -0777 -ne \
        'print join " ", unpack "f<*"')" = '-1 -1 -1 1 1 1 -6 -6 -6' ]
    # the same in a plan for one sample
    run -0 "$CELLRUN" predict --ckpt deep left.npy --at a --json --batch 1
    [ "$(jq -s -c '[.[].output[0]]' <<<"$output")" = '[-1,1,-6]' ]
    run -2 "$CELLRUN" predict --ckpt deep left.npy --at rela
    [[ $output == *"--at: the network has no cell 'rela'"*"did you mean 'relu'"* ]]
    run -2 "$CELLRUN" predict --ckpt deep left.npy --at a --embed
    [[ $output == *"--at, --embed and --result select the output"* ]]
}

@test "a class at each position of a sequence" {
    floats seq.npy '(2, 3, 2)' 1 0 0 1 1 0 0 1 0 1 0 1
    ints tags.npy '(2, 3)' 0 1 0 1 1 0
    fixed tagger <<'END2'
dataset: {train: {NumpySlicesDataset: {data: [seq.npy, tags.npy], column_names: [x, label]}}}
network:
  cells: {s: {Parameter: {shape: [1], init: {One: {}}}}}
  construct: return x * s
loss: {CrossEntropyLoss: {axis: -1}}
predict: {labels: [noun, verb]}
END2
    run -0 "$CELLRUN" predict --ckpt tagger seq.npy
    [ "${lines[0]}" = $'seq.npy#0\tnoun verb noun' ]
    [ "${lines[1]}" = $'seq.npy#1\tverb verb verb' ]
    run -0 "$CELLRUN" predict --ckpt tagger --data train --wrong --json
    [ "$(jq -c .actual <<<"$output")" = '["verb","verb","noun"]' ]
    [ "$(jq -c .labels <<<"$output")" = '["verb","verb","verb"]' ]
}

@test "labels that are each true or false" {
    floats many.npy '(2, 3)' 2 -1 0.5 -3 -2 -1
    floats truth.npy '(2, 3)' 1 0 0 0 0 0
    fixed labels <<'END2'
dataset: {train: {NumpySlicesDataset: {data: [many.npy, truth.npy], column_names: [x, label]}}}
network:
  cells: {s: {Parameter: {shape: [1], init: {One: {}}}}}
  construct: return x * s
loss: BCEWithLogitsLoss
predict: {labels: [red, round, soft]}
END2
    run -0 "$CELLRUN" predict --ckpt labels many.npy
    [ "$output" = $'many.npy#0\tred soft\nmany.npy#1\t' ]
    run -0 "$CELLRUN" predict --ckpt labels many.npy --threshold 0.7 --json
    [ "$(jq -s -c 'map(.labels)' <<<"$output")" = '[["red"],[]]' ]
    run -0 "$CELLRUN" predict --ckpt labels --data train --wrong
    [ "$(cut -f 1-3 <<<"$output")" = $'train#0\t1 0 0\tred soft' ]
    run -2 "$CELLRUN" predict --ckpt labels many.npy --topk 2
    [[ $output == *"--topk requires an output with one class for each sample"* ]]
}

@test "log-probabilities become probabilities" {
    fixed nll <<'END2'
dataset: {train: {NumpySlicesDataset: {data: [left.npy, shape.npy], column_names: [x, label]}}}
network:
  cells: {s: {Parameter: {shape: [1], init: {One: {}}}}, l: {LogSoftmax: {axis: 1}}}
  construct: return l(x * s)
loss: NLLLoss
END2
    run -0 "$CELLRUN" predict --ckpt nll left.npy --probs
    near "$(cut -f 4 <<<"${lines[0]}")" "$(perl -e 'print 1 / (1 + exp -1)')"
    near "$(cut -f 3 <<<"${lines[2]}")" 0.5
}

# ---- misclassified samples, as a contact sheet

@test "a sheet of misclassified digits" {
    "$CELLRUN" train "$BATS_TEST_DIRNAME/../../configs/digits.yaml" -o digits \
        -q train.epochs=2
    acc=$("$CELLRUN" eval --ckpt digits --json | jq .accuracy)
    n=$("$CELLRUN" predict --ckpt digits --data eval | wc -l)
    run -0 --separate-stderr "$CELLRUN" predict --ckpt digits --data eval \
        --wrong
    # as many as eval says, and in order
    near "$(awk -v w="${#lines[@]}" -v n="$n" 'BEGIN { print 1 - w / n }')" \
        "$acc"
    awk -F'\t' '$2 == $3 { exit 1 } { print $NF }' <<<"$output" >"$tmp/loss"
    sort -grs "$tmp/loss" | cmp - "$tmp/loss"
    [ "${#lines[@]}" -gt 3 ]
    run -0 --separate-stderr "$CELLRUN" predict --ckpt digits --data eval \
        --wrong -o "$tmp/wrong.png"
    [ -z "$output" ]
    [[ $stderr == *"misclassified samples, out of $n" ]]
    # a PNG file, larger than one digit
    run -0 "$CELLRUN" predict --ckpt digits "$tmp/wrong.png" -v
    [[ $output == *"becomes uint8"* ]]
    run -2 "$CELLRUN" predict --ckpt digits --data eval -o "$tmp/wrong.png"
    [[ $output == *"a contact sheet requires --wrong"* ]]
}

# ---- names of files

@test "a folder of images, and a list of names" {
    mkdir -p "$tmp/pics/b" "$tmp/pics/a"
    "$CELLRUN" data show "$BATS_TEST_DIRNAME/../../configs/digits.yaml" -n 1 \
        -o "$tmp/pics/b/one.png"
    cp "$tmp/pics/b/one.png" "$tmp/pics/a/two.PNG"
    echo no picture >"$tmp/pics/note.txt"
    [ -d digits ] || "$CELLRUN" train \
        "$BATS_TEST_DIRNAME/../../configs/digits.yaml" -o digits -q \
        train.epochs=2
    run -0 "$CELLRUN" predict --ckpt digits "$tmp/pics"
    [ "$(cut -f 1 <<<"$output")" = "$tmp/pics/a/two.PNG
$tmp/pics/b/one.png" ]
    all=$output
    printf '%s\n' "$tmp/pics/a/two.PNG" "$tmp/pics/b/one.png" >"$tmp/list"
    run -0 "$CELLRUN" predict --ckpt digits --files-from "$tmp/list"
    [ "$output" = "$all" ]
    run -0 "$CELLRUN" predict --ckpt digits --files-from - <"$tmp/list"
    [ "$output" = "$all" ]
    mkdir "$tmp/none"
    run -3 "$CELLRUN" predict --ckpt digits "$tmp/none"
    [[ $output == *"the folder has no images"* ]]
}

# squashed NAME: a network of that construct, whose output is a probability of
# class 1 of 0.1, 0.2, 0.6 and 0.9; the last sample alone is of class 1
squashed() {
    fixed "$1" <<END2
dataset:
  train: {NumpySlicesDataset: {data: [logit.npy, one.npy], column_names: [x, label]}}
  eval: {NumpySlicesDataset: {data: [logit.npy, one.npy], column_names: [x, label]}}
network:
  inputs: [x]
  cells: {w: {Parameter: {shape: [1], init: {Zero: {}}}}}
  construct: $2
loss: {inputs: [p, label], construct: "return mean(p)"}
metrics: [accuracy, log_loss, best_threshold]
END2
}

@test "an output that is a probability is not squashed a second time" {
    cd "$tmp"
    floats logit.npy '(4, 2)' $(perl -le '
        print 0, " ", log($_ / (1 - $_)) for 0.1, 0.2, 0.6, 0.9')
    floats new.npy '(2, 2)' 0 "$(perl -e 'print log(7 / 3)')" 0 2
    ints one.npy '(4,)' 0 0 0 1
    squashed soft 'return softmax(x + w)'
    squashed shaped 'return reshape(softmax(x + w), (-1, 2))'
    squashed log 'return log_softmax(x + w)'
    squashed logits 'return x + w'
    for net in soft shaped log logits; do
        run -0 "$CELLRUN" eval --ckpt $net --json
        near "$(jq .best_threshold <<<"$output")" 0.75
        near "$(jq .log_loss <<<"$output")" \
            "$(perl -e 'print -log(0.9 * 0.8 * 0.4 * 0.9) / 4')"
        [ "$(jq .accuracy <<<"$output")" = 1 ]
        # 0.7 is below the threshold, 1 / (1 + e^-2) = 0.88 is not
        run -0 "$CELLRUN" predict --ckpt $net new.npy --probs
        [ "$(cut -f 2 <<<"$output" | xargs)" = "0 1" ]
        near "$(head -1 <<<"$output" | cut -f 4)" 0.7
    done
    # Sigmoid gives class 1 the probability of its own output
    squashed sigmoid 'return sigmoid(x + w)'
    run -0 "$CELLRUN" eval --ckpt sigmoid --json
    near "$(jq .best_threshold <<<"$output")" 0.75
    run -0 "$CELLRUN" predict --ckpt sigmoid new.npy --probs
    [ "$(cut -f 2 <<<"$output" | xargs)" = "0 1" ]
}
