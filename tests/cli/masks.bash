# Pairs of an image and a mask, made here.
. "${BASH_SOURCE[0]%/*}/images.bash"

# stored FILE WIDTH HEIGHT TYPE BITS BYTE...: rows of packed bytes, of a PNG file
# of grey values (type 0) or indices of a palette (3)
stored() {
    perl -MCompress::Zlib -e '
        my ($file, $w, $h, $type, $bits, @x) = @ARGV;
        sub chunk { my ($t, $d) = @_;
            pack("N", length $d) . $t . $d . pack("N", crc32($t . $d)) }
        my $n = @x / $h;
        my $rows = join "", map { pack "C*", 0, @x[$_ * $n .. $_ * $n + $n - 1] }
            0 .. $h - 1;
        open my $f, ">", $file or die; binmode $f;
        print $f "\x89PNG\r\n\x1a\n",
            chunk("IHDR", pack "NNCCCCC", $w, $h, $bits, $type, 0, 0, 0),
            $type == 3 ? chunk("PLTE", "\xff\0\0\0\xff\0" x 128) : "",
            chunk("IDAT", compress($rows)), chunk("IEND", "");' "$@"
}

# pairs N: images of a bright square on a dark ground, and where it is
pairs() {
    mkdir -p images masks
    echo image,mask >pairs.csv
    for ((i = 0; i < $1; i++)); do
        perl -e 'my $i = shift; for my $y (0 .. 9) { for my $x (0 .. 11) {
            my $in = $x >= $i && $x < $i + 4 && $y >= 2 && $y < 6;
            print pack "CCC", ($in ? 200 + $x : $x) x 3 } }' "$i" |
            png "images/$i.png" 12 10
        stored "masks/$i.png" 12 10 $((i % 2 * 3)) 8 $(perl -e 'my $i = shift;
            for my $y (0 .. 9) { for my $x (0 .. 11) {
                print $y == 9 ? 255 : $x >= $i && $x < $i + 4 && $y >= 2 &&
                    $y < 6 ? 1 : 0, " " } }' "$i")
        echo "images/$i.png,masks/$i.png" >>pairs.csv
    done
}
