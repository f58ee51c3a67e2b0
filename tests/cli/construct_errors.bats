# Wrong graphs, and the message each gets: bad/NAME.yaml and bad/NAME.txt.
bats_require_minimum_version 1.5.0
set -o pipefail

# wrong NAME: all that check says of bad/NAME.yaml
wrong() {
    cd "$BATS_TEST_DIRNAME/bad"
    run -2 --separate-stderr "$CELLRUN" check "$1.yaml"
    [ -z "$output" ]
    diff "$1.txt" <(printf '%s\n' "$stderr")
}

setup() {
    unset CELLRUN_SET CELLRUN_PATH CELLRUN_DATA NO_COLOR CLICOLOR_FORCE
}

@test "a product of shapes that do not multiply" { wrong graph_matmul; }
@test "a given channel count that another cell contradicts" { wrong graph_dense; }
@test "a cell that nothing calls" { wrong graph_unused; }
@test "a name that is not defined" { wrong graph_undefined; }
@test "a function that does not exist" { wrong graph_unknown_function; }
@test "a variable before its line" { wrong graph_before; }
@test "too many inputs for a cell" { wrong graph_arity_cell; }
@test "too few tensors for a function" { wrong graph_arity_function; }
@test "no return" { wrong graph_no_return; }
@test "a call whose value is not used" { wrong graph_statement; }
@test "a line after the return" { wrong graph_after_return; }
@test "a cell as a value" { wrong graph_cell_value; }
@test "a value as a cell" { wrong graph_call_value; }
@test "a keyword that a function does not take" { wrong graph_keyword; }
@test "a keyword given twice" { wrong graph_keyword_twice; }
@test "an argument by position and by keyword" { wrong graph_given_twice; }
@test "an axis that is not there" { wrong graph_axis; }
@test "more names than members of a tuple" { wrong graph_tuple_size; }
@test "a tuple into a cell of one tensor" { wrong graph_tuple_cell; }
@test "an index out of range" { wrong graph_index; }
@test "more indices than dimensions" { wrong graph_dims; }
@test "a shape that the elements do not fill" { wrong graph_reshape; }
@test "an element type that does not exist" { wrong graph_dtype; }
@test "a parenthesis that is not closed" { wrong graph_syntax; }
@test "an operator that is not of the grammar" { wrong graph_operator; }
@test "a division by zero between numbers" { wrong graph_zero; }
@test "a cell next to cells" { wrong graph_beside; }
@test "cells without construct" { wrong graph_no_construct; }
@test "a block made of itself" { wrong block_circle; }
@test "types in lower case" { wrong lower_case_types; }
@test "an undefined variable in a block" { wrong block_variable; }
@test "a parameter given twice" { wrong block_twice; }
@test "a first value for a cell without a weight" { wrong init_without_weight; }

# long WHAT SIGN: x, then SIGN 200000 times; check says WHAT of it
long() {
    cd "$BATS_TEST_TMPDIR"
    {
        printf 'network:\n  inputs: {x: {shape: [6]}}\n'
        printf '  cells: {fc: {Dense: {out_channels: 3}}}\n'
        printf '  construct: "return fc(x'
        perl -e 'print shift() x 200000' -- "$2"
        printf ')"\n'
    } >long.yaml
    run -2 --separate-stderr "$CELLRUN" check long.yaml
    [ -z "$output" ]
    [[ "$stderr" == *": error: $1"* ]]
}

@test "an expression without end is refused, whatever it is made of" {
    long "the expression is too long" "+x"
    long "the expression is too long" " and x"
    long "the expression is too long" "[0]"
    long "powers are nested too deeply" "**x"
}

@test "a character of several bytes is shown whole" {
    cd "$BATS_TEST_TMPDIR"
    {
        printf 'network:\n  inputs: {x: {shape: [6]}}\n'
        printf '  cells: {a: ReLU}\n  construct: "return a(x é)"\n'
    } >u.yaml
    run -2 --separate-stderr "$CELLRUN" check u.yaml
    [[ "$stderr" == *"found 'é', expected ',' or ')'"* ]]
}

# nested LEVELS CELLS CALLS: blocks that use the next one; CELLS and CALLS have
# the name of the next one, or of one of its calls, as @
nested() {
    perl -e 'my ($n, $cells, $calls) = @ARGV;
        print "cellrun: 1\nblocks:\n";
        for my $i (1 .. $n) {
            my $next = $i < $n ? "B" . ($i + 1) : "{Dense: [4, 4]}";
            print "  B$i:\n    cells: {", $cells =~ s/@/$next/gr,
                  "}\n    construct: return $calls\n";
        }
        print "network:\n  inputs: {x: {shape: [4], type: float32}}\n",
              "  body: B1\n"' "$@" >nested.yaml
}

@test "blocks that double with every level have a limit" {
    cd "$BATS_TEST_TMPDIR"
    ulimit -t 60
    nested 12 'a: @' 'a(a(x))'
    "$CELLRUN" check nested.yaml
    nested 30 'a: @' 'a(a(x))'
    run -2 --separate-stderr "$CELLRUN" check nested.yaml
    [[ "$stderr" == "nested.yaml:91:17: error: the network calls its cells more than 200000 times: "*"[E0017]"* ]]
    [[ "$stderr" == *"as network.body.a.a.a"* ]]
    [ "$(wc -l <<<"$stderr")" -lt 9 ]
    # the same with cells of their own
    nested 12 'a: @, b: @' 'b(a(x))'
    "$CELLRUN" check nested.yaml
    nested 30 'a: @, b: @' 'b(a(x))'
    run -2 --separate-stderr "$CELLRUN" check nested.yaml
    [[ "$stderr" == *"error: variables, repeats and blocks make more than 1000000 values [E0017]"* ]]
    [ "$(grep -c error: <<<"$stderr")" -eq 1 ]
}

# refused LINE WORD: as the first line of a construct
refused() {
    printf '%s\n' 'network:' '  inputs: {x: {shape: [6]}}' \
        '  cells: {fc: {Dense: {out_channels: 3}}}' '  construct: |' \
        "    $1" '    return fc(x)' >word.yaml
    run -2 --separate-stderr "$CELLRUN" check word.yaml
    [[ "$stderr" == "word.yaml:5:"*": error: '$2' is no name of a variable [E0105]"* ]]
}

@test "constants and words of the language are no names of variables" {
    cd "$BATS_TEST_TMPDIR"
    refused 'True = x' True
    refused 'False, y = x, x' False
    refused 'y, (z, None) = x, (x, x)' None
    refused 'null = x' null
    refused 'not = x' not
    refused 'in = x' in
    refused 'for True in range(3): pass' True
}

@test "constants and words of the language are no names of inputs" {
    cd "$BATS_TEST_TMPDIR"
    printf '%s\n' 'blocks: {B: {inputs: [None], construct: return relu(None)}}' \
        'network:' '  inputs: {x: {shape: [6]}}' '  body: B' >word.yaml
    run -2 --separate-stderr "$CELLRUN" check word.yaml
    [[ "$stderr" == *"error: 'None' is no name of an input [E0103]"* ]]
}
