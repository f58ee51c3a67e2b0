# Data that mislead a training: warnings E0206 at the start of a run.
bats_require_minimum_version 1.5.0
set -o pipefail
load small

setup() {
    cd "$BATS_TEST_TMPDIR"
    unset CELLRUN_SET CELLRUN_DATA CELLRUN_RUNS CELLRUN_THREADS
    config c.yaml
}

# train ARG...: a short run; its messages are in $stderr
train() {
    rm -rf r
    run -0 --separate-stderr "$CELLRUN" train c.yaml -o r -q --epochs 1 "$@"
}

# scaled FACTOR: the last feature of the training data times that
scaled() {
    samples train 300 1
    perl -e 'my $f = shift; open my $h, "+<", "train-x.npy"; binmode $h;
        for my $i (0 .. 299) { my $at = 128 + $i * 32 + 28;
            seek $h, $at, 0; read $h, my $x, 4; seek $h, $at, 0;
            print $h pack "f<", $f * unpack "f<", $x }' "$1"
}

@test "data as they should be have no warning" {
    train
    [ -z "$stderr" ]
    run -0 --separate-stderr "$CELLRUN" check c.yaml --data
    [ -z "$stderr" ]
}

@test "features of very different scale, unless something normalises them" {
    scaled 100
    train
    [ -z "$stderr" ]
    scaled 1e5
    train optimizer.learning_rate=1e-12
    [[ $stderr == *"c.yaml:3:10: warning: column 'x': the standard deviation of feature 7 is "*", of feature "*"the network will hardly use the smaller one [E0206]"* ]]
    [[ $stderr == *"datapipe: {x: [Standardize]}"* ]]
    run -0 --separate-stderr "$CELLRUN" check c.yaml --data
    [[ $stderr == *"[E0206]"* ]]
    train optimizer.learning_rate=1e-12 'datapipe.x=[Standardize]'
    [ -z "$stderr" ]
    sed -i 's/^  fc:/  bn: {BatchNorm1d: {num_features: 8}}\n&/' c.yaml
    train optimizer.learning_rate=1e-12
    [ -z "$stderr" ]
}

@test "a feature that is rarely other than 0 is not a matter of scale" {
    scaled 0
    # one sample of 300, as large as the others
    perl -e 'print pack "f<", 10' |
        dd of=train-x.npy bs=1 seek=$((128 + 28)) conv=notrunc status=none
    perl -e 'open my $h, "+<", "train-x.npy"; binmode $h;
        for my $i (0 .. 299) { seek $h, 128 + $i * 32, 0;
            print $h pack "f<", 50 * ($i % 97) }'
    train
    [ -z "$stderr" ]
}

@test "a label among the inputs" {
    perl -e 'open my $h, "+<", "train-x.npy"; binmode $h;
        for my $i (0 .. 299) { seek $h, 128 + $i * 32 + 12, 0;
            print $h pack "f<", $i * 7 % 3 }'
    train
    [[ $stderr == *"c.yaml:3:10: warning: feature 3 of column 'x' equals 'label' in all 300 samples compared: the network would learn to copy it [E0206]"* ]]
    [[ $stderr == *"remove this feature from 'x'"* ]]
    # nearly is not equal
    perl -e 'print pack "f<", 9' |
        dd of=train-x.npy bs=1 seek=$((128 + 12)) conv=notrunc status=none
    train
    [ -z "$stderr" ]
}

@test "the same samples in training and evaluation" {
    train 'dataset.eval.NumpySlicesDataset.data=[train-x.npy, train-y.npy]'
    [[ $stderr == *"command line, argument "*": warning: 100% of the samples of dataset.eval are in dataset.train too: "*"[E0206]"* ]]
    [[ $stderr == *"eval_from_train"* ]]
    # 40 of 100
    cp eval-x.npy whole
    { head -c $((128 + 60 * 32)) whole
      head -c $((128 + 40 * 32)) train-x.npy | tail -c +129; } >eval-x.npy
    { head -c $((128 + 60 * 4)) eval-y.npy
      head -c $((128 + 40 * 4)) train-y.npy | tail -c +129; } >y
    mv y eval-y.npy
    train
    [[ $stderr == *"warning: about 40% of the samples of dataset.eval"* ]]
    # a share that is set aside is none of it
    train '~dataset.eval' 'dataset.split={eval_from_train: 20%}'
    [ -z "$stderr" ]
}

@test "rows that repeat by nature are not reported as shared" {
    # three kinds of rows in all
    perl -e 'print pack "f<*", map { ($_ % 3) x 8 } 1 .. 300' |
        npy train-x.npy '<f4' '(300, 8)'
    perl -e 'print pack "f<*", map { ($_ % 3) x 8 } 1 .. 100' |
        npy eval-x.npy '<f4' '(100, 8)'
    perl -e 'print pack "l<*", map { ($_ + 1) % 3 } 1 .. 300' |
        npy train-y.npy '<i4' '(300,)'
    perl -e 'print pack "l<*", map { ($_ + 1) % 3 } 1 .. 100' |
        npy eval-y.npy '<i4' '(100,)'
    train
    [[ $stderr != *E0206* ]]
}
