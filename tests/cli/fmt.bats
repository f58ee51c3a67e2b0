# fmt
bats_require_minimum_version 1.5.0
set -o pipefail

setup() {
    cd "$BATS_TEST_TMPDIR"
    cat >a.yaml <<'YAML'
# What this is for.

# how long
train:   { epochs: 3 }


# the net
network:
- Dense:   [4, 2]   # one
# then
- 'ReLU'
loss: {CrossEntropyLoss: {weight: [0.1, 0.2, 0.3], reduction: mean, ignore_index: -100, label_smoothing: 0.0}}
YAML
    cat >b.yaml <<'YAML'
# What this is for.

# the net
network:
  - Dense: [4, 2]   # one
  # then
  - "ReLU"
loss:
  CrossEntropyLoss:
    weight: [0.1, 0.2, 0.3]
    reduction: mean
    ignore_index: -100
    label_smoothing: 0.0

# how long
train: {epochs: 3}
YAML
}

@test "fmt prints the canonical layout, with the comments at their keys" {
    run -0 --separate-stderr "$CELLRUN" fmt a.yaml
    [ "$output" = "$(cat b.yaml)" ]
    [ -z "$stderr" ]
}

@test "fmt reads standard input" {
    "$CELLRUN" fmt - <a.yaml | diff b.yaml -
}

@test "fmt leaves a formatted file as it is" {
    "$CELLRUN" fmt b.yaml | diff b.yaml -
}

@test "fmt -w replaces the files whose layout changes, and no other" {
    touch -d 2001-01-01 b.yaml
    chmod 640 a.yaml
    run -0 "$CELLRUN" fmt -w a.yaml b.yaml
    [ -z "$output" ]
    diff a.yaml b.yaml
    [ "$(stat -c %Y b.yaml)" = "$(date -d 2001-01-01 +%s)" ]
    [ "$(stat -c %a a.yaml)" = 640 ]
}

@test "fmt --check prints the files whose layout would change, exit 6" {
    cp a.yaml old.yaml
    run -6 --separate-stderr "$CELLRUN" fmt --check b.yaml a.yaml
    [ "$output" = a.yaml ]
    cmp a.yaml old.yaml
    run -0 "$CELLRUN" fmt --check b.yaml
    [ -z "$output" ]
}

@test "fmt leaves a file with a syntax error alone, exit 2" {
    printf 'a: [1, 2\n' >c.yaml
    cp c.yaml old.yaml
    run -2 --separate-stderr "$CELLRUN" fmt -w c.yaml b.yaml
    [[ $stderr == "c.yaml:1:4: error: unclosed '['"* ]]
    cmp c.yaml old.yaml
}

@test "fmt keeps the order of keys in a file with anchors" {
    printf 'train: &t {epochs: 1}\ndataset: {train: *t}\n' >c.yaml
    "$CELLRUN" fmt c.yaml | diff c.yaml -
}

@test "fmt keeps a multi-line construct and its indentation" {
    printf 'network:\n    cells: {a: ReLU}\n    construct: |  # c\n        y = a(x)\n\n        return y\n' >c.yaml
    run -0 "$CELLRUN" fmt c.yaml
    [ "$output" = 'network:
  cells: {a: ReLU}
  construct: |    # c
    y = a(x)

    return y' ]
}

@test "fmt refuses two files without -w or --check, exit 2" {
    run -2 "$CELLRUN" fmt a.yaml b.yaml
    [[ $output == *'found 2 files, expected one, or -w or --check'* ]]
}

@test "a formatted config has the same content" {
    diff <("$CELLRUN" config a.yaml --json | jq -S .) \
        <("$CELLRUN" config b.yaml --json | jq -S .)
}

@test "the time grows with the length of the file only" {
    perl -e 'print "a: ["; print "{a: $_}, " for 1 .. 45000; print "\n# c\n]\n"
        ' >long.yaml
    perl -e 'print "a: 1\n"; print "# c\n" for 1 .. 500000' >comments.yaml
    perl -e 'print "k$_: 1\n" for 1 .. 5000' >keys.yaml
    for f in long comments keys; do
        (ulimit -t 30; "$CELLRUN" fmt "$f.yaml" >formatted)
    done
}
