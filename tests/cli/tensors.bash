# Files of numbers, made by hand.
. "${BASH_SOURCE[0]%/*}/equal.bash"

# pack TEMPLATE NUMBER...: their bytes (f<* float32, l<* int32)
pack() {
    perl -e 'print pack(shift, @ARGV)' "$@"
}

# npy FILE DESCR SHAPE: bytes on stdin
npy() {
    printf '\x93NUMPY\x01\x00\x76\x00%-117s\n' \
        "{'descr': '$2', 'fortran_order': False, 'shape': $3, }" >"$1"
    cat >>"$1"
}

# st FILE NAME:SHAPE...: a safetensors file of float32, all 0.5
st() {
    local file=$1 head= at=0 t shape n
    shift
    for t; do
        shape=${t#*:} n=$((${shape//,/*} * 4))
        head+=",\"${t%%:*}\":{\"dtype\":\"F32\",\"shape\":[$shape],"
        head+="\"data_offsets\":[$at,$((at + n))]}"
        at=$((at + n))
    done
    head={${head#,}}
    { pack 'Q<' ${#head}; printf %s "$head"
      pack 'f<*' $(yes 0.5 | head -$((at / 4))); } >"$file"
}

# tensor FILE.safetensors NAME: its numbers, float32 or bool, one per line
tensor() {
    perl -0777 -e 'my ($name) = @ARGV; $_ = <STDIN>;
        my $n = unpack "Q<", $_; my $head = substr $_, 8, $n;
        $head =~ /"\Q$name\E":\{"dtype":"(\w+)[^}]*"data_offsets":\[(\d+),(\d+)\]/
            or die;
        printf "%.9g\n", unpack "f", pack "f", $_ for unpack $1 eq "BOOL" ? "C*" :
            $1 eq "F64" ? "d<*" : "f<*", substr $_, 8 + $n + $2, $3 - $2' "$2" <"$1"
}
