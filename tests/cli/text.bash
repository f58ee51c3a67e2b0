# A small text, and a language model for it: steps take microseconds.

# text FILE: some 6000 characters, 28 different ones
text() {
    perl -e 'my @w = qw(the cat sat on a mat and saw two red birds fly over
        my old grey house while it rained); my $s = 7;
        for (1 .. 1200) { $s = ($s * 1103515245 + 12345) % 2147483648;
            print $w[($s >> 8) % @w], ($s >> 4) % 9 ? " " : "\n" }
        print "jumpzxq.\n"' >"$1"
}

# lm FILE: a config for it; what follows a character depends on it alone
lm() {
    [ -e text ] || text text
    cat >"$1" <<'END'
cellrun: 1
vars: {d: 16, ctx: 16}
dataset:
  train: {CharSequenceDataset: {files: text, seq_len: $ctx, span: [0%, 90%]}}
  eval:  {CharSequenceDataset: {files: text, seq_len: $ctx, span: [90%, 100%]}}
datapipe:
  batch: {batch_size: 16, drop_remainder: true}
network:
  inputs: [tokens]
  cells:
    tok: {Embedding: {vocab_size: $vocab.tokens.size, embedding_size: $d}}
    pos: {Parameter: {shape: [1, $ctx, $d], init: {Normal: {sigma: 0.02}}}}
    act: ReLU
    fc: {Dense: {out_channels: $(2*d)}}
    head: {Dense: {out_channels: $vocab.tokens.size}}
  construct: |
    return head(act(fc(tok(tokens) + pos)))
loss: {CrossEntropyLoss: {axis: -1}}
optimizer: {Momentum: {learning_rate: 0.5, momentum: 0.9}}
metrics: [loss, perplexity, bits_per_char, accuracy]
train: {steps: 80}
eval: {every: 40 steps}
END
}
