# A small set of samples and a network for it: steps take microseconds.
. "${BASH_SOURCE[0]%/*}/tensors.bash"

# samples NAME N SEED: NAME-x.npy (N, 8) and NAME-y.npy (N,), three classes
# that overlap
samples() {
    perl -e 'my ($n, $seed) = @ARGV;
        sub noise { my $v = sin($seed + $_[0] * 12.9898) * 43758.5453;
                    $v - int($v) }
        for my $i (0 .. $n - 1) { my $c = $i * 7 % 3;
            print pack "f<*", map { 0.3 * sin(1 + $c * $_ * 1.7) +
                                    noise($i * 8 + $_) } 1 .. 8 }' "$2" "$3" |
        npy "$1-x.npy" '<f4' "($2, 8)"
    perl -e 'print pack "l<*", map { $_ * 7 % 3 } 0 .. shift() - 1' "$2" |
        npy "$1-y.npy" '<i4' "($2,)"
}

# config FILE: 300 samples to train on, 19 steps an epoch, 100 to evaluate
config() {
    [ -e train-x.npy ] || { samples train 300 1; samples eval 100 2; }
    cat >"$1" <<'END'
cellrun: 1
dataset:
  train: {NumpySlicesDataset: {data: [train-x.npy, train-y.npy], column_names: [x, label]}}
  eval: {NumpySlicesDataset: {data: [eval-x.npy, eval-y.npy], column_names: [x, label]}}
datapipe:
  batch: {batch_size: 16}
network:
  fc: {Dense: [8, 16]}
  act: ReLU
  drop: {Dropout: {p: 0.2}}
  out: {Dense: [16, 3]}
loss: CrossEntropyLoss
optimizer: {Momentum: {learning_rate: 0.05, momentum: 0.9, weight_decay: 1e-4}}
metrics: [accuracy, loss]
train: {epochs: 3}
END
}

# value KEY: of the summary in $output
value() {
    sed -n "s/^$1: //p" <<<"$output"
}

# steps DIR SPLIT: the steps of its records
steps() {
    sed -n 's/.*"step":\([0-9]*\),.*"split":"'"$2"'".*/\1/p' \
        "$1/metrics.jsonl" | xargs
}

# within SECONDS COMMAND...: waits until the command succeeds, on a loaded
# machine ten times as long
within() {
    local end=$((SECONDS + 10 * $1))
    shift
    until "$@" 2>/dev/null; do
        [ "$SECONDS" -lt "$end" ] || return 1
        sleep 0.01
    done
}
