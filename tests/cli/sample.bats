# sample: text that a language model draws.
bats_require_minimum_version 1.5.0
set -o pipefail

setup() {
    . "$BATS_TEST_DIRNAME/small.bash"
    . "$BATS_TEST_DIRNAME/text.bash"
    cd "$BATS_TEST_TMPDIR"
    unset CELLRUN_SET CELLRUN_DATA CELLRUN_RUNS CELLRUN_THREADS
}

@test "sample: a function of the checkpoint, the flags and the seed" {
    lm c.yaml
    "$CELLRUN" train c.yaml -o r -q
    mkdir other
    mv text other
    cd other
    s=("$CELLRUN" sample --ckpt ../r)
    "${s[@]}" --prompt "the cat" --length 100 >a
    [ "$(wc -c <a)" = 108 ]
    [ "$(head -c 7 a)" = "the cat" ]
    "${s[@]}" --prompt "the cat" --length 100 --threads 2 >b
    cmp a b
    "${s[@]}" --prompt "the cat" --length 100 --seed 2 >b
    run ! cmp -s a b
    "${s[@]}" --length 50 --temperature 0 >a
    "${s[@]}" --length 50 --top-k 1 --seed 9 >b
    cmp a b
    "${s[@]}" --length 50 --top-p 0 --seed 8 >b
    cmp a b
    run -0 "${s[@]}" --length 5 --json --seed 4
    [ "$(jq -c '[(.text | length), .seed]' <<<"$output")" = '[5,4]' ]
    run -0 "${s[@]}" --prompt $'it\n' --length 1
    [ "${lines[0]}" = it ]
    # whoever has read enough ends it
    [ "$("${s[@]}" --length 1000000000 --prompt mat 2>/dev/null |
        head -c 3)" = mat ]
}

@test "predict of a language model points to sample" {
    lm c.yaml
    "$CELLRUN" train c.yaml -o r -q --steps 1
    run -3 --separate-stderr "$CELLRUN" predict --ckpt r text
    [[ $stderr == *"unknown file format"*'`cellrun sample --ckpt r` generates text'* ]]
    run -3 --separate-stderr "$CELLRUN" predict --ckpt r nowhere
    [[ $stderr != *"cellrun sample"* ]]
}

@test "sample of a network of words" {
    printf 'text,label\ngood film,1\nbad film,0\n' >w.csv
    cat >w.yaml <<'END'
dataset:
  train: {CSVDataset: {dataset_files: w.csv, columns: {text: text, label: {fields: label, type: int32}}}}
vocab:
  text: {tokenizer: BasicTokenizer, lower_case: true, special_tokens: ["<pad>", "<unk>"]}
datapipe:
  text: [{BasicTokenizer: {lower_case: true}}, {Lookup: {vocab: text}}, {PadEnd: {pad_shape: [4]}}]
network: [{Embedding: {vocab_size: $vocab.text.size, embedding_size: 3}}, Flatten, {Dense: {out_channels: 2}}]
loss: CrossEntropyLoss
optimizer: {SGD: {learning_rate: 0.1}}
train: {epochs: 1}
END
    run -0 "$CELLRUN" train w.yaml -q -o w
    run -2 "$CELLRUN" sample --ckpt w
    [ "$output" = "cellrun: error: the network was not trained on characters:\
 column 'text' is not a sequence of characters [E0103]" ]
}

@test "sample: what it cannot do" {
    lm c.yaml
    "$CELLRUN" train c.yaml -o r -q --steps 1
    run -2 "$CELLRUN" sample --ckpt r --prompt "a cAt"
    [ "$output" = "cellrun: error: the prompt has 'A', which is not in the\
 vocabulary of the training text [E0501]" ]
    run -2 "$CELLRUN" sample
    run -2 "$CELLRUN" sample --ckpt r --length 0
    run -2 "$CELLRUN" sample --ckpt r r
    run -4 "$CELLRUN" sample --ckpt nowhere
    config n.yaml
    "$CELLRUN" train n.yaml -o n -q --steps 1
    run -2 "$CELLRUN" sample --ckpt n
    [ "$output" = "cellrun: error: the network was not trained on characters:\
 no vocabulary found for 'x' [E0103]" ]
    sed -i 's/return .*/h = tok(tokens) + pos\n    h = h + mean(h, 1, True)\n\
    return head(act(fc(h)))/' c.yaml
    "$CELLRUN" train c.yaml -o ahead -q --steps 1
    run -2 "$CELLRUN" sample --ckpt ahead
    [[ $output == "cellrun: error: the network is not causal: "*"[E0103]" ]]
    run -1 sh -c '"$1" sample --ckpt r >/dev/full' sh "$CELLRUN"
    # characters of the text that are not in the span that is learned
    lm c.yaml
    printf 'ab%.0s' {1..400} >text
    printf '~' >>text
    sed -i 's/tok: .*/tok: {Embedding: {vocab_size: 2, embedding_size: 16}}/
        /^  eval: /d; /^eval/d; s/^metrics.*/metrics: [loss]/' c.yaml
    "$CELLRUN" train c.yaml -o part -q --steps 1
    run -3 "$CELLRUN" sample --ckpt part --prompt 'a~'
    [[ "${lines[0]}" == *": error: column 'tokens' of sample 0 is 2, expected 0 to 1 [E0204]" ]]
}

@test "texts while training change nothing" {
    lm c.yaml
    "$CELLRUN" train c.yaml -o a -q
    echo 'sample: {every: 30 steps, prompt: "the ", length: 20}' >>c.yaml
    run -0 --separate-stderr "$CELLRUN" train c.yaml -o b
    [ "$(grep -c '^Sample$' <<<"$stderr")" = 2 ]
    [ "$(grep -c '^Sample$' b/log.txt)" = 2 ]
    [ "$(steps b sample)" = "30 60" ]
    [ "$(jq -r 'select(.split == "sample" and .step == 60) | .text | length' \
        b/metrics.jsonl)" = 24 ]
    run -0 "$CELLRUN" ckpt diff a b
    # the command takes what the section says
    run -0 "$CELLRUN" sample --ckpt b --length 1
    [ "${output:0:4}" = "the " ]
}

@test "a run that diverges between two texts" {
    lm c.yaml
    huge=1e38 tiny=1e-39
    [ "$("$CELLRUN" version --json | jq -r .real)" = float32 ] ||
        huge=1e300 tiny=1e-301
    sed -i "s/^optimizer.*/optimizer: {SGD: {learning_rate: [0.1, 0.1, 0.1, $huge, 0.1]}}/" c.yaml
    echo 'sample: {every: 1 steps, length: 5}' >>c.yaml
    run -5 --separate-stderr "$CELLRUN" train c.yaml -o stop -q --steps 8
    [ "${lines[0]}" = "status: diverged" ]
    run -0 --separate-stderr "$CELLRUN" train c.yaml -o back -q --steps 8 \
        train.nan=fallback 'checkpoint.every=3 steps' train.nan_factor=$tiny
    [ "${lines[0]}" = "status: completed" ]
    jq -e -s 'map(select(.split == "fallback")) | length == 1' back/metrics.jsonl
}

@test "texts of bytes may hold any of them" {
    lm c.yaml
    perl -e 'print pack "C*", map { $_ % 3 } 1 .. 9000' >text
    sed -i 's/files: text,/files: text, unit: byte,/' c.yaml
    echo 'sample: {every: 40 steps, length: 50}' >>c.yaml
    "$CELLRUN" train c.yaml -o r -q
    jq -e -s 'map(select(.split == "sample") | .text | length) == [50, 50]' \
        r/metrics.jsonl
    "$CELLRUN" sample --ckpt r --length 50 --json | jq -e '.text | length == 50'
}

@test "check finds what the section sample cannot do" {
    lm c.yaml
    echo 'sample: {every: 30 steps, prompt: "the ~", length: 20}' >>c.yaml
    for command in check train; do
        run -2 --separate-stderr "$CELLRUN" $command c.yaml
        [[ $stderr == *"c.yaml:"*"error: 'sample.prompt' has '~', which is not in the vocabulary of the training text [E0006]"* ]]
    done
    run -0 "$CELLRUN" check c.yaml 'sample.prompt=the '
    run -2 --separate-stderr "$CELLRUN" check \
        "$BATS_TEST_DIRNAME/../../configs/digits.yaml" 'sample={every: 5 steps}'
    [[ $stderr == *"the network was not trained on characters"*"[E0103]"* ]]
}

@test "--config: weights of another program" {
    lm c.yaml
    "$CELLRUN" train c.yaml -o r -q
    "$CELLRUN" export r -q -o w.safetensors
    "$CELLRUN" sample --ckpt r --length 50 >want
    "$CELLRUN" sample --ckpt w.safetensors --config c.yaml --length 50 >got
    cmp want got
    "$CELLRUN" sample --ckpt r --config c.yaml --length 50 >got
    cmp want got
    run -4 --separate-stderr "$CELLRUN" sample --ckpt w.safetensors
    [[ $stderr == *"the checkpoint contains no config"*"sample --config FILE.yaml --ckpt"* ]]
    echo 'network: [{Dense: [3, 2]}]' >d.yaml
    run -2 "$CELLRUN" sample --ckpt w.safetensors --config d.yaml
}
