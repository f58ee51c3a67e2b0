#!/usr/bin/env bats
# data ls, data fetch: never over the network.

bats_require_minimum_version 1.5.0
set -o pipefail

setup() {
    mnist=${CELLRUN_DATA%%:*}/mnist
    unset CELLRUN_SET CELLRUN_DATA
    cd "$BATS_TEST_TMPDIR"
    train=train-images-idx3-ubyte.gz
}

# tool NAME SHELL: a program of that name and sh are all that PATH has; it
# finds the file to write in $to
tool() {
    mkdir -p bin
    ln -sf "$(command -v cat)" bin/cat
    printf '#!%s\nwhile [ $# -gt 1 ]; do case $1 in -o|-O) to=$2 ;; esac; shift; done\n%s\n' \
        "$(command -v bash)" "$2" >"bin/$1"
    chmod +x "bin/$1"
}

fetch() {
    PATH=$PWD/bin "$CELLRUN" data fetch "$@"
}

@test "fetch: what does not have the checksum is no file of the set" {
    tool curl 'printf wrong >"$to"'
    run -3 --separate-stderr fetch cifar10
    [[ "$stderr" == *"the SHA-256 of the fetched file is not that of cifar10 [E0203]"* ]]
    [ ! -e cifar10 ]
}

@test "fetch: an interrupted transfer is kept for the next one" {
    tool curl 'printf abc >>"$to"; exit 56'
    run -3 --separate-stderr fetch mnist -o here/there
    [[ "$stderr" == *"here/there/.fetch/$train: error: cannot fetch the file: curl or wget ended with status 56 [E0201]"* ]]
    [ "$(ls -A here/there)" = .fetch ]
    run -3 fetch mnist -o here/there -q
    [ "$(cat here/there/.fetch/$train)" = abcabcabcabc ] # of two servers each
}

@test "fetch: wget where there is no curl, and neither" {
    tool wget 'printf "%s" "$1" >"$to"; exit 4'
    run -3 fetch cifar100 --url http://a.example/x
    [ "$(cat cifar100/.fetch/*.gz)" = http://a.example/x/cifar-100-binary.tar.gz ]
    rm bin/wget
    run -1 --separate-stderr fetch cifar100
    [[ "$stderr" == *"found neither curl nor wget"* ]]
    run -2 --separate-stderr fetch mnits
    [[ "$stderr" == *"did you mean 'mnist'?"* ]]
    run -2 --separate-stderr fetch
    [[ "$stderr" == *"data fetch: expected one name; see cellrun data ls"* ]]
}

@test "fetch: MNIST, continued, verified, and found by ls" {
    [ -e "$mnist/$train" ] || skip "no MNIST in CELLRUN_DATA"
    command -v curl || skip "no curl"
    mkdir -p data/mnist/.fetch
    head -c 3000000 "$mnist/$train" >data/mnist/.fetch/$train
    export CELLRUN_DATA=$PWD/data:elsewhere
    run -0 --separate-stderr "$CELLRUN" data fetch mnist --url "file://$mnist"
    [ "$output" = "$PWD/data/mnist: mnist is there and verified" ]
    [ "$(ls -A data/mnist | wc -l)" = 4 ]
    cmp "$mnist/$train" data/mnist/$train
    # nothing is fetched again, and another file is not replaced
    run -0 "$CELLRUN" data fetch mnist --url file:///nowhere -q
    echo other >data/mnist/t10k-labels-idx1-ubyte.gz
    run -3 --separate-stderr "$CELLRUN" data fetch mnist --url file:///nowhere
    [[ "$stderr" == *"this is not the file of mnist (its SHA-256 differs): move it away"* ]]
    [ "$(cat data/mnist/t10k-labels-idx1-ubyte.gz)" = other ]
}

@test "ls: what the folders hold, and what can be fetched" {
    mkdir -p datasets/digits data/cifar10
    touch datasets/digits/$train data/cifar10/data_batch_1.bin
    export CELLRUN_DATA=data
    run -0 "$CELLRUN" data ls
    [ "$(awk '{ print $1, $2, $3 }' <<<"$output")" = \
"name type dataset_dir
digits MnistDataset datasets/digits
cifar10 Cifar10Dataset data/cifar10
mnist MnistDataset (cellrun
cifar100 Cifar100Dataset (cellrun" ]
    run -0 "$CELLRUN" data ls --json
    [ "$(jq -c 'map([.name, .path])' <<<"$output")" = \
'[["digits","datasets/digits"],["cifar10","data/cifar10"],["mnist",null],["cifar100",null]]' ]
}
