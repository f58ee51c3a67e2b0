# Small folders of images, made here.
. "${BASH_SOURCE[0]%/*}/equal.bash"

# png FILE WIDTH HEIGHT: RGB bytes on stdin
png() {
    perl -MCompress::Zlib -e '
        my ($file, $w, $h) = @ARGV; local $/; my $x = <STDIN>;
        sub chunk { my ($t, $d) = @_;
            pack("N", length $d) . $t . $d . pack("N", crc32($t . $d)) }
        my $rows = join "", map { "\0" . substr $x, $_ * $w * 3, $w * 3 }
            0 .. $h - 1;
        open my $f, ">", $file or die; binmode $f;
        print $f "\x89PNG\r\n\x1a\n",
            chunk("IHDR", pack "NNCCCCC", $w, $h, 8, 2, 0, 0, 0),
            chunk("IDAT", compress($rows)), chunk("IEND", "");' "$@"
}

# pixels WIDTH HEIGHT SEED CLASS: a blob whose place tells the class
pixels() {
    perl -e 'my ($w, $h, $seed, $class) = @ARGV;
        for my $y (0 .. $h - 1) { for my $x (0 .. $w - 1) {
            my $d = ($x / $w - (1 + $class) / 4) ** 2 + ($y / $h - 0.5) ** 2;
            my $n = sin($seed * 7.7 + $x * 12.9898 + $y * 78.233) * 43758.5;
            my $v = 200 * exp(-20 * $d) + 40 * ($n - int $n);
            $v = $v < 0 ? 0 : $v > 255 ? 255 : $v;
            print pack "CCC", $v, $v / 2, 255 - $v; } }' "$@"
}

# folder DIR EACH WIDTH HEIGHT: classes ant, bee, cat of EACH images
folder() {
    local class i k=0
    for class in ant bee cat; do
        mkdir -p "$1/$class"
        for ((i = 0; i < $2; i++)); do
            pixels "$3" "$4" "$((k * 100 + i))" "$k" |
                png "$1/$class/$i.png" "$3" "$4"
        done
        k=$((k + 1))
    done
}
