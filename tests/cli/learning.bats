# A training that fails says so: warnings E0106 and E0404
bats_require_minimum_version 1.5.0
set -o pipefail
load small.bash

setup() {
    mkdir "$BATS_TEST_TMPDIR/here"
    cd "$BATS_TEST_TMPDIR/here"
    unset CELLRUN_SET
    config net.yaml
}

# train ARG...: a run of net.yaml; its warnings are in $stderr
train() {
    rm -rf run
    run -0 --separate-stderr "$CELLRUN" train net.yaml -q -o run "$@"
}

@test "a run that learns has no warning" {
    train train.epochs=6
    [ -z "$stderr" ]
}

@test "a loss that does not decrease" {
    train optimizer.learning_rate=1e-9 network.drop.p=0.0 \
        'loss={CrossEntropyLoss: {label_smoothing: 0.01}}' train.epochs=6
    [[ "$stderr" == *"net.yaml:12:7: warning: the training loss does not decrease: its mean is "*" over the first "*" updates and "*" over the last [E0404]"* ]]
    [[ "$stderr" == *"run cellrun lr-find for a learning rate"* ]]
    # a run that starts from weights may have reached its end
    "$CELLRUN" ckpt convert run -o w.safetensors
    train optimizer.learning_rate=1e-9 network.drop.p=0.0 load=w.safetensors \
        'loss={CrossEntropyLoss: {label_smoothing: 0.01}}' train.epochs=6
    [ -z "$stderr" ]
}

@test "a loss at the value of guessing" {
    train optimizer.learning_rate=1e-9 train.epochs=6 \
        'network.out={Dense: {in_channels: 16, out_channels: 3, weight_init: zeros, bias_init: zeros}}'
    [[ "$stderr" == *"net.yaml:"*": warning: the training loss is that of guessing: its mean over the last "*" updates is 1.0986; ln(3 classes) is 1.0986 [E0404]"* ]]
    [[ "$stderr" != *"does not decrease"* ]]
    # too short to be diagnosed
    train optimizer.learning_rate=1e-9 train.epochs=2 \
        'network.out={Dense: {in_channels: 16, out_channels: 3, weight_init: zeros, bias_init: zeros}}'
    [ -z "$stderr" ]
}

@test "a loss far above the value of guessing is not called that of guessing" {
    train train.epochs=6 optimizer.learning_rate=1e-9 \
        'network.out={Dense: {in_channels: 16, out_channels: 3, weight_init: {Normal: {sigma: 30}}}}'
    [[ "$stderr" == *"net.yaml:"*": warning: the training loss is above that of guessing: its mean over the last "*"; ln(3 classes) is 1.0986 [E0404]"* ]]
}

@test "units of a ReLU that are 0, and outputs that are equal" {
    train train.epochs=6 \
        'network.fc={Dense: {in_channels: 8, out_channels: 16, bias_init: -100}}'
    [[ "$stderr" == *"net.yaml:9:8: warning: 16 of 16 units of 'act' (ReLU) are 0 for all 16 samples of a batch: their weights are no longer trained [E0404]"* ]]
    [[ "$stderr" == *"net.yaml:"*": warning: the network gives the same output for all 16 samples of a batch [E0404]"* ]]
}

@test "--strict makes a run that did not learn fail" {
    run -6 --separate-stderr "$CELLRUN" train net.yaml -q -o run --strict \
        train.epochs=6 \
        'network.fc={Dense: {in_channels: 8, out_channels: 16, bias_init: -100}}'
    [[ "$stderr" == *"error: the network gives the same output"* ]]
    [ -f run/ckpt/last.safetensors ]
}

@test "an activation before a loss that applies it itself" {
    run -0 --separate-stderr "$CELLRUN" check net.yaml network.p=Softmax
    [[ "$stderr" == *"warning: CrossEntropyLoss expects logits: found the output of softmax [E0106]"* ]]
    run -0 --separate-stderr "$CELLRUN" check net.yaml network.p=Sigmoid
    [[ "$stderr" == *"CrossEntropyLoss expects logits: found the output of sigmoid [E0106]"* ]]
    # through views and through a function of construct
    cat >view.yaml <<'END'
base: net.yaml
network: !replace
  inputs: [x]
  cells: {fc: {Dense: [8, 3]}}
  construct: return reshape(softmax(fc(x)), (-1, 3))
END
    run -0 --separate-stderr "$CELLRUN" check view.yaml
    [[ "$stderr" == *"found the output of softmax [E0106]"* ]]
    run -0 --separate-stderr "$CELLRUN" check net.yaml network.p=Softmax \
        loss=NLLLoss
    [[ "$stderr" == *"NLLLoss expects log-probabilities: found the output of softmax [E0106]"* ]]
    run -0 --separate-stderr "$CELLRUN" check net.yaml loss=NLLLoss
    [[ "$stderr" == *"NLLLoss expects log-probabilities: found the output of linear [E0106]"* ]]
    run -0 --separate-stderr "$CELLRUN" check net.yaml network.p=LogSoftmax \
        loss=NLLLoss
    [ -z "$stderr" ]
    run -0 --separate-stderr "$CELLRUN" check net.yaml
    [ -z "$stderr" ]
}

@test "one class predicted for all samples: train and eval name class weights" {
    perl -e 'srand 3; print "a,b,churn\n"; for (1 .. 400) { printf "%.4f,%.4f,%s\n",
        rand, rand, $_ % 8 ? "no" : "yes" }' >c.csv
    "$CELLRUN" init --from-csv c.csv --target churn -o c.yaml
    run -0 --separate-stderr "$CELLRUN" train c.yaml -o r -q --epochs 20
    [[ $stderr == *"the network predicts the class 'no' for all 60 samples of the evaluation"* ]]
    [[ $stderr == *"{CrossEntropyLoss: {weight: balanced}}"* ]]
    run -0 --separate-stderr "$CELLRUN" eval --ckpt r -q
    [[ $stderr == *"predicts the class 'no' for all 60 samples"* ]]
    # weighted classes: both are predicted
    run -0 --separate-stderr "$CELLRUN" train c.yaml -o w -q --epochs 20 \
        '~loss' 'loss={CrossEntropyLoss: {weight: balanced}}'
    [[ $stderr != *"predicts the class"* ]]
    run -0 --separate-stderr "$CELLRUN" eval --ckpt w -q
    [[ $stderr != *"predicts the class"* ]]
}
