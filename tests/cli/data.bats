#!/usr/bin/env bats
# data: samples after the datapipe.

bats_require_minimum_version 1.5.0
set -o pipefail
load images
load small

setup() {
    cd "$BATS_TEST_TMPDIR"
}

# rgb FILE: width, height and the raw pixels of a PNG of cellrun, as text
rgb() {
    perl -MCompress::Zlib -e '
        local $/; open my $f, "<", shift; binmode $f; my $x = <$f>;
        my ($w, $h) = unpack "NN", substr $x, 16; my ($at, $z) = (8, "");
        while ($at < length $x) { my $n = unpack "N", substr $x, $at;
            $z .= substr $x, $at + 8, $n if substr($x, $at + 4, 4) eq "IDAT";
            $at += 12 + $n }
        my $d = uncompress($z); my @up = (0) x ($w * 3); my @out;
        for my $y (0 .. $h - 1) {
            my ($t, @r) = unpack "C*", substr $d, $y * ($w * 3 + 1), $w * 3 + 1;
            for my $i (0 .. $#r) {
                my $a = $i < 3 ? 0 : $r[$i - 3]; my $b = $up[$i];
                my $c = $i < 3 ? 0 : $up[$i - 3]; my $p = $a + $b - $c;
                my ($pa, $pb, $pc) = (abs $p - $a, abs $p - $b, abs $p - $c);
                my $q = $pa <= $pb && $pa <= $pc ? $a : $pb <= $pc ? $b : $c;
                $r[$i] = ($r[$i] + (0, $a, $b, int(($a + $b) / 2), $q)[$t])
                    % 256 }
            @up = @r; push @out, @r }
        print "$w $h\n", map { "$_\n" } @out' "$1"
}

recipe() {
    cat >show.yaml <<'END'
cellrun: 1
dataset: {train: {ImageFolderDataset: {dataset_dir: set, shuffle: false}}}
datapipe:
  image:
    - Rescale: {rescale: $(1/255), shift: 0.0}
    - Normalize: {mean: [0.4, 0.5, 0.6], std: [0.2, 0.3, 0.4]}
    - HWC2CHW
  label: [{TypeCast: int32}]
  batch: {batch_size: 2}
END
}

@test "a sheet holds the pixels of the files, whatever normalised them" {
    folder set 2 48 32
    recipe
    run -0 --separate-stderr "$CELLRUN" data show show.yaml -o sheet.png
    [ -z "$output" ]
    [[ "$stderr" == "sheet.png: 6 samples of dataset.train, "* ]]
    run -0 --separate-stderr "$CELLRUN" data show show.yaml -n 1 -o one.png
    [[ "$stderr" == "one.png: 1 sample of dataset.train, "* ]]
    rgb sheet.png >got
    pixels 48 32 0 0 >raw
    # the first picture is at (4, 4), each pixel two high and wide
    perl -e 'open my $g, "<", "got"; chomp(my ($w) = split " ", <$g>);
        chomp(my @x = <$g>); local $/; open my $r, "<", "raw";
        my @want = unpack "C*", <$r>;
        for my $i (0 .. 31) { for my $j (0 .. 47) { for my $c (0 .. 2) {
            my $at = ((4 + 2 * $i + 1) * $w + 4 + 2 * $j) * 3 + $c;
            $x[$at] == $want[($i * 48 + $j) * 3 + $c] or
                die "pixel $i $j $c: $x[$at]" } } }'
}

@test "classes are below; other names give other letters" {
    folder set 1 48 32
    recipe
    run -0 "$CELLRUN" data show show.yaml -q -o a.png
    [ -z "$output" ]
    run -0 "$CELLRUN" data show show.yaml -q -o b.png
    cmp a.png b.png
    mv set/ant set/ape
    run -0 "$CELLRUN" data show show.yaml -q -o b.png
    run ! cmp a.png b.png
}

@test "the sheet goes to standard output too" {
    folder set 1 48 32
    recipe
    "$CELLRUN" data show show.yaml -o a.png
    "$CELLRUN" data show show.yaml -o - >b.png
    cmp a.png b.png
}

@test "without a file samples are printed" {
    folder set 1 8 4
    recipe
    run -0 "$CELLRUN" data show show.yaml -n 2
    [ "${lines[0]}" = "sample 0" ]
    [[ "${lines[1]}" == "  image: float"??" (3, 4, 8), "* ]]
    [[ "$output" == *"  label: 1 (bee)"* ]]
    run -0 "$CELLRUN" data show show.yaml -n 1 --json
    [ "$(jq -c '[.sample, .label, .class, (.image | length)]' \
        <<<"$output")" = '[0,0,"ant",96]' ]
}

@test "a table is printed as numbers" {
    config show.yaml
    run -0 "$CELLRUN" data show show.yaml --split eval -n 2
    [ "${lines[0]}" = "sample 0" ]
    [[ "${lines[1]}" == "  x: ["*"]" ]]
    [ "${lines[2]}" = "  label: 0" ]
    [ "${lines[3]}" = "sample 1" ]
    run -2 "$CELLRUN" data show show.yaml -o a.png
    [[ "$output" == *"no column of images"* ]]
}

@test "an evaluation folder has the classes of the training folder" {
    recipe
    folder set 2 8 8
    mkdir -p test
    cp -r set/cat set/bee test
    sed -i 's/^dataset: .*/dataset:\n  train: {ImageFolderDataset: {dataset_dir: set, shuffle: false}}\n  eval: {ImageFolderDataset: {dataset_dir: test, shuffle: false}}/' \
        show.yaml
    run -0 --separate-stderr "$CELLRUN" data show show.yaml --split eval --json
    [ "$(jq -sc 'map([.label, .class])' <<<"$output")" = \
        '[[1,"bee"],[1,"bee"],[2,"cat"],[2,"cat"]]' ]
    [ -z "$stderr" ]
    # a class that training does not know, as train says it
    mv test/bee test/dog
    run -3 --separate-stderr "$CELLRUN" data show show.yaml --split eval
    [[ $stderr == *"test/dog: error: 'dog' is not one of the classes ant, bee, cat of the training data"* ]]
    # without the training data there is nothing to go by
    rm -r set
    run -0 --separate-stderr "$CELLRUN" data show show.yaml --split eval --json
    [ "$(jq -sc 'map(.class) | unique' <<<"$output")" = '["cat","dog"]' ]
    [[ $stderr == *"dataset.train is not there: dataset.eval numbers its classes itself"* ]]
}

@test "wrong uses" {
    folder set 1 8 4
    recipe
    run -2 "$CELLRUN" data sho show.yaml
    [[ "$output" == *"found 'sho', expected ls, fetch, show"* ]]
    run -2 "$CELLRUN" data show
    [[ "$output" == *"found no config"* ]]
    run -2 "$CELLRUN" data show show.yaml --split tets
    run -2 "$CELLRUN" data show show.yaml --split eval
    [[ "$output" == *"dataset.eval not found"* ]]
    run -1 "$CELLRUN" data show show.yaml -o no/such/sheet.png
    head -c 60 set/bee/0.png >cut && mv cut set/bee/0.png
    run -3 "$CELLRUN" data show show.yaml -o a.png
    [[ "$output" == *"bee/0.png"* ]]
    [ ! -e a.png ]
}

@test "names of columns cannot move the cursor" {
    printf 'a\e[2J,label\n1,0\n' >t.csv
    printf 'cellrun: 1\ndataset: {train: {CSVDataset: {dataset_files: t.csv}}}\n' \
        >c.yaml
    run -0 "$CELLRUN" data show c.yaml
    [[ $output == *'a\x1b[2J: 1'* ]]
}
