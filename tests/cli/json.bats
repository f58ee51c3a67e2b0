# Configs that are JSON, which YAML's flow form is.
bats_require_minimum_version 1.5.0
set -o pipefail

setup() {
    . "$BATS_TEST_DIRNAME/small.bash"
    cd "$BATS_TEST_TMPDIR"
    unset CELLRUN_SET CELLRUN_DATA CELLRUN_RUNS CELLRUN_THREADS
}

@test "configs/ as JSON are the configs they were" {
    cp -r "$BATS_TEST_DIRNAME/../../configs" "$BATS_TEST_DIRNAME/../../datasets" .
    cd configs
    for name in digits plants encoder lstm two_losses reviews; do
        "$CELLRUN" config --json $name.yaml >$name.json
        "$CELLRUN" config $name.yaml >want
        "$CELLRUN" config $name.json >got
        diff want got
        "$CELLRUN" check $name.yaml >want
        for form in -c --tab; do
            jq $form . $name.json >other.json
            "$CELLRUN" check other.json >got
            diff want got
        done
    done
    rm *.yaml
    "$CELLRUN" check digits.json
}

@test "train gives the bytes and the id of the YAML" {
    config c.yaml
    "$CELLRUN" train c.yaml -q
    "$CELLRUN" config --json c.yaml | jq --tab . >d.json
    mkdir json
    mv d.json json/c.json
    cp *.npy json
    cd json
    "$CELLRUN" train c.json -q
    [ "$(cd ../runs/c; echo *)" = "$(cd runs/c; echo *)" ]
    run -0 "$CELLRUN" ckpt diff ../runs/c/* runs/c/* --json
    [[ "$output" == *'"same": true'* && "$output" != *'"same": false'* ]]
}

@test "quoted type names wherever a type is" {
    config c.yaml
    cat >q.json <<'END'
{
	"base": "c.yaml",
	"blocks": {"Two":{"cells":{"fc":{"Dense":[8,16]},"act":"ReLU"},"construct":"return act(fc(x))"}},
	"vars": {"act": "Tanh"},
	"datapipe":{"x":["Standardize"]},
	"network": {"fc":"Two","act":"$act","drop":"Identity"},
	"loss":"CrossEntropyLoss",
	"init": {"scheme":"mindspore2","rules":[{"match":"*.bias","One":{}}]},
	"metrics":["accuracy","F1"]
}
END
    run -0 --separate-stderr "$CELLRUN" summary q.json
    for type in Dense ReLU Tanh Identity; do
        grep -q "  $type " <<<"$output"
    done
    "$CELLRUN" train q.json -q --steps 1 -o run
    run -2 --separate-stderr "$CELLRUN" check q.json 'network.act="Tahn"'
    [[ "$stderr" == *"'Tahn'"*"did you mean 'Tanh'?"* ]]
}

@test "the jq of the tests finds the filter after options with values" {
    jq=$BATS_TEST_DIRNAME/tools/jq
    echo '{"a": [1.0, 2.50]}' >n.json
    for options in -c "--indent 0" "-L . -c" "-c --arg a b"; do
        [ "$("$jq" $options .a n.json)" = "[1,2.5]" ] # words of their own
    done
    [ "$("$jq" --indent 1 .a n.json)" = $'[\n 1,\n 2.5\n]' ]
    [ "$("$jq" . --indent 0 n.json)" = '{"a":[1,2.5]}' ]
    echo .a >filter
    "$jq" -f filter n.json | "$jq" -e '. == [1, 2.5]'
}
