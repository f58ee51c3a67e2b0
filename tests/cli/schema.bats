# schema
bats_require_minimum_version 1.5.0

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

@test "ranges, choices and defaults of the tables stand in it" {
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
