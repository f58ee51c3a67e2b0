# predict: classes of images and arrays.
bats_require_minimum_version 1.5.0
set -o pipefail

# png FILE WIDTH HEIGHT CHANNELS PERL: samples row by row by an expression in
# $x $y $c (8 bit); stored, not packed
png() {
    perl -e 'use strict; my ($file, $w, $h, $n, $code) = @ARGV;
        my @crc = map { my $c = $_;
            $c = $c & 1 ? 0xEDB88320 ^ ($c >> 1) : $c >> 1 for 1 .. 8; $c }
            0 .. 255;
        sub crc { my $c = 0xFFFFFFFF;
            $c = $crc[($c ^ $_) & 255] ^ ($c >> 8) for unpack "C*", shift;
            $c ^ 0xFFFFFFFF }
        sub chunk { my ($type, $data) = @_;
            pack("N", length $data) . $type . $data .
                pack("N", crc($type . $data)) }
        my $value = eval "sub { my (\$x, \$y, \$c) = \@_; $code }" or die $@;
        my $rows = "";
        for my $y (0 .. $h - 1) {
            $rows .= "\0";
            for my $x (0 .. $w - 1) {
                $rows .= chr(int $value->($x, $y, $_)) for 0 .. $n - 1 } }
        my ($a, $b) = (1, 0);
        for (unpack "C*", $rows) { $a = ($a + $_) % 65521;
                                   $b = ($b + $a) % 65521 }
        my $z = "x\x01" . pack("Cvv", 1, length $rows, ~length($rows) & 65535) .
            $rows . pack("N", $b << 16 | $a);
        open my $f, ">", $file; binmode $f;
        print $f "\x89PNG\r\n\x1a\n",
            chunk("IHDR", pack "NNCCCCC", $w, $h, 8, (0, 0, 4, 2, 6)[$n],
                  0, 0, 0),
            chunk("IDAT", $z), chunk("IEND", "")' "$@"
}

# A network that tells dark from bright: the class is that of the mean.
setup_file() {
    . "$BATS_TEST_DIRNAME/small.bash"
    unset CELLRUN_SET CELLRUN_DATA CELLRUN_RUNS CELLRUN_THREADS
    cd "$BATS_FILE_TMPDIR"
    # 40 images of 6 x 5, even ones dark, odd ones bright
    perl -e 'print pack "N4", 0x803, 40, 6, 5;
        for my $i (0 .. 39) { print chr(($i % 2 ? 170 : 20) + $_ * 2)
                                  for 0 .. 29 }' >images.idx
    perl -e 'print pack("N2", 0x801, 40), map { chr($_ % 2) } 0 .. 39' \
        >labels.idx
    cat >c.yaml <<'END2'
cellrun: 1
dataset:
  train: {IdxDataset: {files: [images.idx, labels.idx], column_names: [image, label]}}
datapipe:
  image: [{Rescale: {rescale: $(1/255), shift: -0.5}}, HWC2CHW]
  label: [{TypeCast: {data_type: int32}}]
  batch: {batch_size: 8}
network: [Flatten, {Dense: [30, 2]}]
loss: CrossEntropyLoss
optimizer: {SGD: {learning_rate: 0.5}}
train: {epochs: 10}
END2
    "$CELLRUN" train c.yaml -o run -q
    png bright.png 6 5 1 '200 + $x'
    png dark.png 6 5 1 '$x * $y'
}

setup() {
    . "$BATS_TEST_DIRNAME/small.bash"
    unset CELLRUN_SET CELLRUN_DATA CELLRUN_RUNS CELLRUN_THREADS
    cd "$BATS_FILE_TMPDIR"
    tmp=$BATS_TEST_TMPDIR
}

@test "--set changes keys of the config, in the checkpoint or a file" {
    local config
    for config in "" "--config c.yaml"; do
        # shellcheck disable=SC2086
        run -0 "$CELLRUN" predict --ckpt run $config dark.png bright.png \
            --set 'predict.labels=[night, day]'
        [ "$(cut -f 2 <<<"$output" | xargs)" = "night day" ]
    done
    run -2 "$CELLRUN" predict --ckpt run dark.png --set predict.label=3
    [[ $output == *"'predict.label' is not a key of predict"* ]]
    run -2 "$CELLRUN" predict --ckpt run dark.png amp.level=O0
    [[ $output == *"unknown column 'amp.level'"*"--set amp.level=O0"* ]]
    run -2 "$CELLRUN" predict --ckpt run --data train amp.level=O0
    [[ $output == *"--data is not allowed with INPUT"*"--set amp.level=O0"* ]]
}

@test "a JPEG image is a PNG image of the same pixels" {
    cp "$BATS_TEST_DIRNAME/../fuzz/corpus/jpeg/gray_6x5" "$tmp/x.jpg"
    png "$tmp/x.png" 6 5 1 100
    run -0 --separate-stderr "$CELLRUN" predict --ckpt run --probs \
        "$tmp/x.jpg"
    [ -n "$output" ]
    jpeg=${output#*$'\t'}
    run -0 --separate-stderr "$CELLRUN" predict --ckpt run --probs \
        "$tmp/x.png"
    [ "${output#*$'\t'}" = "$jpeg" ]
    head -c 100 "$tmp/x.jpg" >"$tmp/cut.jpg"
    run ! "$CELLRUN" predict --ckpt run "$tmp/cut.jpg"
    [[ $output == *cut.jpg*'JPEG image cannot be read'* ]]
}

@test "images by name, in order, as TSV without a header" {
    run -0 --separate-stderr "$CELLRUN" predict --ckpt run dark.png \
        bright.png dark.png
    [ "$output" = $'dark.png\t0\nbright.png\t1\ndark.png\t0' ]
    [ -z "$stderr" ]
}

@test "names from standard input, mixed with others" {
    printf 'bright.png\n\ndark.png\n' |
        "$CELLRUN" predict --ckpt run dark.png - bright.png >"$tmp/out"
    [ "$(cut -f 2 "$tmp/out" | xargs)" = "0 1 0 1" ]
    run -0 "$CELLRUN" predict --ckpt run - </dev/null
    [ -z "$output" ]
    # lines of Windows, unless a file has that name
    cp dark.png $'b.png\r'
    printf 'bright.png\r\n\r\nb.png\r\ndark.png\r' >"$tmp/list"
    run -0 --separate-stderr "$CELLRUN" predict --ckpt run \
        --files-from "$tmp/list"
    [ "$output" = $'bright.png\t1\nb.png\\x0d\t0\ndark.png\t0' ]
    rm $'b.png\r'
}

@test "a list with NULs, as of find -print0, is refused, not cut short" {
    printf 'dark.png\0bright.png\0' >"$tmp/list"
    run -2 --separate-stderr "$CELLRUN" predict --ckpt run - <"$tmp/list"
    [ -z "$output" ]
    [[ $stderr == *"standard input: found a NUL byte"*"[E0501]"* ]]
}

@test "an IDX file: every sample, with eval's accuracy" {
    run -0 "$CELLRUN" predict --ckpt run images.idx
    [ "${#lines[@]}" = 40 ]
    [ "${lines[0]}" = $'images.idx#0\t0' ]
    [ "${lines[39]}" = $'images.idx#39\t1' ]
    gzip -c images.idx >"$tmp/images.idx.gz"
    all=$(cut -f 2 <<<"$output")
    for b in 1 7 40 64; do
        run -0 "$CELLRUN" predict --ckpt run "$tmp/images.idx.gz" --batch $b
        [ "$(cut -f 2 <<<"$output")" = "$all" ]
    done
}

@test "--topk and --probs" {
    run -0 "$CELLRUN" predict --ckpt run bright.png --topk 2
    [ "$output" = $'bright.png\t1\t1\t0' ]
    run -0 "$CELLRUN" predict --ckpt run bright.png --topk 2 --probs
    [[ $output =~ ^bright.png$'\t'1$'\t'1$'\t'(0\.[0-9]{4,})$'\t'0$'\t'([0-9.e-]{4,})$ ]]
    awk -v a="${BASH_REMATCH[1]}" -v b="${BASH_REMATCH[2]}" \
        'BEGIN { exit !(a > b && a + b > 0.9998 && a + b < 1.0002) }'
    one=${BASH_REMATCH[1]} two=${BASH_REMATCH[2]}
    run -0 "$CELLRUN" predict --ckpt run bright.png --probs
    [ "$output" = $'bright.png\t1\t'"$two"$'\t'"$one" ]
    run -0 "$CELLRUN" predict --ckpt run bright.png --topk 9
    [ "$output" = $'bright.png\t1\t1\t0' ]
}

@test "CSV, JSONL, and a file of output" {
    cp bright.png "$tmp/a,b.png"
    run -0 "$CELLRUN" predict --ckpt run "$tmp/a,b.png" --format csv --topk 1
    [ "$output" = "\"$tmp/a,b.png\",1,1" ]
    run -0 "$CELLRUN" predict --ckpt run bright.png --format jsonl \
        --topk 1 --probs
    [[ $output =~ ^\{\"input\":\"bright.png\",\"label\":1,\"topk\":\[\{\"label\":1,\"p\":0\.[0-9]{6,}\}\]\}$ ]]
    run -0 "$CELLRUN" predict --ckpt run bright.png --format jsonl --probs \
        -o "$tmp/out"
    [ -z "$output" ]
    grep -Eq '"probs":\[0\.[0-9]+,0\.[0-9]+\]\}$' "$tmp/out"
}

@test "-n: the first samples, or the worst ones of --wrong" {
    perl -e 'print pack("N2", 0x801, 40), map { chr(($_ + ($_ % 7 == 0)) % 2) }
        0 .. 39' >other.idx
    printf '%s\n' 'dataset: {eval: {IdxDataset: {files: [images.idx, other.idx],' \
        ' column_names: [image, label]}}}' >other.yaml
    run -0 "$CELLRUN" predict --ckpt run --data other.yaml --wrong
    [ "${#lines[@]}" = 6 ]
    worst=$(head -2 <<<"$output")
    [ "$("$CELLRUN" predict --ckpt run --data other.yaml --wrong -n 2)" = "$worst" ]
    "$CELLRUN" predict --ckpt run --data train >all.tsv
    first=$(head -3 all.tsv)
    [ "$("$CELLRUN" predict --ckpt run --data train -n 3 --batch 2)" = "$first" ]
    "$CELLRUN" predict --ckpt run --data train -n 3 -o first.tsv
    [ "$(cat first.tsv)" = "$first" ]
    run -2 --separate-stderr "$CELLRUN" predict --ckpt run --stream -n 3
    [[ "$stderr" == *"-n is not allowed with --stream"* ]]
}

@test "names of classes" {
    run -0 "$CELLRUN" train c.yaml -o "$tmp/named" -q \
        'predict.labels=[dark, bright]'
    run -0 "$CELLRUN" predict --ckpt "$tmp/named" bright.png dark.png --topk 2
    [ "$output" = $'bright.png\tbright\tbright\tdark
dark.png\tdark\tdark\tbright' ]
    run -0 "$CELLRUN" predict --ckpt "$tmp/named" dark.png --format jsonl
    [ "$output" = '{"input":"dark.png","label":"dark"}' ]
    run -0 "$CELLRUN" predict --ckpt "$tmp/named" dark.png --json
    [ "$output" = '{"input":"dark.png","label":"dark"}' ]
}

@test "images of other kinds: colour, alpha, another size" {
    png "$tmp/rgb.png" 6 5 3 '$c == 1 ? 250 : 120'
    png "$tmp/rgba.png" 6 5 4 '$c == 3 ? 0 : 30'
    png "$tmp/ga.png" 6 5 2 '$c ? 10 : 222'
    png "$tmp/large.png" 31 17 1 '190 + $x'
    png "$tmp/tiny.png" 1 1 3 '10'
    run -0 "$CELLRUN" predict --ckpt run \
        "$tmp"/{rgb,rgba,ga,large,tiny}.png
    [ "$(cut -f 2 <<<"$output" | xargs)" = "1 0 1 1 0" ]
    # -v tells of it
    png "$tmp/same.png" 5 6 1 '10'
    run -0 --separate-stderr "$CELLRUN" predict --ckpt run -v \
        "$tmp"/large.png "$tmp"/same.png "$tmp"/rgb.png
    [ "$stderr" = "$tmp/large.png: uint8 (17, 31, 1) becomes uint8 (6, 5)
$tmp/rgb.png: uint8 (5, 6, 3) becomes uint8 (6, 5)" ]
    run -0 --separate-stderr "$CELLRUN" predict --ckpt run "$tmp"/large.png
    [ -z "$stderr" ]
    run -0 "$CELLRUN" help predict
    [[ $output == *"another size"* ]]
}

@test "the size is left to a datapipe that resizes" {
    sed 's/image: \[/image: [{Resize: {size: [6, 5]}}, /' c.yaml >"$tmp/r.yaml"
    cp images.idx labels.idx "$tmp"
    run -0 "$CELLRUN" train "$tmp/r.yaml" -o "$tmp/r" -q
    png "$tmp/large.png" 31 17 1 '190 + $x'
    run -0 "$CELLRUN" predict --ckpt "$tmp/r" "$tmp/large.png" dark.png \
        images.idx
    [ "$(head -2 <<<"$output" | cut -f 2 | xargs)" = "1 0" ]
}

@test "npy: samples, with or without the axis of samples" {
    perl -e 'print map { chr($_ < 30 ? 200 : 3) } 0 .. 59' |
        npy "$tmp/two.npy" '|u1' '(2, 6, 5)'
    run -0 "$CELLRUN" predict --ckpt run "$tmp/two.npy"
    [ "$(cut -f 2 <<<"$output" | xargs)" = "1 0" ]
    perl -e 'print pack "f<*", (200) x 30, (3) x 30' |
        npy "$tmp/f.npy" '<f4' '(2, 6, 5, 1)'
    run -0 "$CELLRUN" predict --ckpt run "$tmp/f.npy" --topk 1 --probs
    [ "$(cut -f 2 <<<"$output" | xargs)" = "1 0" ]
    perl -e 'print map { chr(200) } 0 .. 27' |
        npy "$tmp/wrong.npy" '|u1' '(1, 4, 7)'
    run -0 "$CELLRUN" predict --ckpt run "$tmp/wrong.npy" # resized
    perl -e 'print pack "f<*", (1) x 28' | npy "$tmp/wrong.npy" '<f4' '(1, 28)'
    run -3 "$CELLRUN" predict --ckpt run "$tmp/wrong.npy"
    [[ $output == *"wrong.npy: error: found float32 (1, 28), which cannot be converted to a sample of column 'image'"* ]]
}

@test "arrays of 16-bit integers keep their values" {
    cd "$BATS_TEST_TMPDIR"
    perl -e 'print pack "S<*", map { $_ * 997 % 65536 } 1 .. 48' |
        npy x.npy '<u2' '(4, 2, 2, 3)'
    perl -e 'print pack "f<*", 1 .. 4' | npy y.npy '<f4' '(4, 1)'
    cat >u16.yaml <<'END'
dataset:
  train:
    NumpySlicesDataset: {data: [x.npy, y.npy], column_names: [x, label]}
datapipe: {x: [{Rescale: {rescale: 1e-4, shift: 0.0}}]}
network: {f: Flatten, d: {Dense: {out_channels: 1}}}
loss: MSELoss
optimizer: {SGD: {learning_rate: 1e-3}}
train: {epochs: 1}
END
    "$CELLRUN" train u16.yaml -q -o u16
    "$CELLRUN" predict --ckpt u16 --data train --format npy -o want.npy -q
    "$CELLRUN" predict --ckpt u16 x.npy -o got.npy -q
    cmp got.npy want.npy
}

@test "a file without samples is an error, and no bar to others" {
    npy "$tmp/none.npy" '|u1' '(0, 6, 5)' </dev/null
    run -3 --separate-stderr "$CELLRUN" predict --ckpt run "$tmp/none.npy" \
        dark.png
    [ "$output" = $'dark.png\t0' ]
    [[ $stderr == *"none.npy: error: the file has no samples [E0205]"* ]]
}

@test "one bad file does not stop the others" {
    echo text >"$tmp/no.png"
    head -c 60 bright.png >"$tmp/cut.png"
    run -3 --separate-stderr "$CELLRUN" predict --ckpt run dark.png \
        "$tmp/no.png" "$tmp/cut.png" "$tmp/missing.png" bright.png
    [ "$(cut -f 2 <<<"$output" | xargs)" = "0 1" ]
    [[ $stderr == *no.png* ]]
    [[ $stderr == *cut.png* ]]
    [[ $stderr == *missing.png* ]]
}

@test "no data are needed, nor the folder of the config" {
    mkdir -p "$tmp/away"
    cp run/ckpt/best.safetensors "$tmp/away/m.safetensors" 2>/dev/null ||
        cp run/ckpt/last.safetensors "$tmp/away/m.safetensors"
    cp bright.png "$tmp/away"
    mv images.idx labels.idx "$tmp"
    cd "$tmp/away"
    run -0 "$CELLRUN" predict --ckpt m bright.png
    mv "$tmp"/*.idx "$BATS_FILE_TMPDIR"
    [ "$output" = $'bright.png\t1' ]
}

@test "numbers of a network that does not classify" {
    cd "$tmp"
    samples in 12 1
    cat >r.yaml <<'END2'
dataset:
  train: {NumpySlicesDataset: {data: [in-x.npy, in-x.npy], column_names: [x, label]}}
network: [{Dense: [8, 8]}]
loss: MSELoss
optimizer: {SGD: {learning_rate: 0.1}}
train: {epochs: 1}
END2
    run -0 "$CELLRUN" train r.yaml -o r -q
    run -0 "$CELLRUN" predict --ckpt r in-x.npy
    [ "${#lines[@]}" = 12 ]
    [ "$(awk '{ print NF }' <<<"$output" | sort -u)" = 9 ]
    run -2 "$CELLRUN" predict --ckpt r in-x.npy --topk 1
    run -0 "$CELLRUN" predict --ckpt r in-x.npy --format jsonl
    [[ ${lines[0]} =~ ^\{\"input\":\"in-x.npy#0\",\"output\":\[ ]]
}

@test "many batches: what was folded for the first one holds in all" {
    cat >"$tmp/fold.yaml" <<END2
base: $BATS_FILE_TMPDIR/c.yaml
network: !replace
  cells:
    body:
      - Conv2d: {out_channels: 4, kernel_size: 3}
      - BatchNorm2d
      - ReLU
      - Conv2d: {out_channels: 4, kernel_size: 3}
      - BatchNorm2d
      - ReLU
      - Conv2d: {out_channels: 4, kernel_size: 3}
      - BatchNorm2d
      - Flatten
      - Dense: {out_channels: 2}
  construct: |
    return body(expand_dims(x, 1))
END2
    "$CELLRUN" train "$tmp/fold.yaml" -o "$tmp/fold" -q train.steps=3
    "$CELLRUN" predict --ckpt "$tmp/fold" images.idx --probs --batch 40 \
        >"$tmp/whole"
    [ "$(wc -l <"$tmp/whole")" = 40 ]
    for n in 1 7; do
        "$CELLRUN" predict --ckpt "$tmp/fold" images.idx --probs --batch $n |
            paste "$tmp/whole" - | awk '
                { d = $3 - $7
                  if (NF != 8 || $1 != $5 || d * d > 1e-7) bad = 1 }
                END { exit bad || NR != 40 }'
    done
}

@test "low precision: weights are rounded once, and give the same numbers" {
    cat >"$tmp/low.yaml" <<END2
base: $BATS_FILE_TMPDIR/c.yaml
network: !replace
  cells:
    body:
      - Conv2d: {out_channels: 20, kernel_size: 3}
      - ReLU
      - Conv2d: {out_channels: 4, kernel_size: 1}
      - Flatten
      - Dense: {out_channels: 37, activation: relu}
      - Dense: {out_channels: 2}
  construct: |
    return body(expand_dims(x, 1))
END2
    for type in float16 bfloat16; do
        "$CELLRUN" train "$tmp/low.yaml" -o "$tmp/$type" -q train.steps=3 \
            amp="{level: O2, dtype: $type}"
        for n in 1 7 40; do
            "$CELLRUN" predict --ckpt "$tmp/$type" images.idx --probs \
                --batch $n >"$tmp/low$n"
            for off in prepare constants prepare,-constants two_bytes; do
                CELLRUN_PASSES=-$off "$CELLRUN" predict --ckpt "$tmp/$type" \
                    images.idx --probs --batch $n | cmp - "$tmp/low$n"
            done
            paste "$tmp/low$n" "$tmp/low1" | awk '
                { d = $3 - $7
                  if (NF != 8 || $1 != $5 || d * d > 1e-4) bad = 1 }
                END { exit bad || NR != 40 }'
        done
    done
}

@test "usage" {
    run -2 "$CELLRUN" predict dark.png
    [[ $output == *"--ckpt is missing"* ]]
    run -2 "$CELLRUN" predict --ckpt run
    run -4 "$CELLRUN" predict --ckpt nowhere dark.png
}

@test "one of several results, and which" {
    [[ $("$CELLRUN" version) == *"real: float32"* ]] || skip 'the file that is compared holds float32'
    . "$BATS_TEST_DIRNAME/small.bash"
    cd "$BATS_TEST_TMPDIR"
    config c.yaml
    cat >two.yaml <<'END'
base: c.yaml
network: !replace
  inputs: [x]
  cells: {fc: {Dense: [8, 3]}, g: {Dense: [8, 2]}}
  construct: return fc(x), g(x), mean(g(x))
loss:
  inputs: [p, q, r, label]
  cells: {ce: CrossEntropyLoss}
  construct: return ce(p, label) + mean(square(q)) + r
END
    "$CELLRUN" train two.yaml -o two -q train.steps=1
    run -0 --separate-stderr "$CELLRUN" predict --ckpt two eval-x.npy
    [ "$(grep -c warning <<<"$stderr")" = 1 ]
    [[ "$stderr" == *"warning: result 2 of the network is ignored: found (), expected a row for each of 64 samples"* ]]
    # a class, and two numbers
    [ "$(awk -F'\t' '{ print NF }' <<<"$output" | sort -u)" = 4 ]
    first=$(cut -f 1,2 <<<"$output")
    run -0 --separate-stderr "$CELLRUN" predict --ckpt two eval-x.npy --result 0
    [ -z "$stderr" ]
    [ "$output" = "$first" ]
    run -0 --separate-stderr "$CELLRUN" predict --ckpt two eval-x.npy \
        --result 1 --json
    [ -z "$stderr" ]
    # the numbers that trace writes
    jq '.output[]' <<<"$output" >got
    "$CELLRUN" trace two --eval --feed x=eval-x.npy -o all.safetensors
    perl -0777 -ne 'my $n = unpack "Q<", $_;
        substr($_, 8, $n) =~ /"output#\.1":\{[^}]*"data_offsets":\[(\d+),(\d+)\]/;
        print "$_\n" for unpack "f<*", substr($_, 8 + $n + $1, $2 - $1)' \
        all.safetensors >want
    paste got want | awk '{ d = $1 - $2; n++; bad += d * d > 1e-12 }
                          END { exit bad || n != 200 }'
    run -2 "$CELLRUN" predict --ckpt two eval-x.npy --result 2
    [[ "$output" == *"result 2 of the network: found (), expected a row for each of 64 samples"* ]]
    run -2 "$CELLRUN" predict --ckpt two eval-x.npy --result 3
    [[ "$output" == *"--result: found 3, expected one of the network's results"* ]]
}
