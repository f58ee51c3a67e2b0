/* SHA-256: the examples of FIPS 180-4 and of NIST's test vectors. */
#include "base/sha256.h"
#include "tap.h"

/* The hash of `times` texts, added in parts of `part` bytes. */
static const char *hash_of(const char *text, int times, size_t part)
{
    static char hex[CR_SHA256_DIGITS + 1];
    struct cr_sha256 hash;
    size_t len = strlen(text);

    cr_sha256_start(&hash);
    for (int i = 0; i < times; i++)
        for (size_t at = 0; at < len; at += part)
            cr_sha256_add(&hash, text + at,
                          len - at < part ? len - at : part);
    cr_sha256_end(&hash, hex);
    return hex;
}

int main(void)
{
    static const char two[] =
        "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
    static const char three[] =
        "abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmn"
        "hijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu";
    bool equal = true;

    same(hash_of("", 1, 1),
         "e3b0c44298fc1c149afbf4c8996fb924"
         "27ae41e4649b934ca495991b7852b855",
         "no bytes");
    same(hash_of("abc", 1, 3),
         "ba7816bf8f01cfea414140de5dae2223"
         "b00361a396177a9cb410ff61f20015ad",
         "one block");
    same(hash_of(two, 1, 56),
         "248d6a61d20638b8e5c026930c3e6039"
         "a33ce45964ff2167f6ecedd419db06c1",
         "56 bytes: the length needs a block of its own");
    same(hash_of(three, 1, 112),
         "cf5b16a778af8380036ce59e7b049237"
         "0b249b11e8f07a51afac45037afee9d1",
         "two blocks");
    same(hash_of("aaaaaaaaaa", 100000, 10),
         "cdc76e5c9914fb9281a1c7e284d73e67"
         "f1809a48a497200e046d39ccc7112cd0",
         "a million bytes");
    for (size_t part = 1; part < 112; part++)
        equal = equal && strcmp(hash_of(three, 1, part),
                                "cf5b16a778af8380036ce59e7b049237"
                                "0b249b11e8f07a51afac45037afee9d1") == 0;
    ok(equal, "parts of any length give the same");
    return done();
}
