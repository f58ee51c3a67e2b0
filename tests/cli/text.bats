# Text: embeddings, sequences of characters, language models.
bats_require_minimum_version 1.5.0
set -o pipefail

setup() {
    . "$BATS_TEST_DIRNAME/small.bash"
    . "$BATS_TEST_DIRNAME/text.bash"
    cd "$BATS_TEST_TMPDIR"
    unset CELLRUN_SET CELLRUN_DATA CELLRUN_RUNS CELLRUN_THREADS
}

# ids FILE NUMBER...: two samples of numbers
ids() {
    perl -e 'print pack "l<*", @ARGV' "${@:2}" |
        npy "$1" '<i4' "(2, $((($# - 1) / 2)))"
}

@test "an index outside of an embedding: exit 3 with column, value, sample" {
    echo 'network: [{Embedding: [5, 3]}]' >c.yaml
    ids good.npy 0 1 2 3 4 0
    ids high.npy 0 1 2 3 5 0
    ids low.npy 0 -1 2 3 4 0
    run -0 "$CELLRUN" trace c.yaml --feed x=good.npy -o o.safetensors
    run -3 "$CELLRUN" trace c.yaml --feed x=high.npy -o o.safetensors
    [ "${lines[0]}" = "c.yaml:1:12: error: column 'x' of sample 1 is 5, expected\
 0 to 4 [E0204]" ]
    run -3 "$CELLRUN" trace c.yaml --feed x=low.npy -o o.safetensors
    [ "${lines[0]}" = "c.yaml:1:12: error: column 'x' of sample 0 is -1, expected\
 0 to 4 [E0204]" ]
    # one that the network computes
    cat >d.yaml <<'END'
network:
  cells: {tok: {Embedding: [5, 3]}}
  construct: |
    return tok(x[:, 1:] + 1)
END
    run -0 "$CELLRUN" trace d.yaml --feed x=low.npy -o o.safetensors \
        network.cells.tok.Embedding.vocab_size=6
    run -3 "$CELLRUN" trace d.yaml --feed x=low.npy -o o.safetensors
    [ "${lines[0]}" = "d.yaml:2:17: error: an index computed by the network\
 is 5, expected 0 to 4 [E0204]" ]
    echo 'network: [{EmbeddingLookup: [5, 3]}]' >c.yaml
    run -0 "$CELLRUN" trace c.yaml --feed x=high.npy -o o.safetensors
    run -0 "$CELLRUN" trace c.yaml --feed x=low.npy -o o.safetensors
}

@test "a language model learns, and its metrics agree" {
    lm c.yaml
    run -0 "$CELLRUN" config c.yaml --get network.cells.head.Dense.out_channels
    [ "$output" = 28 ]
    run -0 --separate-stderr "$CELLRUN" train c.yaml -o r -q --json
    jq -e '(.eval.perplexity | log) as $nats |
           .eval.perplexity < 12 and .eval.accuracy > 0.2 and
           ($nats - .eval.loss | fabs) < 1e-5 and
           ($nats / (2 | log) - .eval.bits_per_char | fabs) < 1e-9' \
        <<<"$output"
    run -0 "$CELLRUN" ckpt show r --meta cellrun.vocab
    [ "$(jq -c '.tokens.tokens | [length, .[0], .[1], .[27]]' <<<"$output")" \
        = '[28,"\n"," ","z"]' ]
}

@test "interrupted and resumed: the same bytes" {
    lm c.yaml
    "$CELLRUN" train c.yaml -o a -q
    "$CELLRUN" train c.yaml -o b -q --steps 33
    "$CELLRUN" resume b --steps 80 -q
    run -0 "$CELLRUN" ckpt diff a/ckpt/last.safetensors b/ckpt/last.safetensors
    cmp <("$CELLRUN" ckpt show a --meta cellrun.vocab) \
        <("$CELLRUN" ckpt show b --meta cellrun.vocab)
}

@test "words that do not occur in the training data" {
    lm c.yaml
    "$CELLRUN" train c.yaml -o r -q --steps 5
    tr z Q <text >more
    mv more text
    run -3 "$CELLRUN" eval --ckpt r
    [[ $output == *"text: byte "*": error: the character 'Q' is not in the\
 vocabulary of the training data [E0204]" ]]
    run -4 "$CELLRUN" train c.yaml -o r -q --resume auto --steps 9
    [[ $output == *"the vocabulary differs from the one the run was started\
 with [E0305]"* ]]
    # more characters make another network
    (cat text; echo ABC) >more
    mv more text
    run -2 "$CELLRUN" train c.yaml -o r -q --resume auto --steps 9
    [[ $output == *"belongs to a run with a different config"* ]]
}

@test "another text, from the weights of a first: characters keep their numbers" {
    lm c.yaml
    "$CELLRUN" train c.yaml -o r -q
    # without b, so that all later characters would have other numbers
    tr -d b <text >other
    set=(dataset.train.CharSequenceDataset.files=other
         dataset.eval.CharSequenceDataset.files=other)
    run -0 --separate-stderr "$CELLRUN" train c.yaml -q -o s --load r "${set[@]}" \
        --steps 1 eval.every='1 steps' eval.first=true
    [ -z "$stderr" ]
    cmp <("$CELLRUN" ckpt show r --meta cellrun.vocab) \
        <("$CELLRUN" ckpt show s --meta cellrun.vocab)
    # the weights know the text before their first step
    run -0 jq -se '[.[] | select(.split == "eval")][0] |
        .step == 0 and .perplexity < 12' s/metrics.jsonl
    run -0 "$CELLRUN" config c.yaml "${set[@]}" load.ckpt=r \
        --get network.cells.head.Dense.out_channels
    [ "$output" = 28 ]
    run -0 "$CELLRUN" ckpt load-report c.yaml load=r "${set[@]}"
    [[ $output == *$'\n  vocabulary  28   tokens of column \'tokens\'' ]]
    # its runs need the first checkpoint no more
    mv r away
    run -0 "$CELLRUN" resume s --steps 3 -q
    run -0 "$CELLRUN" eval --ckpt s
    mv away r
    # a new vocabulary, for weights that are not those of tokens
    run -4 "$CELLRUN" train c.yaml -q -o t --load r "${set[@]}" load.vocab=false
    run -0 --separate-stderr "$CELLRUN" train c.yaml -q -o t --load r \
        "${set[@]}" load.vocab=false 'load.skip=[tok.*, head.*]' --steps 1
    [ -z "$stderr" ] # as its hint says
    run -0 "$CELLRUN" ckpt show t --meta cellrun.vocab
    [ "$(jq '.tokens.tokens | length' <<<"$output")" = 27 ]
}

@test "a run is resumed without the file that it was loaded from" {
    lm a.yaml
    "$CELLRUN" train a.yaml -q -o a --steps 2
    cp a/ckpt/best.safetensors from.safetensors
    "$CELLRUN" train a.yaml -q -o b --load from.safetensors --resume auto \
        --steps 4
    cp -r b c
    "$CELLRUN" train a.yaml -q -o c --load from.safetensors --resume auto \
        --steps 6
    mv from.safetensors gone
    run -0 "$CELLRUN" train a.yaml -q -o b --load from.safetensors \
        --resume auto --steps 6
    run -0 "$CELLRUN" ckpt diff b c
    # a new run needs it
    run -4 --separate-stderr "$CELLRUN" train a.yaml -q -o d \
        --load from.safetensors --resume auto
    [[ $stderr == *"from.safetensors: error: checkpoint not found"* ]]
    [[ $stderr == *"to continue a run without the file: cellrun resume RUN"* ]]
}

@test "characters that the vocabulary of the weights lacks are listed" {
    lm c.yaml
    "$CELLRUN" train c.yaml -o r -q --steps 5 \
        dataset.{train,eval}.CharSequenceDataset.unit=byte
    run -2 "$CELLRUN" train c.yaml -q -o s --load r
    [[ $output == *"unit is char, but the vocabulary of "*"r/ckpt/best.safetensors holds bytes [E0016]"* ]]
    rm -r r
    "$CELLRUN" train c.yaml -o r -q --steps 5
    (cat text; printf 'the \303\211 of Q and the Q\n'; cat text) >other
    size=$(wc -c <text)
    set=(dataset.train.CharSequenceDataset.files=other
         dataset.eval.CharSequenceDataset.files=other)
    run -3 "$CELLRUN" train c.yaml -q -o s --load r "${set[@]}"
    [ "${lines[0]}" = "other: byte $((size + 4)): error: the characters 'Q' 'É'\
 are not in the vocabulary of r/ckpt/best.safetensors [E0204]" ] ||
    [ "${lines[0]}" = "other: byte $((size + 4)): error: the characters 'Q' 'É'\
 are not in the vocabulary of $PWD/r/ckpt/best.safetensors [E0204]" ]
    [[ $output == *"vocab: false"* ]]
    [ ! -e s ]
    # characters beyond the span are not needed
    run -0 "$CELLRUN" train c.yaml -q -o s --load r --steps 1 "${set[@]}" \
        dataset.train.CharSequenceDataset.span="[0, $size]" \
        dataset.eval.CharSequenceDataset.span="[60%, 100%]"
}

@test "a vocabulary of words comes with the weights, too" {
    printf '%s\n' text,label 'a b,0' 'c a,1' 'a b,0' 'd d d d,1' >one.csv
    printf '%s\n' text,label 'x d,1' 'a x,0' 'x x,0' >two.csv
    cat >c.yaml <<'END'
cellrun: 1
dataset:
  train: {CSVDataset: {dataset_files: one.csv, columns: {text: text, label: label}}}
vocab: {text: {tokenizer: BasicTokenizer, special_tokens: ["<pad>", "<unk>"]}}
datapipe:
  text:
    - BasicTokenizer
    - {Lookup: {vocab: text, unknown_token: "<unk>"}}
    - {PadEnd: {pad_shape: [4], pad_value: 0}}
  label: [{TypeCast: {data_type: int32}}]
  batch: {batch_size: 2}
network:
  inputs: [text]
  cells: {emb: {Embedding: [$vocab.text.size, 4]}, fc: {Dense: [4, 2]}}
  construct: return fc(masked_mean(emb(text), text != 0, axis=1))
loss: CrossEntropyLoss
optimizer: {Adam: {learning_rate: 0.05}}
train: {epochs: 1}
END
    "$CELLRUN" train c.yaml -q -o r
    run -0 --separate-stderr "$CELLRUN" train c.yaml -q -o s --load r \
        dataset.train.dataset_files=two.csv
    [ -z "$stderr" ]
    cmp <("$CELLRUN" ckpt show r --meta cellrun.vocab) \
        <("$CELLRUN" ckpt show s --meta cellrun.vocab)
    run -2 "$CELLRUN" train c.yaml -q -o t --load r \
        dataset.train.dataset_files=two.csv \
        'vocab.text.special_tokens=["<unk>", "<pad>"]'
    [[ $output == *"vocab.text: token 0 is '<unk>', but not in the vocabulary\
 of "* ]]
    # a file of tokens is what it says
    printf '%s\n' x a d y z w >words
    run -0 --separate-stderr "$CELLRUN" train c.yaml -q -o u --load r \
        dataset.train.dataset_files=two.csv vocab.text.file=words \
        'load.skip=[emb.*]'
    [ -z "$stderr" ]
    printf '%s\n' x a d y >words
    for skip in '[]' '[fc.*]'; do
        run -0 --separate-stderr "$CELLRUN" train c.yaml -q -o u --force \
            --load r dataset.train.dataset_files=two.csv \
            vocab.text.file=words load.skip="$skip"
        [[ $stderr == *"warning: column 'text': value 2 is "* ]]
    done
}

@test "a file of load that cannot give its vocabulary" {
    lm c.yaml
    run -4 "$CELLRUN" train c.yaml -q -o s --load none
    [ "$(grep -c error: <<<"$output")" = 1 ]
    run -2 "$CELLRUN" check c.yaml 'load={ckpt: none, skp: 1}'
    [ "$(grep -c error: <<<"$output")" = 1 ]
    # weights of others have none
    "$CELLRUN" train c.yaml -o r -q --steps 5
    "$CELLRUN" export r -o w.npz
    run -0 "$CELLRUN" train c.yaml -q -o s --load w.npz --steps 1
}

@test "sizes that come from the data" {
    lm c.yaml
    run -0 "$CELLRUN" config c.yaml --get network.cells.tok.Embedding
    [[ $output == *"vocab_size: 28"* ]]
    run -0 "$CELLRUN" config c.yaml train.steps='$data.classes' --get train.steps
    [ "$output" = 28 ]
    rm text
    run -3 "$CELLRUN" check c.yaml
    [[ "${lines[0]}" == "c.yaml:4:"*": error: file 'text' not found, neither\
 relative to the config nor in CELLRUN_DATA [E0201]" ]]
}

@test "2.9: long sequences are cut at random places, short ones padded" {
    {
        echo 'text,label'
        perl -e 'my $s = 5; sub draw { $s = ($s * 1103515245 + 12345) % 2147483648; ($s >> 8) % $_[0] }
            for (1 .. 90) { my $c = draw(2); my $n = 2 + draw(9);
                print join(" ", map { (qw(a b c d))[$c * 2 + draw(2)] } 1 .. $n), ",$c\n" }'
    } >words.csv
    cat >c.yaml <<'END'
cellrun: 1
dataset:
  train: {CSVDataset: {dataset_files: words.csv, columns: {text: text, label: label}}}
  eval: {CSVDataset: {dataset_files: words.csv, columns: {text: text, label: label}}}
vocab: {text: {tokenizer: BasicTokenizer, special_tokens: ["<pad>", "<unk>"]}}
datapipe:
  text:
    - BasicTokenizer
    - {Lookup: {vocab: text, unknown_token: "<unk>"}}
    - {RandomTruncate: {max_seq_len: 4}, only: train}
    - {PadEnd: {pad_shape: [4], pad_value: 0}}
  label: [{TypeCast: {data_type: int32}}]
  batch: {batch_size: 8}
network:
  inputs: [text]
  cells: {emb: {Embedding: [$vocab.text.size, 4]}, fc: {Dense: [4, 2]}}
  construct: return fc(masked_mean(emb(text), text != 0, axis=1))
loss: CrossEntropyLoss
optimizer: {Adam: {learning_rate: 0.05}}
metrics: [accuracy]
train: {epochs: 4}
END
    run -0 "$CELLRUN" train c.yaml -q -o one datapipe.workers=1
    [[ $output == *"eval.accuracy: 1.0000"* ]]
    "$CELLRUN" train c.yaml -q -o two datapipe.workers=3 train.epochs=2 >/dev/null
    "$CELLRUN" resume two/ckpt/last.safetensors -q train.epochs=4 >/dev/null
    run -0 "$CELLRUN" ckpt diff one two
    # Truncate gives other windows
    sed 's/{RandomTruncate: {max_seq_len: 4}, only: train}/Truncate: {max_seq_len: 4}/' \
        c.yaml >d.yaml
    "$CELLRUN" train d.yaml -q -o three >/dev/null
    run -6 "$CELLRUN" ckpt diff one three
    # eval sees the first ones only: PadEnd cuts at the end
    run -0 "$CELLRUN" eval --ckpt one
    plain=$output
    run -0 "$CELLRUN" eval d.yaml --ckpt one
    [ "$output" = "$plain" ]
    sed -i 's/RandomTruncate: {max_seq_len: 4}/RandomCrop: {size: 4}/' c.yaml
    run -2 "$CELLRUN" check c.yaml
    [[ $output == *"RandomCrop: found lists of varying length, expected samples of one shape; use RandomTruncate for lists"* ]]
}

@test "a text that is no UTF-8 is one error, of the data" {
    printf 'text,label\na b,0\n\xff,1\n' >bytes.csv
    cat >c.yaml <<'END'
dataset:
  train: {CSVDataset: {dataset_files: bytes.csv, columns: {text: text, label: label}}}
vocab: {text: {tokenizer: BasicTokenizer, special_tokens: ["<pad>", "<unk>"]}}
datapipe:
  text:
    - BasicTokenizer
    - {Lookup: {vocab: text, unknown_token: "<unk>"}}
    - {PadEnd: {pad_shape: [4], pad_value: 0}}
network:
  inputs: [text]
  cells: {emb: {Embedding: [$vocab.text.size, 4]}, fc: {Dense: [4, 2]}}
  construct: return fc(mean(emb(text), 1))
loss: CrossEntropyLoss
optimizer: {SGD: {learning_rate: 0.1}}
train: {epochs: 1}
END
    run -3 --separate-stderr "$CELLRUN" check c.yaml
    [ "$stderr" = "cellrun: error: BasicTokenizer: the text is not UTF-8 from byte 0 on [E0203]
   at bytes.csv:3:1
1 error" ]
}
