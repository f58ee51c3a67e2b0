# formats: the layouts, dumps and members of cellrun-formats(7), compared with
# files that the program reads and writes. Only od, jq and nm read them here.
bats_require_minimum_version 1.5.0
set -o pipefail
load images

page=$BATS_TEST_DIRNAME/../../man/cellrun-formats.7.in

# field LAYOUT MEANING: "OFFSET SIZE" of the row whose meaning begins so
field() {
    awk -v layout="$1" -v meaning="$2" '
        /^\.\\" layout / { on = $3 == layout }
        /^\.El/ { on = 0 }
        on && split($0, f, / Ta /) == 3 && index(f[3], meaning) == 1 {
            sub(/^\.It /, "", f[1]); print f[1], f[2]; exit }' "$page" |
        grep .
}

# at FILE OFFSET SIZE: the bytes there, as "00 01"
at() {
    od -An -v -tx1 -j "$2" -N "$3" "$1" | xargs
}

# bytes FILE LAYOUT MEANING: those of a field
bytes() {
    local place
    place=$(field "$2" "$3")
    # shellcheck disable=SC2086
    at "$1" $place
}

# number FILE LAYOUT MEANING: a field as an unsigned little-endian integer
number() {
    local place
    place=$(field "$2" "$3")
    od -An -tu"${place#* }" -j "${place% *}" -N "${place#* }" "$1" | xargs
}

# dump NAME FILE: all lines of the page's dump are in the file
dump() {
    local offset hex n=0
    while IFS='|' read -r offset hex; do
        # shellcheck disable=SC2086
        set -- "$1" "$2" $hex
        echo "$offset: $hex"
        [ "$(at "$2" $((16#$offset)) $(($# - 2)))" = "$hex" ]
        n=$((n + 1))
    done < <(awk -v name="$1" '
        /^\.\\" dump / { on = $3 == name }
        /^\.Ed/ { on = 0 }
        on && /^[0-9a-f][0-9a-f][0-9a-f][0-9a-f]  / && !/\(differs\)/ {
            split($0, part, /   */); print part[1] "|" part[2] }' "$page")
    [ "$n" -ge 3 ]
}

# members HEAD: words after .Cm, from the line that begins with HEAD to the
# next item or the end of the list
members() {
    awk -v head="$1" '
        index($0, head) == 1 { on = 1; next }
        on && /^\.(It|El)/ { exit }
        on && /^\.Cm / { for (i = 2; i <= NF; i++) print $i }' "$page" |
        grep '[A-Za-z]' | sort -u
}

# column NAME: the members of a table
column() {
    awk -v name="$1" '
        /^\.\\" members / { on = $3 == name }
        /^\.El/ { on = 0 }
        on && /^\.It Cm / { sub(/ Ta .*/, ""); gsub(/[,]/, "")
            for (i = 3; i <= NF; i++) print $i }' "$page" | sort -u
}

# within KNOWN: standard input has lines, and only those
within() {
    local other
    sort -u >some
    [ -s some ]
    other=$(comm -23 some <(sort -u <<<"$1"))
    [ -z "$other" ] || { echo "not in the page: $other"; false; }
}

# Runs of a network that holds 1 2 3 4, and of two images, for all tests.
setup_file() {
    unset CELLRUN_SET CELLRUN_DATA CELLRUN_RUNS
    cd "$BATS_FILE_TMPDIR"
    printf 'a,b,label\n1,0,0\n0,1,1\n' >t.csv
    cat >t.yaml <<'END'
cellrun: 1
dataset:
  train: {CSVDataset: {dataset_files: t.csv, columns: {x: {fields: [a, b], type: float32}, label: {fields: label, type: int32}}}}
  eval: {CSVDataset: {dataset_files: t.csv, columns: {x: {fields: [a, b], type: float32}, label: {fields: label, type: int32}}}}
datapipe: {batch: {batch_size: 2}}
network: {fc: {Dense: {out_channels: 2, has_bias: false, weight_init: {Array: {values: [[1, 2], [3, 4]]}}}}}
loss: {SoftmaxCrossEntropyWithLogits: {sparse: true}}
optimizer: {SGD: {learning_rate: 0.0}}
metrics: [accuracy, loss]
watch: [{hook: forward, at: fc, stats: [mean, histogram, values]}]
train: {steps: 2, clip: {norm: 1.0}}
END
    "$CELLRUN" train t.yaml -q -o run
}

setup() {
    unset CELLRUN_SET CELLRUN_DATA CELLRUN_RUNS
    cd "$BATS_FILE_TMPDIR"
}

float32() {
    [[ $("$CELLRUN" version) == *"real: float32"* ]] || skip 'double precision'
}

@test "IDX has the documented layout" {
    gzip -dc "$BATS_TEST_DIRNAME/../../datasets/digits/train-labels-idx1-ubyte.gz" >labels
    dump idx labels
    [ "$(bytes labels idx zero)" = '00 00' ]
    [ "$(bytes labels idx 'element type')" = 08 ]
    [ "$(bytes labels idx 'number of dimensions')" = 01 ]
    # one dimension of four bytes, then the elements
    [ "$(field idx 'the dimensions')" = '4 4 D' ]
    [ "$(stat -c %s labels)" = $((4 + 4 + 10000)) ]
}

@test "NPY has the documented layout" {
    float32
    "$CELLRUN" predict --ckpt run t.csv -q -o out.npy
    dump npy out.npy
    [ "$(bytes out.npy npy 'the bytes')" = '93 4e 55 4d 50 59' ]
    [ $(($(number out.npy npy 'length of the text') + 10)) = 128 ]
    [ "$(at out.npy 127 1)" = 0a ]
}

@test "NPZ has the documented layout" {
    float32
    "$CELLRUN" ckpt convert run -q -o w.npz
    dump npz w.npz
    [ "$(bytes w.npz npz '50 4b 03 04')" = '50 4b 03 04' ]
    local name extra head
    name=$(number w.npz npz 'length of the name')
    extra=$(number w.npz npz 'length of the extra fields')
    head=$(field npz 'the name, then')
    [ "$(at w.npz $((${head% *} + name + extra)) 6)" = "$(at out.npy 0 6)" ]
    [ $(((${head% *} + name + extra) % 64)) = 0 ]
    # CRC-32 of the member: that of gzip, which is before its last 4 bytes
    tail -c +65 w.npz | head -c 144 | gzip -c >member.gz
    [ "$(bytes w.npz npz 'CRC-32')" = \
        "$(at member.gz $(($(stat -c %s member.gz) - 8)) 4)" ]
}

@test "safetensors has the documented layout" {
    float32
    "$CELLRUN" ckpt convert run -q -o w.safetensors
    dump safetensors w.safetensors
    local n
    n=$(number w.safetensors safetensors 'N, u64')
    [ $(((8 + n) % 64)) = 0 ]
    [ "$(tail -c +9 w.safetensors | head -c "$n" | jq -c '."fc.weight".data_offsets')" = '[0,16]' ]
    [ "$(stat -c %s w.safetensors)" = $((8 + n + 16)) ]
}

@test "a MindSpore checkpoint has the documented layout" {
    float32
    "$CELLRUN" ckpt convert run -q --match 'fc.*' -o w.ckpt
    dump ckpt w.ckpt
    # the checksum is big endian, that of gzip little endian
    head -c 46 w.ckpt | gzip -c >head.gz
    [ "$(at w.ckpt 59 4 | tr ' ' '\n' | tac | xargs)" = \
        "$(at head.gz $(($(stat -c %s head.gz) - 8)) 4)" ]
    [ "$(at w.ckpt 53 6)" = '00 00 00 00 00 00' ]
}

@test "a checkpoint has the layout of cellrun-checkpoint(5)" {
    local file=run/ckpt/last.safetensors root=$BATS_TEST_DIRNAME/../.. n
    (cd "$root" && man/fill "$CELLRUN" man/cellrun-checkpoint.5.in) >ckpt.5
    # place MEANING: offset and size of the row
    place() { sed -n "s/^  *\([0-9]*\)  *\([0-9]*\)  *$1.*/\1 \2/p" ckpt.5; }
    n=$(od -An -tu8 -N 8 "$file" | xargs)
    [ "$(place 'N, the length')" = '0 8' ]
    [ $(((8 + n) % 64)) = 0 ]
    [ "$(place 'the fixed text')" = '8 62' ]
    [ "$(tail -c +9 "$file" | head -c 62)" = \
        "$(sed -n 's/^ *\({"__meta.*:"\)$/\1/p' ckpt.5)" ]
    # the CRC-32 of the header: that of gzip, with zeros in its place
    [ "$(place 'CRC-32 of the header')" = '70 8' ]
    { head -c 70 "$file"; printf 00000000
        head -c $((8 + n)) "$file" | tail -c +79; } | gzip -c >head.gz
    [ "$(tail -c +71 "$file" | head -c 8)" = \
        "$(od -An -tx4 -j $(($(stat -c %s head.gz) - 8)) -N 4 head.gz | xargs)" ]
    # keys and members are those of the tables
    tail -c +9 "$file" | head -c "$n" | jq -r '.__metadata__ | keys[]' |
        within "$(sed -n 's/^  *\([a-z][a-z0-9_.]*\)   .*/\1/p' ckpt.5)"
    "$CELLRUN" ckpt show run --meta cellrun.state | jq -r 'keys[]' |
        within "$(sed -n 's/^  *\([a-z][a-z_, ]*\)   .*/\1/p' ckpt.5 |
            tr -d ' ' | tr ',' '\n')"
}

@test "slots have the names of cellrun-checkpoint(5)" {
    local root=$BATS_TEST_DIRNAME/../.. optimizers slots name n=0
    (cd "$root" && man/fill "$CELLRUN" man/cellrun-checkpoint.5.in) >ckpt.5
    while read -r optimizers slots; do
        for name in ${optimizers//,/ }; do
            "$CELLRUN" train t.yaml -q --force -o slots train.steps=1 \
                '~optimizer' '~watch' "optimizer={$name: {learning_rate: 0.1$(
                [ "$name" != Momentum ] || echo ', momentum: 0.9')}}"
            # those in brackets need an option
            diff <(tr ' ' '\n' <<<"${slots%%(*}" | sed '/./!d; s/$/fc.weight/' |
                sort) <("$CELLRUN" ckpt ls slots/ckpt/last.safetensors --json |
                jq -r '.[].name | select(. != "fc.weight")' | sort)
            n=$((n + 1))
        done
    done < <(sed -n '/^ *optimizer  *slots$/,/^$/{
        /^ *optimizer/d; /^$/d; s/^ *//; s/ \([A-Z]\)/,\1/; s/  */ /g; p; }' ckpt.5)
    [ "$n" = 14 ]
}

@test "a lock has the documented layout" {
    "$CELLRUN" train t.yaml -q -o locked 'run.exec_on_eval="cp locked/lock ."'
    local host pid start boot space more
    read -r host pid start boot space more <lock
    [ "$host" = "$(hostname)" ]
    [ "$pid" -gt 0 ]
    [ "$start" -gt 0 ]
    [ "$boot" = "$(cat /proc/sys/kernel/random/boot_id)" ]
    [ "$space" = "$(readlink /proc/self/ns/pid)" ]
    [ -z "$more" ]
    [ ! -e locked/lock ]
}

@test "the disk cache has the documented layout" {
    mkdir -p img/a img/b
    printf '\x10\x20\x30\xff\xff\xff' | png img/a/1.png 2 1
    printf '\x00\x80\xff' | png img/b/2.png 1 1
    cat >img.yaml <<'END'
cellrun: 1
dataset: {train: {ImageFolderDataset: {dataset_dir: img}}}
datapipe: {image: [{Resize: {size: [2, 2]}}, {Rescale: {rescale: 0.004, shift: 0}}, HWC2CHW], cache: disk, batch: {batch_size: 2}}
network: [Flatten, {Dense: {out_channels: 2}}]
loss: {SoftmaxCrossEntropyWithLogits: {sparse: true}}
optimizer: {SGD: {learning_rate: 0.1}}
train: {epochs: 1}
END
    CELLRUN_RUNS=runs "$CELLRUN" train img.yaml -q -o img-run
    local file size n table entry
    file=$(echo runs/.cache/*.shelf)
    size=$(stat -c %s "$file")
    dump shelf "$file"
    [ "$(bytes "$file" shelf 'the text')" = '43 52 53 48 45 4c 46 31' ]
    n=$(number "$file" shelf 'n, number')
    [ "$n" = 2 ]
    table=$(od -An -tu8 -j $((size - 16)) -N 8 "$file" | xargs)
    [ "$(field shelf 'table, an entry')" = 'T 40 n' ]
    [ $((table + 40 * n + 16)) = "$size" ]
    # the first entry, whose fields count from T
    tail -c +$((table + 1)) "$file" >entry
    [ "$(number entry shelf-entry 'offset of')" = 24 ]
    [ "$(number entry shelf-entry 'its size')" = 6 ]
    [ "$(number entry shelf-entry 'number of dim')" = 3 ]
    [ "$(number entry shelf-entry 'element type')" = 2 ]
    [ "$(bytes entry shelf-entry 'four dim')" = \
        '01 00 00 00 02 00 00 00 03 00 00 00 00 00 00 00' ]
}

@test "a plug-in's description has the documented layout" {
    cc -shared -fPIC -I"$BATS_TEST_DIRNAME/../../src" -o p.so \
        "$BATS_TEST_DIRNAME/../../configs/plugins/threshold.c"
    local address section
    address=$((16#$(nm -D p.so | awk '$3 == "cellrun_plugin" { print $1 }')))
    # the section that holds it: its address and offset in the file
    section=$(readelf -SW p.so |
        sed -n 's/^ *\[[ 0-9]*\] \.data\.rel\.ro *PROGBITS *//p')
    # shellcheck disable=SC2086
    set -- $section
    tail -c +$((address - 16#$1 + 16#$2 + 1)) p.so | head -c 48 >plugin
    [ "$(bytes plugin plugin '63 72')" = '63 72 75 6e' ]
    [ "$(number plugin plugin 'version')" = 3 ]
    [ "$(number plugin plugin 'size of struct cellrun_plugin')" = 48 ]
    [ "$(number plugin plugin 'size of cellrun_real')" = 4 ]
}

@test "records of metrics.jsonl have the members of the page" {
    local kind
    for kind in train eval watch; do
        jq -r "select(.split == \"$kind\") | keys[]" run/metrics.jsonl |
            within "$(column metrics; members ".It Cm $kind"
                [ $kind != eval ] || printf '%s\n' accuracy loss train_loss)"
    done
    [ "$(jq -c 'select(.split == "watch") | .bins | length' run/metrics.jsonl |
        head -n 1)" = 20 ]
}

@test "record.json has the members of the page" {
    jq -r 'keys[]' run/record.json | within "$(column record)"
    # and the page only those: what this run does not have is named here
    diff <(jq -r 'keys[]' run/record.json | sort) \
        <(column record | grep -vxE 'skipped|error|vars|ranks')
    jq -r 'keys[]' run/provenance.json | sort | diff - <(printf '%s\n' configs stamp)
}

@test "predictions in JSON have the members of the page" {
    "$CELLRUN" predict --ckpt run --data eval --format jsonl --topk 2 --probs |
        jq -r '.. | objects | keys[]' | within "$(column predict)"
    "$CELLRUN" predict --ckpt run t.csv --format jsonl |
        jq -r '.. | objects | keys[]' | within "$(column predict)"
}

@test "messages in JSON have the members of the page" {
    run -2 --separate-stderr "$CELLRUN" train t.yaml --json lerning=1
    jq -r 'keys[]' <<<"$stderr" | within "$(column message)"
}

# same NAME COMMAND...: all members that a command writes, and only those, are
# in its item; $names are those that stand for values, $absent what is absent
same() {
    local name=$1
    shift
    "$@" >json
    diff <(jq -r '.. | objects | keys[]' json | sort -u |
        grep -vxE "${names:-none}") \
        <(members ".It Ic $name" | grep -vxE "${absent:-none}")
}

@test "commands write the members of the page" {
    local names= absent=
    # with plug-ins it has the others
    absent='plugins|file|sha256|built' same check "$CELLRUN" check t.yaml --json
    absent='name|dtype|shape|offset' \
        same 'ckpt ls' "$CELLRUN" ckpt ls run --json
    absent='file|epoch|step|best|last' \
        same 'ckpt ls' "$CELLRUN" ckpt ls run/ckpt/last.safetensors --json
    same 'ckpt verify' "$CELLRUN" ckpt verify run --json
    absent=what same 'ckpt diff' "$CELLRUN" ckpt diff run run --json
    same 'ckpt convert' "$CELLRUN" ckpt convert run -o x.npz --json
    same 'ckpt load-report' \
        "$CELLRUN" ckpt load-report t.yaml load.ckpt=run --json
    names='accuracy|loss' absent='deviation|folds|fold|run' \
        same eval "$CELLRUN" eval --ckpt run --per-class --json
    same gradcheck "$CELLRUN" gradcheck t.yaml --json
    same 'init --list' "$CELLRUN" init --list --json
    same lr-find "$CELLRUN" lr-find t.yaml --json
    same version "$CELLRUN" version --json
    same trace "$CELLRUN" trace t.yaml --ckpt run --json
    absent='steps|steps_per_epoch|every|curves|name|lr' \
        same config "$CELLRUN" config t.yaml --diff t.yaml train.steps=3 --json
    absent='key|other|this' \
        same config "$CELLRUN" config t.yaml --plot lr --json
}
