# schema
bats_require_minimum_version 1.5.0
set -o pipefail

@test "the schema is JSON of the 2020-12 dialect" {
    run -0 --separate-stderr "$CELLRUN" schema
    [ "$(jq -r '."$schema"' <<<"$output")" = \
      https://json-schema.org/draft/2020-12/schema ]
    [ "$(jq -r .additionalProperties <<<"$output")" = false ]
    [ -z "$stderr" ]
}

@test "every section is a property" {
    "$CELLRUN" schema >"$BATS_TEST_TMPDIR/s.json"
    for name in $(sed -n 's/^CR_SECTION(\(.*\))/\1/p' src/registry.def); do
        jq -e --arg n "$name" '.properties[$n]' "$BATS_TEST_TMPDIR/s.json"
    done
}

@test "every reference leads somewhere" {
    "$CELLRUN" schema >"$BATS_TEST_TMPDIR/s.json"
    run -0 jq -r '[.. | objects | ."$ref"? // empty] | unique | .[]' \
        "$BATS_TEST_TMPDIR/s.json"
    [ "${#lines[@]}" -gt 20 ]
    for ref in "${lines[@]}"; do
        jq -e --arg r "${ref#\#/\$defs/}" '."$defs" | has($r)' \
            "$BATS_TEST_TMPDIR/s.json"
    done
}

@test "it has the ranges, choices and defaults of the tables" {
    "$CELLRUN" schema >"$BATS_TEST_TMPDIR/s.json"
    run -0 jq -c '."$defs"."cells.Dense".anyOf[1].properties.out_channels
        .anyOf[0]' "$BATS_TEST_TMPDIR/s.json"
    [ "$output" = '{"type":"integer","minimum":1,"maximum":2147483648}' ]
    run -0 jq -c '."$defs"."cells.Dense".anyOf[1].properties.has_bias.default' \
        "$BATS_TEST_TMPDIR/s.json"
    [ "$output" = true ]
    run -0 jq -c '."$defs"."losses.CrossEntropyLoss".anyOf[1].properties
        .reduction.anyOf[0].enum' "$BATS_TEST_TMPDIR/s.json"
    [ "$output" = '["mean","sum","none"]' ]
}

@test "--key points at one key or type" {
    run -0 "$CELLRUN" schema --key SGD
    [ "$(jq -r '."$ref"' <<<"$output")" = '#/$defs/optimizers.SGD' ]
    run -0 "$CELLRUN" schema --key train.epochs
    [[ "$(jq -r '."$ref"' <<<"$output")" == \
       '#/$defs/section.train/'*'/properties/epochs' ]]
    run -2 --separate-stderr "$CELLRUN" schema --key nothing
    [[ "$stderr" == *"no key or type is called 'nothing'"* ]]
}

# checks FILE.json: JSON is YAML but for names of types, which have no quotes
checks() {
    sed -E 's/"([A-Z][A-Za-z0-9]*)"(,? *[],}]|,$|$)/\1\2/g' "$1" >checked.yaml
    "$CELLRUN" check checked.yaml
}

# valid FILE.json: by schema and by cellrun
valid() {
    "$CELLRUN" schema >schema.json
    run -0 jq -r --slurpfile config "$1" -f "$BATS_TEST_DIRNAME/schema.jq" \
        schema.json
    [ -z "$output" ]
    run -0 checks "$1"
}

# invalid FILE.json FILTER: what the filter makes of it is neither
invalid() {
    jq "$2" "$1" >invalid.json
    run -0 jq -r --slurpfile config invalid.json \
        -f "$BATS_TEST_DIRNAME/schema.jq" schema.json
    [ -n "$output" ]
    run -2 checks invalid.json
}

@test "losses, metrics and cells that are blocks or written out are valid" {
    cd "$BATS_TEST_TMPDIR"
    . "$BATS_TEST_DIRNAME/small.bash"
    config small.yaml
    cat >c.json <<'END'
{"blocks": {
   "Pair": {"params": {"width": "required", "p": 0.1}, "inputs": ["a"],
            "cells": {"fc": {"Dense": {"out_channels": "$width"}},
                      "drop": {"Dropout": {"p": "$p"}}},
            "construct": "return a + drop(fc(a))"},
   "Right": {"params": {"scale": 1.0}, "inputs": ["logits", "label"],
             "construct": "return $scale * cast(argmax(logits, -1) == label, 'float32')"},
   "Mixed": {"inputs": ["logits", "label"],
             "cells": {"ce": {"CrossEntropyLoss": {"label_smoothing": 0.1}}},
             "construct": "return 2 * ce(logits, label)"}},
 "network": {"inputs": ["x"],
             "cells": {"pair": {"Pair": {"width": 8}, "freeze": true},
                       "more": ["ReLU", {"Dense": [8, 3]}]},
             "construct": "return more(pair(x))"},
 "loss": "Mixed",
 "metrics": ["accuracy", "loss", "Right", {"Right": {"scale": 2.0}, "name": "twice"},
             {"name": "low", "inputs": ["logits", "label"], "construct": "return -logits[:, 0]"}],
 "dataset": {"train": {"NumpySlicesDataset": {"data": ["train-x.npy", "train-y.npy"], "column_names": ["x", "label"]}}},
 "datapipe": {"batch": {"batch_size": 16}},
 "optimizer": {"Momentum": {"learning_rate": 0.05, "momentum": 0.9}},
 "train": {"epochs": 1}}
END
    valid c.json
    invalid c.json '.network.cells.more[1].Dense = {out: 3}'
    invalid c.json '.network.construct = 3'
    invalid c.json '.network.constructs = "return x"'
    invalid c.json '.metrics += [{"top_6_accuracy": {}}]'
    invalid c.json '.blocks = ["Pair"]'
    # written out where they are taken
    jq '.loss = {inputs: ["logits", "label"],
                 cells: {ce: "CrossEntropyLoss"},
                 construct: "return ce(logits, label)"} |
        .metrics = {"name": "low", "inputs": ["logits", "label"], "construct": "return -logits[:, 0]"}' \
        c.json >d.json
    valid d.json
    invalid d.json '.loss.cell = {}'
}

@test "what a plug-in brings is valid" {
    cd "$BATS_TEST_TMPDIR"
    "$CELLRUN" plugin new MyScale -q
    make -s -C my_scale INCLUDE="$BATS_TEST_DIRNAME/../../src" \
        CFLAGS="$("$CELLRUN" version | grep float64 >/dev/null && echo -DCELLRUN_DOUBLE)"
    cat >c.json <<'END'
{"plugin": ["my_scale/my_scale.so"],
 "network": {"inputs": {"x": {"shape": [8]}}, "scale": {"MyScale": {}},
             "again": {"MyScale": null, "to_float": "float32"},
             "fc": {"Dense": [8, 3]}},
 "loss": {"inputs": ["y"], "construct": "return sum(y)"},
 "optimizer": {"SGD": {"learning_rate": 0.1}}}
END
    "$CELLRUN" schema >schema.json
    run -0 jq -r --slurpfile config c.json \
        -f "$BATS_TEST_DIRNAME/schema.jq" schema.json
    [ -z "$output" ]
    run -0 "$CELLRUN" summary c.json
}

@test "every config of configs/ is valid" {
    local python

    for python in python3 /usr/bin/python3 ''; do
        [ -n "$python" ] || skip 'needs python3 with jsonschema and yaml'
        "$python" -c 'import jsonschema, yaml' 2>/dev/null && break
    done
    "$CELLRUN" schema >"$BATS_TEST_TMPDIR/s.json"
    cd "$BATS_TEST_DIRNAME/../.."
    run -0 "$python" - "$BATS_TEST_TMPDIR/s.json" configs/*.yaml \
        configs/*/*.yaml <<'END'
import json, re, sys, yaml
from jsonschema import Draft202012Validator

schema = json.load(open(sys.argv[1]))
Draft202012Validator.check_schema(schema)

class Loader(yaml.SafeLoader):
    """YAML 1.2: 1e-2 is a number, yes is none; tags are for merging."""

def tag(loader, suffix, node):
    if isinstance(node, yaml.MappingNode):
        return loader.construct_mapping(node, deep=True)
    if isinstance(node, yaml.SequenceNode):
        return loader.construct_sequence(node, deep=True)
    return loader.construct_scalar(node)

core = "tag:yaml.org,2002:"
Loader.yaml_implicit_resolvers = {
    k: [(t, r) for t, r in v if t in (core + "null", core + "int")]
    for k, v in yaml.SafeLoader.yaml_implicit_resolvers.items()}
Loader.add_implicit_resolver(
    core + "float",
    re.compile(r"^[-+]?(\.\d+|\d+(\.\d*)?)([eE][-+]?\d+)?$"),
    list("-+.0123456789"))
Loader.add_implicit_resolver(core + "bool", re.compile("^(true|false)$"),
                             list("tf"))
Loader.add_multi_constructor("!", tag)
validator = Draft202012Validator(schema)
for name in sys.argv[2:]:
    for error in validator.iter_errors(yaml.load(open(name), Loader)):
        print(name, list(error.absolute_path), error.message[:200])
END
    [ -z "$output" ]
}
