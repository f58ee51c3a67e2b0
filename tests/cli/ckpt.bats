# ckpt: looking into checkpoints; the section load.
bats_require_minimum_version 1.5.0
set -o pipefail
load two_layers

# flip FILE OFFSET: another byte there
flip() {
    local byte=$(od -An -tu1 -j "$2" -N 1 "$1")
    pack C $((byte ^ 16)) |
        dd of="$1" bs=1 seek="$2" conv=notrunc status=none
}

# A run of two epochs, for all tests.
setup_file() {
    unset CELLRUN_SET CELLRUN_DATA CELLRUN_RUNS
    cd "$BATS_FILE_TMPDIR"
    two_layers net.yaml
    "$CELLRUN" train net.yaml -q -o run
}

setup() {
    unset CELLRUN_SET CELLRUN_DATA CELLRUN_RUNS
    # -a keeps links: best and last are the same file as others
    cp -a "$BATS_FILE_TMPDIR"/. "$BATS_TEST_TMPDIR"
    cd "$BATS_TEST_TMPDIR"
    last=run/ckpt/net-2_2.safetensors
}

@test "ls lists the checkpoints of a run" {
    run -0 "$CELLRUN" ckpt ls run
    [ "${#lines[@]}" = 3 ]
    [ "$(awk '{ print $1, $2, $3 }' <<<"${lines[1]}")" = "$last 2 2" ]
    [[ "${lines[1]}" == *last ]]
    run -0 "$CELLRUN" ckpt ls run/ckpt --json
    [[ "$output" == '[{"file": "run/ckpt/net-2_2.safetensors", "epoch": 2, '* ]]
}

@test "ls lists the tensors of a file" {
    run -0 "$CELLRUN" ckpt ls $last
    [ "$(awk 'NR > 1 { print $1 }' <<<"$output" | sort | xargs)" = \
"fc.bias fc.weight moments.fc.bias moments.fc.weight moments.out.bias \
moments.out.weight out.bias out.weight" ]
    run -0 "$CELLRUN" ckpt ls $last --match 'fc.*'
    [ "${#lines[@]}" = 3 ]
    run -0 "$CELLRUN" ckpt ls $last --match fc.weight --json
    [[ "$output" == '[{"name": "fc.weight", "dtype": "F'*'", "shape": [4, 3]'* ]]
}

@test "show prints the state of a run" {
    run -0 "$CELLRUN" ckpt show run
    [[ "${lines[0]}" == "path: run/ckpt/best.safetensors" ]]
    [[ "$output" == *"format: cellrun checkpoint"* ]]
    [[ "$output" == *"cellrun.kind: train"* ]]
    run -0 "$CELLRUN" ckpt show $last
    [[ "$output" == *$'\nstate.step: 4\n'* ]]
    run -0 "$CELLRUN" ckpt show $last --json
    [[ "$output" == *'"cellrun.kind": "train"'* ]]
    run -0 bash -o pipefail -c '"$CELLRUN" ckpt show run --meta cellrun.config |
        "$CELLRUN" config - --get train.epochs'
    [ "$output" = 2 ]
    run -4 --separate-stderr "$CELLRUN" ckpt show run --meta nothing
    [[ "$stderr" == *"no 'nothing' in its metadata [E0302]"* ]]
}

@test "show --values prints arrays as NumPy does" {
    local golden="$BATS_TEST_DIRNAME/../golden"
    "$CELLRUN" ckpt show "$golden/arrays.npz" --values '*' |
        diff - "$golden/arrays.txt"
    "$CELLRUN" ckpt show "$golden/arrays.npz" --values 'a00[12]' --json |
        jq -e '. == {"a001": [[-0.004248199984431267, -0.004272860009223223]],
                     "a002": [0, 1, 0, 2, 0]}'
}

@test "show --values of a name that no tensor has" {
    cd "$BATS_FILE_TMPDIR"
    run -2 --separate-stderr "$CELLRUN" ckpt show run --values fc.wieght
    [[ $stderr == *"no tensor is called 'fc.wieght'"* ]]
    [[ $stderr == *"did you mean 'fc.weight'?"* ]]
}

@test "verify is content with what train writes" {
    run -0 "$CELLRUN" ckpt verify run/ckpt/*.safetensors
    [ "${#lines[@]}" = 4 ]
    [[ "${lines[0]}" == "run/ckpt/best.safetensors: ok, 8 tensors, "*bytes ]]
    run -0 "$CELLRUN" ckpt verify run --json
    [[ "$output" == *'"ok": true, "checksums": true, "tensors": 8'* ]]
    run -0 "$CELLRUN" ckpt verify -q run
    [ -z "$output" ]
}

@test "each kind of damage has its own words, and exit 4" {
    run -4 --separate-stderr "$CELLRUN" ckpt verify nothing
    [[ "$stderr" == *"checkpoint not found"*"[E0301]"* ]]
    mkdir empty
    run -4 --separate-stderr "$CELLRUN" ckpt verify empty
    [[ "$stderr" == *"no checkpoint found in this folder"*"[E0301]"* ]]
    # a run without a checkpoint is not hinted at by its own name
    cp -r run bare
    rm bare/ckpt/*
    run -4 --separate-stderr "$CELLRUN" ckpt verify bare
    [[ "$stderr" == *"no checkpoint found"* && "$stderr" != *"did you mean"* ]]
    run -4 --separate-stderr "$CELLRUN" ckpt verify net.yaml
    [[ "$stderr" == *"not a checkpoint"*"[E0302]"* ]]
    : >none
    run -4 --separate-stderr "$CELLRUN" ckpt verify none
    [[ "$stderr" == *"truncated: a file of 0 bytes"*"[E0303]"* ]]

    cp $last a.safetensors && truncate -s -1 a.safetensors
    run -4 --separate-stderr "$CELLRUN" ckpt verify a
    [[ "$stderr" == *"a.safetensors: byte "*": error: truncated"*"[E0303]"* ]]
    cp $last a.safetensors && echo >>a.safetensors
    run -4 --separate-stderr "$CELLRUN" ckpt verify a
    [[ "$stderr" == *"found 1 unexpected bytes"*"[E0303]"* ]]
    cp $last a.safetensors && flip a.safetensors 300
    run -4 --separate-stderr "$CELLRUN" ckpt verify a
    [[ "$stderr" == *"byte 70: error: damaged header"*"[E0303]"* ]]
    cp $last a.safetensors
    flip a.safetensors $(($(stat -c %s a.safetensors) - 1))
    run -4 --separate-stderr "$CELLRUN" ckpt verify a $last
    [[ "$stderr" == *"error: damaged tensor '"*"': its checksum is "* ]]
    # the sound one was looked at all the same
    [[ "$output" == *"$last: ok"* ]]
}

@test "damage is found wherever a checkpoint is used" {
    cp $last a.safetensors
    flip a.safetensors $(($(stat -c %s a.safetensors) - 1))
    run -4 "$CELLRUN" eval --ckpt a.safetensors
    run -4 "$CELLRUN" trace a.safetensors --step
    run -4 "$CELLRUN" train net.yaml -q -o other load=a
    run -4 "$CELLRUN" ckpt diff a $last
}

@test "diff" {
    run -0 "$CELLRUN" ckpt diff run/ckpt/last $last
    [ "$output" = "8 tensors, no differences" ]
    run -6 "$CELLRUN" ckpt diff run/ckpt/net-1_2 $last
    [ "${lines[8]}" = "8 of 8 tensors differ" ]
    [[ "$output" == *"at ["*"]: "*", "*" of "*" beyond"* ]]
    run -0 "$CELLRUN" ckpt diff run/ckpt/net-1_2 $last --atol 100
    [ "${lines[8]}" = "8 tensors, no differences" ]
    run -6 "$CELLRUN" ckpt diff -q run/ckpt/net-1_2 $last
    [ -z "$output" ]
    st a.safetensors fc.weight:4,3 fc.bias:5 x:1
    st b.safetensors fc.weight:4,3 fc.bias:4 y:1
    run -6 "$CELLRUN" ckpt diff a b
    [ "$(xargs -n1 <<<"$output" | xargs)" = "fc.bias shapes (5,) and (4,)\
 x only in the first y only in the second 3 of 4 tensors differ" ]
    run -0 "$CELLRUN" ckpt diff a b --match fc.weight --json
    [[ "$output" == '{"same": true, "tensors": [{"name": "fc.weight", '* ]]
}

@test "foreign files are listed and verified" {
    st a.safetensors w:2,2
    run -0 "$CELLRUN" ckpt ls a.safetensors
    [[ "${lines[1]}" == "w       F32    (2, 2)     16" ]]
    run -0 "$CELLRUN" ckpt verify a
    [ "$output" = \
"a.safetensors: ok, 1 tensors, $(stat -c %s a.safetensors) bytes (without checksums)" ]
    run -4 --separate-stderr "$CELLRUN" eval --ckpt a
    [[ "$stderr" == *"the checkpoint contains no config; name a config file [E0302]"* ]]
}

@test "wrong usage" {
    run -2 --separate-stderr "$CELLRUN" ckpt verfy run
    [[ "$stderr" == *"did you mean 'verify'?"* ]]
    run -2 --separate-stderr "$CELLRUN" ckpt diff run
    [[ "$stderr" == *"ckpt diff: found 1 file, expected two"* ]]
    run -2 "$CELLRUN" ckpt show
    run -1 --separate-stderr bash -c '"$CELLRUN" ckpt ls run >/dev/full'
}

@test "load reports what it took" {
    st w.safetensors fc.weight:4,3 fc.bias:4 out.weight:2,4 out.bias:2 x:1
    run -0 --separate-stderr "$CELLRUN" train net.yaml -o a load=w
    [[ "$stderr" == *"load  w.safetensors (safetensors, 5 tensors)
  loaded       4   26 values   4 parameters
  skipped      0
  not in file  0
  unused       1   x"* ]]
}

@test "load renames and skips" {
    st w.safetensors module.fc.weight:4,3 module.fc.bias:4 \
        module.head.weight:9,4 module.head.bias:9
    cat >load.yaml <<'END'
base: net.yaml
load:
  ckpt: w.safetensors
  rename:
    - ["^module\\.(.*)$", "\\1"]
    - ["^head\\.(.*)$", "out.\\1"]
  skip: ["out.*"]
END
    run -0 --separate-stderr "$CELLRUN" train load.yaml -o a
    [[ "$stderr" == *"load  "*"w.safetensors (safetensors, 4 tensors)
  loaded       2   16 values   4 - 2 parameters; rename rule 1 used 4 times, \
rule 2 twice
  skipped      2   out.weight out.bias          by skip: \"out.*\"
  not in file  0
  unused       0"* ]]
    run -0 "$CELLRUN" trace load.yaml -o t.npz
    run -0 "$CELLRUN" trace load.yaml '~load' --against t.npz --atol 100
    run -6 "$CELLRUN" trace load.yaml '~load' --against t.npz
}

@test "weights of another program that --ckpt names are renamed, too" {
    st w.safetensors module.fc.weight:4,3 module.fc.bias:4 \
        module.head.weight:2,4 module.head.bias:2
    st own.safetensors fc.weight:4,3 fc.bias:4 out.weight:2,4 out.bias:2
    run -4 --separate-stderr "$CELLRUN" eval net.yaml --ckpt w
    [[ "$stderr" == *"the file has 2 of them with the prefix 'module.': add under load:
   rename: [[\"^module\\\\.\", \"\"]]"* ]]
    [[ "$stderr" != *skip:* ]]
    cat >names.yaml <<'END'
base: net.yaml
load: {ckpt: absent, rename: [['^module\.', ''], [head, out]]}
END
    "$CELLRUN" export names.yaml --ckpt w -o out.npz
    run -0 "$CELLRUN" ckpt diff own out.npz
    [ "$("$CELLRUN" eval names.yaml --ckpt w)" = \
        "$("$CELLRUN" eval net.yaml --ckpt own)" ]
    # names of the network stay as they are
    echo "load: {ckpt: absent, rename: [['^', 'module.']]}" |
        "$CELLRUN" eval net.yaml - --ckpt own
    run -4 --separate-stderr "$CELLRUN" eval names.yaml --ckpt w \
        'load.rename=[[weight, bias]]'
    [[ "$stderr" == *"are both renamed to 'module.fc.bias'"* ]]
    # names without a rule: those of the file are listed, up to a few
    st many.safetensors moment1.net.a.weight:2 net.{a,b,c,d,e,f,g}.weight:2
    run -4 --separate-stderr "$CELLRUN" eval net.yaml --ckpt many
    [[ "$stderr" == *"unused tensors of the file: "*"net.a.weight (2,), net.b.weight (2,)"*", ..."* ]]
    [[ "$stderr" != *g.weight* ]]
}

@test "load reports all mismatches, and the line to add" {
    st w.safetensors fc.weight:4,3 fc.bias:4 out.weight:9,4 out.bias:9
    run -4 --separate-stderr "$CELLRUN" train net.yaml -q -o a load=w
    [[ "$stderr" == *"2 of 4 parameters of the network cannot be loaded "\
"[E0305]"* ]]
    [[ "$stderr" == *"shape      out.weight (9, 4) in the file, (2, 4) in the "\
"network"* ]]
    [[ "$stderr" == *"shape      out.bias (9,) in the file, (2,) in the "* ]]
    [[ "$stderr" == *"skip: [\"out.*\"]   # (9, 4) in the file, (2, 4) in the "\
"network"* ]]
    st w.safetensors fc.weight:4,3 fc.bias:4 out.weight:2,4
    run -4 --separate-stderr "$CELLRUN" train net.yaml -q -o b load=w
    [[ "$stderr" == *"missing    out.bias (2,)"*'skip: ["out.bias"]'* ]]
    run -0 --separate-stderr "$CELLRUN" train net.yaml -o c load.ckpt=w \
        load.strict=false
    [[ "$stderr" == *"not in file  1   out.bias"* ]]
    st w.safetensors other:4,3
    run -0 --separate-stderr "$CELLRUN" train net.yaml -q -o d load.ckpt=w \
        load.strict=false
    [[ "$stderr" == *"warning: no parameter was loaded from this file"* ]]
}

@test "load drops trailing ones, converts floats, refuses integers" {
    st w.safetensors fc.weight:4,3,1 fc.bias:4,1,1 out.weight:2,4 out.bias:2
    run -0 "$CELLRUN" train net.yaml -q -o a load=w
    head='{"fc.weight":{"dtype":"I32","shape":[4,3],"data_offsets":[0,48]}}'
    { pack 'Q<' ${#head}; printf %s "$head"; head -c 48 /dev/zero; } \
        >i.safetensors
    run -4 --separate-stderr "$CELLRUN" train net.yaml -q -o b load=i
    [[ "$stderr" == *"dtype      fc.weight I32 in the file"* ]]
}

@test "load finds names with a prefix, and reports it" {
    st w.safetensors a.b.fc.weight:4,3 a.b.fc.bias:4 'c$.out.weight:2,4' x:1
    # all must be loaded: the line that takes the commonest away
    run -4 --separate-stderr "$CELLRUN" train net.yaml -q -o a load=w
    [[ "$stderr" == *"the file has 2 of them with the prefix 'a.b.': add under load:
   rename: [[\"^a\\\\.b\\\\.\", \"\"]]"* ]]
    run -4 --separate-stderr "$CELLRUN" train net.yaml -q -o b load.ckpt=w \
        'load.rename=[["^a\\.b\\.", ""]]'
    [[ "$stderr" == *"the file has 1 of them with the prefix 'c$.': add under load:
   rename: [[\"^c\\\\\$\\\\.\", \"\"]]"* ]]
    run -4 --separate-stderr "$CELLRUN" train net.yaml -q -o c load.ckpt=w \
        'load.rename=[["^a\\.b\\.", ""], ["^c\\$\\.", ""]]'
    [[ "$stderr" == *'skip: ["out.bias"]'* ]]
    # they need not be: what is there is taken, as MindSpore does
    run -0 --separate-stderr "$CELLRUN" train net.yaml -o d load.ckpt=w \
        load.strict=false
    [[ "$stderr" == *"
  loaded       3   24 values   4 - 1 parameters
  by prefix    3   names of the file with the prefix 'c\$.'
  skipped      0
  not in file  1   out.bias
  unused       1   x"* ]]
}

@test "load: errors in the config" {
    st w.safetensors fc.weight:4,3 fc.bias:4 out.weight:2,4 out.bias:2
    run -2 --separate-stderr "$CELLRUN" train net.yaml -q -o a load.ckpt=w \
        'load.skip=["outt.*"]'
    [[ "$stderr" == *"[E0014]"* ]]
    run -2 --separate-stderr "$CELLRUN" train net.yaml -q -o a load.ckpt=w \
        'load.rename=[["(", "x"]]'
    [[ "$stderr" == *"'(' is not a valid regular expression: "* ]]
    run -2 --separate-stderr "$CELLRUN" train net.yaml -q -o a load.ckpt=w \
        'load.rename=[["fc", "\\1"]]'
    [[ "$stderr" == *"the replacement uses group 1, but the pattern has only 0"* ]]
    run -2 "$CELLRUN" train net.yaml -q -o a load.ckpt=w \
        'load.rename=[["fc"]]'
    run -4 --separate-stderr "$CELLRUN" train net.yaml -q -o a load.ckpt=w \
        'load.rename=[["weight", "bias"]]'
    [[ "$stderr" == *"are both renamed to 'fc.bias'"* ]]
    [ ! -e a/ckpt/last.safetensors ]
}

@test "files of PyTorch: what they are and how to convert them, wherever weights are read" {
    golden=$BATS_TEST_DIRNAME/../golden/ckpt
    for file in zip legacy; do
        cp "$golden/$file.pt" .
        for args in "ckpt verify" "ckpt show" "ckpt ls" \
            "ckpt diff run" "ckpt convert -o w.npz" "summary" "trace" \
            "eval --ckpt" "predict x.npy --ckpt" "trace net.yaml --ckpt" \
            "train net.yaml -o t load.ckpt=$PWD/$file.pt --no-ckpt"; do
            [ "${args#train}" != "$args" ] || args+=" $file.pt"
            # shellcheck disable=SC2086
            run -4 "$CELLRUN" $args
            [[ $output == *"$file.pt: error: found a PyTorch file, expected safetensors, NPZ or MindSpore's .ckpt [E0302]"* ]]
            [[ $output == *"numpy.savez("*"torch.load("* ]]
        done
    done
    printf 'PK\5\6%018d' 0 | tr 0 '\0' >empty.npz
    run -0 "$CELLRUN" ckpt verify empty.npz
    perl -e 'my $x = join "", map { pack("VvvvvvVVVvva*", 0x04034b50, 20, 0, 0,
            0, 0x21, 0, 0, 0, 1, 0, "a") } 1;
        my $c = pack("VvvvvvvVVVvvvvvVVa*", 0x02014b50, 20, 20, 0, 0, 0, 0x21,
            0, 0, 0, 1, 0, 0, 0, 0, 0, 0, "a");
        print $x, $c, pack("VvvvvVVv", 0x06054b50, 0, 0, 1, 1, length $c,
            length $x, 0)' >other.zip
    run -4 "$CELLRUN" ckpt verify other.zip
    [[ $output == *"not an NPZ file: it has no member whose name ends in .npy [E0302]"* ]]
}

@test "an ending that names no format: exit 2, and nothing is written" {
    for name in x.onnx x.pt x weights.safetensor x.npz.gz; do
        run -2 "$CELLRUN" ckpt convert $last -o "$name"
        [[ $output == *"-o: found '$name', expected a name that ends in .safetensors, .npz or .ckpt [E0501]"* ]]
        run -2 "$CELLRUN" trace net.yaml -o "$name"
        [[ $output == *"-o: found '$name', expected a name that ends in "* ]]
        [ ! -e "$name" ]
    done
    run -2 "$CELLRUN" summary net.yaml --svg net.png
    [[ $output == *"--svg: found 'net.png', expected a name that ends in .svg [E0501]"* ]]
    run -2 "$CELLRUN" summary net.yaml --dot net.svg
    [[ $output == *"--dot: found 'net.svg', expected a name that ends in .dot or .gv [E0501]"* ]]
    run -2 "$CELLRUN" config net.yaml --plot lr -o lr.png
    [[ $output == *"-o: found 'lr.png', expected a name that ends in .svg [E0501]"* ]]
    run -2 "$CELLRUN" lr-find net.yaml -o lr.pdf
    [[ $output == *"-o: found 'lr.pdf', expected a name that ends in .svg [E0501]"* ]]
    run -2 "$CELLRUN" data show net.yaml -o sheet.jpg
    [[ $output == *"-o: found 'sheet.jpg', expected a name that ends in .png [E0501]"* ]]
    run -2 "$CELLRUN" predict --ckpt run x.npy -o rows.csv --format tsv
    [[ $output == *"-o: found 'rows.csv', expected a name that ends in .tsv, the suffix of --format [E0501]"* ]]
    run -0 "$CELLRUN" predict --ckpt run x.npy -o rows.csv --format csv
    run -0 "$CELLRUN" predict --ckpt run x.npy -o rows
    [ -z "$(ls ./*.png ./*.pdf ./*.jpg ./*.onnx 2>/dev/null)" ]
}

@test "convert does not replace the checkpoint that it reads" {
    cp $last before
    for file in "$last" "$PWD/run/ckpt/last.safetensors"; do
        run -2 "$CELLRUN" ckpt convert $last -o "$file"
        [[ $output == *"error: -o: found the input checkpoint, expected another file [E0501]"* ]]
    done
    cmp before $last
    # a copy of it is another file
    run -0 "$CELLRUN" ckpt convert $last -o before.safetensors
}

# wide FILE: a tensor of bfloat16 (1, -2.5) with a name outside ASCII
wide() {
    local head='{"größe":{"dtype":"BF16","shape":[2],"data_offsets":[0,4]}}'
    { pack 'Q<' "$(printf %s "$head" | wc -c)"; printf %s "$head"
      pack 'v*' $((0x3f80)) $((0xc020)); } >"$1"
}

@test "NPZ: both directories of the zip agree on each member" {
    run -0 "$CELLRUN" ckpt convert $last -o a.npz
    # APPNOTE 4.3.7, 4.3.12 and 4.3.16; members are stored, on disk 0, without
    # comments
    run -0 perl -e 'local $/; $_ = <>; my $at = length($_) - 22;
        my ($sig, $disk, $first, $here, $n, $size, $from, $note) =
            unpack "Vv4V2v", substr $_, $at;
        die "end" if $sig != 0x06054b50 || $disk || $first || $note ||
            $here != $n || $from + $size != $at;
        for my $i (1 .. $n) {
            my @c = unpack "Vv6V3v5V2", substr $_, $from;
            my @l = unpack "Vv5V3v2", substr $_, $c[16];
            die "central $i" if $c[0] != 0x02014b50 || $c[4] != 0 ||
                $c[12] || $c[13] || $c[14] || $c[8] != $c[9];
            die "local $i" if $l[0] != 0x04034b50 || "@l[2..9]" ne
                join " ", @c[3..10];
            die "name $i" if substr($_, $from + 46, $c[10]) ne
                substr $_, $c[16] + 30, $c[10];
            my $data = $c[16] + 30 + $l[9] + $l[10];
            die "data $i" if substr($_, $data, 6) ne "\x93NUMPY" ||
                $data % 64;
            $from += 46 + $c[10] + $c[11] + $c[12] }
        die "length" if $from != $at;
        print "$n members"' a.npz
    [[ "$output" =~ ^[1-9][0-9]*" members"$ ]]
}

@test "NPZ: names outside ASCII are marked as UTF-8" {
    wide w.safetensors
    run -0 "$CELLRUN" ckpt convert w.safetensors -o w.npz
    # bit 11 of the flags (APPNOTE 4.4.4), in the local and the central header
    run -0 perl -e 'local $/; $_ = <>; /^PK\x03\x04..(..)/s or die;
        print unpack("v", $1), " "; /PK\x01\x02....(..)/s or die;
        print unpack("v", $1)' w.npz
    [ "$output" = "2048 2048" ]
    run -0 "$CELLRUN" ckpt convert $last -o a.npz
    run -0 perl -e 'local $/; $_ = <>; /^PK\x03\x04..(..)/s;
        print unpack("v", $1)' a.npz
    [ "$output" = 0 ]
}

@test "NPZ: bfloat16 becomes float32, which holds it exactly" {
    wide w.safetensors
    run -0 "$CELLRUN" ckpt convert w.safetensors -o w.npz
    run -0 "$CELLRUN" ckpt ls w.npz --json
    [ "$(jq -r '.[0] | "\(.name) \(.dtype) \(.bytes)"' <<<"$output")" = \
        "größe <f4 8" ]
    run -0 "$CELLRUN" ckpt convert w.npz -o back.safetensors
    [ "$(tail -c 8 back.safetensors | od -An -tf4 | xargs)" = "1 -2.5" ]
}

@test "load takes PyTorch's names of layers whose names differ" {
    cat >t.yaml <<'END2'
cellrun: 1
network:
  inputs: {x: {shape: [6], type: int32}}
  cells:
    emb: {Embedding: {vocab_size: 5, embedding_size: 4}}
    conv: {Conv1d: {out_channels: 4, kernel_size: 3, has_bias: true}}
    bn: BatchNorm1d
    ln: {LayerNorm: {normalized_shape: [6]}}
    fc: {Dense: {out_channels: 2}}
  construct: |
    h = bn(conv(transpose(emb(x), (0, 2, 1))))
    return fc(mean(ln(h), 1))
END2
    local all='emb.weight:5,4 conv.weight:4,4,3 conv.bias:4 bn.weight:4
        bn.bias:4 bn.running_mean:4 bn.running_var:4 fc.weight:2,6 fc.bias:2'
    st torch.safetensors $all ln.weight:6 ln.bias:6 bn.num_batches_tracked:1
    run -0 "$CELLRUN" ckpt load-report t.yaml load=torch.safetensors
    [[ $output == *"loaded      11 "* ]]
    [[ $output == *"PyTorch's    7   names, such as "* ]]
    [[ $output == *"unused       0"*"state        1 "* ]]
    run -0 "$CELLRUN" summary t.yaml load=torch.safetensors
    echo '[0,1,2,3,4,0]' | "$CELLRUN" predict --config t.yaml \
        --ckpt torch.safetensors - >out
    # all weights 0.5: what LayerNorm returns has the mean 0.5
    awk '{ exit !(($2 - 2) ^ 2 < 1e-8 && $2 == $3) }' out
    # other shapes do not fit, and names that are there come first
    st bad.safetensors $all ln.weight:6,2 ln.bias:6 ln.beta:6
    run -4 "$CELLRUN" ckpt load-report t.yaml load=bad.safetensors
    [[ $output == *"1 of 11 parameters"*"missing    ln.gamma (6,)"* ]]
    run -0 "$CELLRUN" ckpt load-report t.yaml load=bad.safetensors \
        'load.skip=ln.gamma'
    [[ $output == *"unused       2 "*"ln.bias"* ]]
    # BatchNorm3d is MindSpore's, with its parameters in bn2d
    st bn3.safetensors bn.weight:4 bn.bias:4 bn.running_mean:4 \
        bn.running_var:4 bn.num_batches_tracked:1
    echo 'network: {inputs: {x: {shape: [4, 2, 3, 3]}}, cells: {bn: BatchNorm3d}, construct: return bn(x)}' >bn3.yaml
    run -0 "$CELLRUN" ckpt load-report bn3.yaml load=bn3.safetensors
    [[ $output == *"loaded       4 "* ]]
    # a file of cellrun has its own names
    "$CELLRUN" export t.yaml --ckpt torch.safetensors -o own.npz -q
    run -0 "$CELLRUN" ckpt load-report t.yaml load=own.npz
    [[ $output == *"loaded      11 "* ]]
}
