/*
 * Data sets: which files of a folder are read, in which order, and what is
 * said of those that do not fit. The test writes its own files.
 */
#include "conf.h"
#include "data/data_loader.h"
#include "data/npy.h"
#include "tap.h"

#include <sys/stat.h>
#include <unistd.h>

static char folder[] = "/tmp/cellrun-t_datasets-XXXXXX";

static const char *in_folder(const char *name)
{
    return cr_strf(&conf_mem, "%s/%s", folder, name);
}

static void put(const char *name, const void *data, size_t len)
{
    struct cr_diag diag = { .arena = &conf_mem };

    if (!cr_write_file(&diag, in_folder(name), data, len))
        ok(false, "%s is written", name);
}

/* n entries of `side` x `side` bytes (side 0: of one), all of value first,
 * first + 1 ... */
static void idx_put(const char *name, unsigned n, unsigned side,
                    unsigned first)
{
    struct cr_buf buf = { .arena = &conf_mem };
    unsigned char head[16] = { 0, 0, 8, side > 0 ? 3 : 1,
                               0, 0, 0, (unsigned char)n,
                               0, 0, 0, (unsigned char)side,
                               0, 0, 0, (unsigned char)side };
    unsigned i, k, each = side > 0 ? side * side : 1;

    cr_buf_add(&buf, (char *)head, side > 0 ? 16 : 8);
    for (i = 0; i < n; i++)
        for (k = 0; k < each; k++) {
            unsigned char v = (unsigned char)(first + i);

            cr_buf_add(&buf, (char *)&v, 1);
        }
    put(name, buf.text, buf.len);
}

static void npy_put(const char *name, const struct cr_spec *spec,
                    const void *data)
{
    struct cr_buf buf = { .arena = &conf_mem };

    cr_npy_header(&buf, spec);
    cr_buf_add(&buf, data, cr_bytes(spec));
    put(name, buf.text, buf.len);
}

static struct cr_diag diag;

static const char *datapipe = ""; /* a section of that name, or nothing */

static struct cr_data_loader *open_loader(const char *dataset)
{
    struct cr_data_loader_opts want = { .split = "train", .seed = 1 };
    struct cr_config *config;

    config = conf_load(&diag,
                       cr_strf(&conf_mem, "dataset: {train: {%s}}\n%s",
                               dataset, datapipe), NULL);
    config->diag = &diag;
    return diag.errors > 0 ? NULL : cr_data_loader_open(config, &want);
}

/* "0=image,1=label 5 ..." of the first pixel and the label of each sample. */
static const char *samples(const char *dataset)
{
    struct cr_data_loader *loader = open_loader(dataset);
    const struct cr_column *column;
    const struct cr_batch *b;
    const char *text = "";
    int n, i, c;

    if (!loader)
        return conf_messages(&diag);
    column = cr_data_loader_columns(loader, &n);
    while ((b = cr_data_loader_next(loader, &diag)))
        for (i = 0; i < b->n; i++)
            for (c = 0; c < n; c++) {
                double v = -1;

                cr_convert(column[c].spec.type,
                           (const char *)b->data[c] +
                               (size_t)i * cr_bytes(&column[c].spec),
                           CR_F64, &v, 1);
                text = cr_strf(&conf_mem, "%s%g%s", text, v,
                               c + 1 < n ? ":" : " ");
            }
    cr_data_loader_close(loader);
    return diag.errors > 0 ? conf_messages(&diag) : text;
}

static void says(const char *dataset, const char *what)
{
    const char *got = samples(dataset);

    if (!ok(strstr(got, what), "%s", what))
        printf("# got: %s\n", got);
}

static const char *mnist(const char *dir, const char *usage)
{
    return cr_strf(&conf_mem,
                   "MnistDataset: {dataset_dir: %s, usage: %s}",
                   in_folder(dir), usage);
}

static void mnist_set(void)
{
    struct cr_data_loader *loader;
    const struct cr_column *column;
    int n;

    idx_put("m/train-images-idx3-ubyte", 3, 28, 10);
    idx_put("m/train-labels-idx1-ubyte", 3, 0, 1);
    idx_put("m/t10k-images-idx3-ubyte", 2, 28, 20);
    idx_put("m/t10k-labels-idx1-ubyte", 2, 0, 5);
    same(samples(mnist("m", "train")), "10:1 11:2 12:3 ", "usage: train");
    same(samples(mnist("m", "test")), "20:5 21:6 ", "usage: test");
    same(samples(mnist("m", "all")), "20:5 21:6 10:1 11:2 12:3 ",
         "usage: all, in the order of names");
    loader = open_loader(mnist("m", "test"));
    column = cr_data_loader_columns(loader, &n);
    same(cr_diag_format(&conf_mem, &column[0].spec), "(28, 28, 1)", "an image");
    ok(column[0].spec.type == CR_U8 && column[1].spec.type == CR_U32 &&
           column[1].spec.rank == 0 &&
           cr_data_loader_dataset(loader)->classes == 10,
       "uint8, and a label of uint32");
    cr_data_loader_close(loader);
    /* a twin that holds anything else would be noticed */
    idx_put("m/train-labels-idx1-ubyte.gz", 9, 0, 1);
    same(samples(mnist("m", "train")), "10:1 11:2 12:3 ",
         "a packed twin is not read again");
    unlink(in_folder("m/train-labels-idx1-ubyte.gz"));
}

static void mnist_mistakes(void)
{
    says(mnist("nowhere", "train"), "nowhere' not found, neither relative");
    says(mnist("nowhere", "train"), "[E0201]");
    says(mnist("nowhere", "train"), "data fetch mnist");
    ok(cr_diag_exit(&diag) == 3, "exit 3");
    mkdir(in_folder("none"), 0700);
    says(mnist("none", "train"), "the files of MNIST were not found");
    idx_put("short/train-images-idx3-ubyte", 3, 28, 0);
    idx_put("short/train-labels-idx1-ubyte", 2, 0, 0);
    says(mnist("short", "train"),
         "column 'label' has 2 rows, but column 'image' has 3");
    idx_put("small/train-images-idx3-ubyte", 3, 8, 0);
    idx_put("small/train-labels-idx1-ubyte", 3, 0, 0);
    says(mnist("small", "train"), "(8, 8), expected uint8 (28, 28)");
}

static void own_sets(void)
{
    struct cr_spec x = { CR_F32, CR_ROW_MAJOR, 1, { 3 } };
    struct cr_spec one = { CR_F32, CR_ROW_MAJOR, 0, { 0 } };
    const char *image = realpath("tests/fuzz/corpus/png/rgb", NULL);

    npy_put("x.npy", &x, (float[]){ 0.5f, 1.5f, -2 });
    npy_put("one.npy", &one, (float[]){ 1 });
    idx_put("y.idx", 3, 0, 7);
    idx_put("z.idx", 2, 0, 7);
    same(samples(cr_strf(&conf_mem,
                         "IdxDataset: {files: [%s/y.idx, %s/y.idx], "
                         "column_names: [a, b]}", folder, folder)),
         "7:7 8:8 9:9 ", "IdxDataset");
    same(samples(cr_strf(&conf_mem,
                         "NumpySlicesDataset: {data: [%s/x.npy, %s/y.idx], "
                         "column_names: [x, y]}", folder, folder)),
         "0.5:7 1.5:8 -2:9 ", "NumpySlicesDataset");
    says(cr_strf(&conf_mem,
                 "IdxDataset: {files: [%s/y.idx, %s/z.idx], "
                 "column_names: [a, b]}", folder, folder),
         "column 'b' has 2 rows, but column 'a' has 3");
    says(cr_strf(&conf_mem,
                 "IdxDataset: {files: [%s/y.idx], column_names: [a, b]}",
                 folder), "1 file for 2 column names");
    says("IdxDataset: {files: [gone.idx], column_names: [a]}",
         "file 'gone.idx' not found");
    says(cr_strf(&conf_mem,
                 "NumpySlicesDataset: {data: [%s/one.npy], "
                 "column_names: [a]}",
                 folder),
         "found a scalar");
    /* an image has no rows to read one by one */
    says(cr_strf(&conf_mem, "IdxDataset: {files: [%s], column_names: [a]}",
                 image),
         "found an image (png)");
    mkfifo(in_folder("fifo"), 0600);
    says(cr_strf(&conf_mem, "IdxDataset: {files: [%s/fifo], column_names: [a]}",
                 folder),
         "not a regular file");
    free((void *)(uintptr_t)image);
}

/* A sample of tests/fuzz/corpus as a file of the folder. */
static void copy(const char *sample, const char *name)
{
    size_t len;
    char *text = cr_read_file(&conf_mem, &diag, CR_NOWHERE,
                              cr_strf(&conf_mem, "tests/fuzz/corpus/%s",
                                      sample),
                              CR_E_SYSTEM, 1 << 20, &len);

    if (text)
        put(name, text, len);
}

#define FOLDER(more) \
    cr_strf(&conf_mem, "ImageFolderDataset: {dataset_dir: %s/c" more "}", \
            folder)

static void image_folder(void)
{
    struct cr_data_loader *loader;
    int n;

    /* names by bytes: 10, 2, B, a; 2 is empty and counts */
    copy("jpeg/rgb", "c/B/x.JPG");
    copy("jpeg/gray", "c/B/.hidden.jpg");
    copy("png/rgb", "c/10/b.png");
    copy("jpeg/gray", "c/10/a.jpeg");
    copy("jpeg/progressive", "c/a/1.jpg");
    same(samples(FOLDER(", shuffle: false")), "100:0 0:0 200:2 200:3 ",
         "a class per folder");
    ok(strstr(conf_tree(cr_strf(&conf_mem,
                                "dataset: {train: {%s}}\nn: $data.classes\n",
                                FOLDER("")), NULL), "n: 4"),
       "of which the config may ask the number");
    same(samples(FOLDER(", shuffle: false, extensions: [.jpg]")),
         "200:2 200:3 ", "extensions");
    says(FOLDER(", extensions: [.bmp]"), "no images in");
    same(samples(FOLDER(", shuffle: false, class_indexing: {a: 1, '10': 5}")),
         "200:1 100:5 0:5 ", "class_indexing");
    says(FOLDER(", class_indexing: {b: 1}"), "c/b' not found");
    says(FOLDER(", class_indexing: {a: -1}"), "expected an index from 0");
    says(FOLDER(", decode: false"), "images are always decoded");
    loader = open_loader(FOLDER(""));
    same(cr_diag_format(&conf_mem, &cr_data_loader_columns(loader, &n)[0].spec),
         "(3, 5, 3)", "gray becomes RGB");
    same(cr_data_loader_dataset(loader)->class_names[2], "B",
         "names of classes");
    ok(cr_data_loader_dataset(loader)->classes == 4, "four classes");
    cr_data_loader_close(loader);
    copy("jpeg/gray_6x5", "c/a/2.jpg");
    says(FOLDER(""),
         "has shape (5, 6, 3), and (5, 6, 3) after its transforms;");
    copy("jpeg/cut", "c/a/2.jpg");
    says(FOLDER(""), "c/a/2.jpg");
    put("c/a/2.jpg", "text", 4);
    says(FOLDER(""), "unknown file format");
    remove(in_folder("c/a/2.jpg"));
    put("c/a/readme.txt", "text", 4);
    cr_data_loader_close(open_loader(FOLDER("")));
    ok(strstr(conf_messages(&diag), "1 file in "), "others are reported");
}

#define MASKS(more) \
    cr_strf(&conf_mem, "ImageMaskDataset: {dataset_dir: %s/p, shuffle: " \
            "false" more "}", folder)

static void image_mask(void)
{
    struct cr_data_loader *loader;
    int n;

    copy("jpeg/rgb", "p/images/b.jpg");
    copy("jpeg/gray", "p/images/a/b.JPEG");
    copy("png/gray", "p/masks/b.png");
    copy("png/gray1", "p/masks/a/b.png");
    copy("png/gray", "p/masks/.hidden.png");
    loader = open_loader(MASKS(""));
    same(cr_diag_format(&conf_mem, &cr_data_loader_columns(loader, &n)[1].spec),
         "(3, 5)", "a class for each pixel");
    ok(cr_data_loader_samples(loader) == 2, "two pairs");
    cr_data_loader_close(loader);
    ok(!strstr(samples(MASKS("")), "error"), "are read");
    says(MASKS(", masks: m"), "masks: no folder 'm' in");
    says(MASKS(", images: a/../.."), "expected a path below dataset_dir");
    says(MASKS(", images: /etc"), "expected a path below dataset_dir");
    says(MASKS(", image_suffix: x"), "expected files NAMEx.png or .jpg");
    copy("png/gray", "p/masks/b.PNG");
    says(MASKS(""), "has the same name without the suffix");
    remove(in_folder("p/masks/b.PNG"));
    remove(in_folder("p/masks/b.png"));
    says(MASKS(""), "the image has no mask: found no b.png in");
    copy("jpeg/gray", "p/masks/b.jpg");
    says(MASKS(""), "expected a mask in a PNG file");
    put("p/list", "#\n\n", 3);
    says(MASKS(", names: list"), "the list has no names");
    says(MASKS(", names: none"), "none");
    put("p/list", "\xef\xbb\xbf" "a/b.jpg 1\r\n", 14);
    loader = open_loader(MASKS(", names: list"));
    ok(cr_data_loader_samples(loader) == 1, "one is listed");
    cr_data_loader_close(loader);
}

/* The sum of an epoch's images; -1 after an error. */
static int64_t epoch_sum(struct cr_data_loader *loader)
{
    const struct cr_batch *b;
    int64_t sum = 0, i;
    int before = diag.errors;

    while ((b = cr_data_loader_next(loader, &diag)))
        for (i = 0; i < b->n * 45; i++)
            sum += ((const unsigned char *)b->data[0])[i];
    return diag.errors > before ? -1 : sum;
}

/* Once read, images of a cache need no files; without one they do. */
static void cache(const char *kind, bool keeps)
{
    struct cr_data_loader *loader;
    int64_t sum;

    copy("jpeg/rgb", "k/a/1.jpg");
    copy("jpeg/gray", "k/a/2.jpg");
    datapipe = cr_strf(&conf_mem, "datapipe: {workers: 0, cache: %s}\n",
                       kind);
    loader = open_loader(
        cr_strf(&conf_mem, "ImageFolderDataset: {dataset_dir: %s/k}", folder));
    datapipe = "";
    sum = epoch_sum(loader);
    ok(sum == 15 * 350 + 45 * 100, "both images are read");
    remove(in_folder("k/a/1.jpg"));
    remove(in_folder("k/a/2.jpg"));
    ok(epoch_sum(loader) == (keeps ? sum : -1), "cache: %s", kind);
    cr_data_loader_close(loader);
}

/* n records: labels, then planes of v, v + 1, v + 2; v, label count up. */
static void records_put(const char *name, int n, int labels, int v)
{
    struct cr_buf buf = { .arena = &conf_mem };
    int i, k;

    for (i = 0; i < n; i++) {
        for (k = 0; k < labels; k++)
            cr_buf_char(&buf, (char)(i + 1 + k));
        for (k = 0; k < 3072; k++)
            cr_buf_char(&buf, (char)(v + i + k / 1024 * 10));
    }
    put(name, buf.text, buf.len);
}

#define CIFAR(n, usage) \
    cr_strf(&conf_mem, "Cifar" #n "Dataset: {dataset_dir: %s/r, usage: " \
            usage ", shuffle: false}", folder)

static void cifar(void)
{
    const struct cr_batch *b;
    struct cr_data_loader *loader;
    const unsigned char *x;

    says(CIFAR(10, "train"), "data_batch_1.bin' not found, nor the files");
    records_put("r/data_batch_1.bin", 2, 1, 10);
    records_put("r/data_batch_2.bin", 1, 1, 50);
    records_put("r/test_batch.bin", 1, 1, 90);
    same(samples(CIFAR(10, "train")), "10:1 11:2 50:1 ", "CIFAR-10, train");
    same(samples(CIFAR(10, "test")), "90:1 ", "CIFAR-10, test");
    same(samples(CIFAR(10, "all")), "10:1 11:2 50:1 90:1 ", "all");
    loader = open_loader(CIFAR(10, "test"));
    b = cr_data_loader_next(loader, &diag);
    x = b ? b->data[0] : NULL;
    ok(x && x[0] == 90 && x[1] == 100 && x[2] == 110 && x[3] == 90 &&
           x[3071] == 110,
       "planes become pixels");
    cr_data_loader_close(loader);
    records_put("r/train.bin", 3, 2, 10);
    same(samples(CIFAR(100, "train")), "10:1:2 11:2:3 12:3:4 ",
         "CIFAR-100: coarse and fine");
    says(CIFAR(100, "test"), "test.bin' not found");
    records_put("r/train.bin", 20, 2, 10);
    says(CIFAR(100, "train"), "coarse_label is 20, but there are only 20");
    put("r/train.bin", "\x80\x04", 2);
    says(CIFAR(100, "train"), "is it the binary version?");
    put("r/train.bin", "", 0);
    says(CIFAR(100, "train"), "0 bytes");
}

/* Every data set and format has a test here, in t_files.c, t_text.c or
 * t_csv.c. */
static void registry(void)
{
    static const char *const known =
        " MnistDataset IdxDataset NumpySlicesDataset ImageFolderDataset "
        "ImageMaskDataset "
        "CSVDataset "
        "CharSequenceDataset Cifar10Dataset Cifar100Dataset idx jpeg npy png ";
    static const enum cr_kind kinds[] = { CR_KIND_DATASET, CR_KIND_FORMAT };
    size_t k;
    int i;

    for (k = 0; k < CR_LEN(kinds); k++)
        for (i = 0; cr_registry_list(kinds[k])[i]; i++) {
            const char *name = cr_registry_list(kinds[k])[i]->name;

            ok(strstr(known, cr_strf(&conf_mem, " %s ", name)),
               "%s has a test", name);
        }
}

static void remove_all(void)
{
    static const char *const names[] = {
        "m/train-images-idx3-ubyte", "m/train-labels-idx1-ubyte",
        "m/t10k-images-idx3-ubyte", "m/t10k-labels-idx1-ubyte",
        "short/train-images-idx3-ubyte", "short/train-labels-idx1-ubyte",
        "small/train-images-idx3-ubyte", "small/train-labels-idx1-ubyte",
        "m", "none", "short", "small", "x.npy", "one.npy", "y.idx", "z.idx",
        "fifo", "c/B/x.JPG", "c/B/.hidden.jpg", "c/10/b.png",
        "c/10/a.jpeg", "c/a/1.jpg", "c/a/readme.txt", "c/B", "c/10", "c/2",
        "c/a", "c", "r/data_batch_1.bin", "r/data_batch_2.bin",
        "r/test_batch.bin", "r/train.bin", "r",
        "k/a", "k", "p/list", "p/images/b.jpg", "p/images/a/b.JPEG",
        "p/masks/b.jpg", "p/masks/a/b.png", "p/masks/.hidden.png",
        "p/images/a", "p/images", "p/masks/a", "p/masks", "p",
    };
    size_t i;

    for (i = 0; i < CR_LEN(names); i++)
        remove(in_folder(names[i]));
    ok(rmdir(folder) == 0, "nothing is left");
}

int main(void)
{
    if (!mkdtemp(folder))
        return 1;
    mkdir(in_folder("m"), 0700);
    mkdir(in_folder("k"), 0700);
    mkdir(in_folder("k/a"), 0700);
    mkdir(in_folder("r"), 0700);
    mkdir(in_folder("c"), 0700);
    mkdir(in_folder("c/10"), 0700);
    mkdir(in_folder("c/2"), 0700);
    mkdir(in_folder("c/B"), 0700);
    mkdir(in_folder("c/a"), 0700);
    mkdir(in_folder("p"), 0700);
    mkdir(in_folder("p/images"), 0700);
    mkdir(in_folder("p/images/a"), 0700);
    mkdir(in_folder("p/masks"), 0700);
    mkdir(in_folder("p/masks/a"), 0700);
    mkdir(in_folder("short"), 0700);
    mkdir(in_folder("small"), 0700);
    mnist_set();
    mnist_mistakes();
    own_sets();
    image_folder();
    image_mask();
    cache("memory", true);
    cache("none", false);
    cifar();
    registry();
    remove_all();
    cr_arena_free(&conf_mem);
    return done();
}
