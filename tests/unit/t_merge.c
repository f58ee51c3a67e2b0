/* Laying configs over each other: files, bases, tags, assignments; positional
 * arguments; and printing so that the same tree is read again. */
#include <unistd.h>

#include "conf.h"
#include "tap.h"

static char folder[] = "/tmp/t_merge.XXXXXX";

static const char *write_file(const char *name, const char *text)
{
    struct cr_diag diag = { .arena = &conf_mem };
    const char *path = cr_path_join(&conf_mem, folder, name);

    if (!cr_write_file(&diag, path, text, strlen(text)))
        abort();
    return path;
}

/* Two files, the second over the first, as flow style or first message. */
static const char *over(const char *below, const char *above)
{
    struct cr_diag diag = { .arena = &conf_mem };
    const char *files[] = { write_file("a", below), write_file("b", above),
                            NULL };
    struct cr_config *config = cr_config_load(
        &conf_mem, &diag, &(struct cr_config_from){ .files = files });

    if (diag.errors > 0) {
        const char *text = conf_first(&diag);

        return cr_starts(text, folder) ? text + strlen(folder) + 1 : text;
    }
    return cr_node_flow(&conf_mem, config->root);
}

static const struct {
    const char *below, *above, *want;
} merges[] = {
    { "{a: 1, b: {c: 2, d: 3}}", "{b: {d: 4, e: 5}, f: 6}",
      "{a: 1, b: {c: 2, d: 4, e: 5}, f: 6}" },
    { "a: 1", "a: {b: 2}", "{a: {b: 2}}" },
    { "a: {b: 2}", "a: 1", "{a: 1}" },
    { "a: {b: 2}", "a:", "{a: null}" },
    { "a: [1, 2]", "a: [3]", "{a: [3]}" },
    /* types */
    { "o: {Foo: {x: 1, y: 2}}", "o: {Foo: {y: 3, z: 4}}",
      "{o: {Foo: {x: 1, y: 3, z: 4}}}" },
    { "o: {Foo: {x: 1}}", "o: {Bar: {y: 2}}", "{o: {Bar: {y: 2}}}" },
    { "o: {Foo: {x: 1}}", "o: Foo", "{o: {Foo: {x: 1}}}" },
    { "o: {Foo: {x: 1}}", "o: {Foo: }", "{o: {Foo: {x: 1}}}" },
    { "o: Foo", "o: {Foo: {x: 1}}", "{o: {Foo: {x: 1}}}" },
    { "o: {Foo: {x: 1}}", "o: Bar", "{o: Bar}" },
    { "o: {Foo: {x: 1}}", "o: 'Foo'", "{o: {Foo: {x: 1}}}" },
    { "o: {Foo: {x: 1}}", "o: \"Bar\"", "{o: Bar}" },
    { "o: {a: Foo, b: Bar}", "o: {Foo: {x: 1}}", "{o: {Foo: {x: 1}}}" },
    { "o: {Foo: {x: 1}}", "o: {when: false}", "{}" },
    { "o: {Foo: {x: 1}, name: n}", "o: {name: m}",
      "{o: {Foo: {x: 1}, name: m}}" },
    /* tags */
    { "a: {b: 1}", "a: !replace {c: 2}", "{a: {c: 2}}" },
    { "o: {Foo: {x: 1}}", "o: !replace {Foo: {y: 2}}", "{o: {Foo: {y: 2}}}" },
    { "z: 1", "a: !replace {c: 2}", "{z: 1, a: {c: 2}}" },
    { "{a: {b: 1, c: 2}}", "a: {b: !delete }", "{a: {c: 2}}" },
    { "{a: 1, b: 2}", "a: !delete", "{b: 2}" },
    { "a: [1, 2]", "a: !append [3, 4]", "{a: [1, 2, 3, 4]}" },
    { "a: [1, 2]", "a: !prepend [3, 4]", "{a: [3, 4, 1, 2]}" },
    { "a: [1, 2]", "a: !prepend []", "{a: [1, 2]}" },
    { "a: []", "a: !append []", "{a: []}" },
    { "z: 1", "a: !append [3]", "{z: 1, a: [3]}" },
    { "a: [1]", "b: {c: !delete }",
      "b:1:5: error: key 'c' to remove not found [E0004]" },
    { "a: 1", "a: [!delete ]",
      "b:1:5: error: !delete is allowed as the value of a key only, not in a "
      "list [E0009]" },
    { "a: 1", "a: !append [2]",
      "b:1:4: error: !append extends a list of a base config, but found the "
      "number 1 there "
      "[E0009]" },
    { "a: [1]", "a: !append {}",
      "b:1:4: error: !append is not allowed before an empty map: it extends a "
      "list [E0009]" },
    /* steps and epochs */
    { "train: {epochs: 3}", "train: {steps: 5}", "{train: {steps: 5}}" },
    { "train: {steps: 3}", "train: {epochs: 5}", "{train: {epochs: 5}}" },
    { "train: {steps: 3}", "train: {steps: 1, epochs: 5}",
      "{train: {steps: 1, epochs: 5}}" },
    { "train: {steps: 3}", "train: {limit: 5}",
      "{train: {steps: 3, limit: 5}}" },
    { "eval: {steps: 3}", "eval: {epochs: 5}",
      "{eval: {steps: 3, epochs: 5}}" },
    /* variables are merged like all else, and replaced afterwards */
    { "{vars: {n: 1, m: 2}, a: $n, b: $m}", "vars: {n: 3}", "{a: 3, b: 2}" },
};

static const struct {
    const char *text, *sets, *want;
} assignments[] = {
    { "a: {b: 1}", "a.b=2", "{a: {b: 2}}" },
    { "a: {b: 1}", "a.c.d=[1, x]", "{a: {b: 1, c: {d: [1, x]}}}" },
    { "a: {b: 1}", "a={c: 2}", "{a: {b: 1, c: 2}}" },
    { "a: {b: 1}", "a=!replace {c: 2}", "{a: {c: 2}}" },
    { "a: [1, 2]", "a=!append [3]", "{a: [1, 2, 3]}" },
    { "a: [1, {b: 2}]", "a.1.b=3\na.0=x", "{a: [x, {b: 3}]}" },
    { "a: {b: 1, c: 2}", "~a.b", "{a: {c: 2}}" },
    { "a: [1, 2, 3]", "~a.1", "{a: [1, 3]}" },
    { "a: 1", "a=", "{a: null}" },
    { "a: 1", "a=no", "{a: no}" },
    { "a: 1", "a=1=2", "{a: 1=2}" },
    { "a: 1", "b=2\nb=3\n~a", "{b: 3}" },
    { "vars: {x: 1}\na: $x", "vars.x=5", "{a: 5}" },
    { "a: 1", "a=$(2*3)", "{a: 6}" },
    { "train: {epochs: 3}", "train.steps=7", "{train: {steps: 7}}" },
    { "train: {epochs: 3}", "train.steps=7\ntrain.epochs=2",
      "{train: {epochs: 2}}" },
    { "train: {epochs: 3}", "train={steps: 7}", "{train: {steps: 7}}" },
    { "train: {epochs: 3, clip: {}}", "train.clip.steps=7",
      "{train: {epochs: 3, clip: {steps: 7}}}" },
    /* types may be omitted or given */
    { "o: {Foo: {x: 1}}", "o.x=2", "{o: {Foo: {x: 2}}}" },
    { "o: {Foo: {x: 1}}", "o.Foo.x=2", "{o: {Foo: {x: 2}}}" },
    { "o: Foo", "o.x=2", "{o: {Foo: {x: 2}}}" },
    { "o: {Foo: }", "o.x=2", "{o: {Foo: {x: 2}}}" },
    { "o: {Foo: {x: 1}}", "o={Bar: {}}", "{o: {Bar: {}}}" },
    { "n: {a: [Foo, {Bar: {k: {Baz: {y: 1}}}}]}", "n.a.1.k.y=2\nn.a.0.z=3",
      "{n: {a: [{Foo: {z: 3}}, {Bar: {k: {Baz: {y: 2}}}}]}}" },
    { "n: [{Foo: {x: 1}}]", "n.0.name=f", "{n: [{Foo: {x: 1}, name: f}]}" },
    { "network: {a: {Foo: {x: 1}}}", "network.a.when=false",
      "{network: {a: Identity}}" },
    { "network: {a: Foo}", "network.b=Bar", "{network: {a: Foo, b: Bar}}" },
    /* errors */
    { "a: 1", "a",
      "command line, argument 3: error: expected an assignment: key=value "
      "or ~key [E0501]" },
    { "a: 1", "=3",
      "command line, argument 3: error: expected an assignment: key=value "
      "or ~key, with dots between keys [E0501]" },
    { "a: 1", "a..b=3",
      "command line, argument 3: error: expected an assignment: key=value "
      "or ~key, with dots between keys [E0501]" },
    { "a: 1", "x=1\na.b=3",
      "command line, argument 4: error: 'b' not found in the number 1 "
      "[E0004]" },
    { "a: 1", "a.b.c=3",
      "command line, argument 3: error: 'b' not found in the number 1 "
      "[E0004]" },
    { "a: [1]", "a.1=3",
      "command line, argument 3: error: '1' is not a member of a list of 1 "
      "[E0004]" },
    { "a: [1]", "a.x=3",
      "command line, argument 3: error: 'x' is not a member of a list of 1 "
      "[E0004]" },
    { "a: 1", "~b",
      "command line, argument 3: error: key 'b' to remove not found [E0004]" },
    { "a: 1", "base=b.yaml",
      "command line, argument 3: error: 'base' is allowed in files only; "
      "name further files on the command line [E0501]" },
    { "vars: {width: 1}\na: $width", "vars.widht=2",
      "command line, argument 3: error: variable 'widht' is not used "
      "[E0010]" },
    { "a: $(2 * n.k)", "vars={n: {k: 4}}", "{a: 8}" },
    { "vars: {m: 1, n: $m}\na: $n", "vars.m=4", "{a: 4}" },
    { "a: 1", "a=[1",
      "command line, argument 3: error: unclosed '[' "
      "[E0001]" },
    { "a: 1", "a=$x",
      "command line, argument 3: error: undefined variable "
      "'$x' [E0010]" },
    { "network: {abc: {Foo: {x: 1}}}", "network.abd.x=2",
      "command line, argument 3: error: 'abd' not found in the network here "
      "[E0004]" },
};

static void test_bases(void)
{
    struct cr_diag diag = { .arena = &conf_mem };
    struct cr_config *config;
    const char *text, *path[2] = { NULL };

    write_file("one.yaml", "{a: 1, b: 1, c: 1}");
    write_file("two.yaml", "base: one.yaml\nb: 2\nd: 2\n");
    write_file("three.yaml", "{c: 3, d: 3}");
    path[0] = write_file("top.yaml", "base: [two.yaml, three.yaml]\nd: 4\n");
    config = cr_config_load(&conf_mem, &diag,
                            &(struct cr_config_from){ .files = path });
    same(cr_node_flow(&conf_mem, config->root), "{a: 1, b: 2, c: 3, d: 4}",
         "bases of bases, later over earlier, the file over all");
    same(config->name, "top", "the config is called as its file");
    same(config->dir, folder, "its folder");
    ok(cr_starts(config->text, "base: ["), "its text is the file's");
    ok(strstr(cr_config_yaml(config, true, false), "three.yaml:1\n") != NULL,
       "the origin is the file that has the value");

    write_file("one_block.yaml", "{blocks: {A: {f: {Dense: [1, 2]}}}, "
                                 "vars: {D: 1}, loss: {L1Loss: {a: 1}}}");
    path[0] = write_file("two_blocks.yaml",
                         "{base: one_block.yaml, blocks: {B: {g: ReLU}}, "
                         "vars: {E: 2}, network: [A, B], a: $D, b: $E, "
                         "loss: {MSELoss: {b: 1}}}");
    config = cr_config_load(&conf_mem, &diag,
                            &(struct cr_config_from){ .files = path });
    same(cr_node_flow(&conf_mem, config->root),
         "{loss: {MSELoss: {b: 1}}, network: [{f: {Dense: "
         "{in_channels: 1, out_channels: 2}}}, {g: ReLU}], a: 1, b: 2}",
         "one block, or one variable with a capital, is no type that another "
         "replaces");
    path[0] = cr_path_join(&conf_mem, folder, "top.yaml");

    setenv("CELLRUN_SET", "a=8\n\n  # c\n b=9 \r\n", 1);
    config = cr_config_load(
        &conf_mem, &diag,
        &(struct cr_config_from){ .files = path,
                                  .sets = (const char *[]){ "a=7", NULL } });
    same(cr_node_flow(&conf_mem, config->root), "{a: 7, b: 9, c: 3, d: 4}",
         "CELLRUN_SET overrides files, assignments override it");
    setenv("CELLRUN_SET", "a=8\n~q\n", 1);
    config = cr_config_load(&conf_mem, &diag,
                            &(struct cr_config_from){ .files = path });
    same(conf_first(&diag),
         "CELLRUN_SET:2:2: error: key 'q' to remove not found [E0004]",
         "its lines are counted");
    unsetenv("CELLRUN_SET");

    write_file("x.yaml", "base: y.yaml\n");
    write_file("y.yaml", "base: [one.yaml, x.yaml]\n");
    path[0] = cr_path_join(&conf_mem, folder, "x.yaml");
    cr_config_load(&conf_mem, &diag, &(struct cr_config_from){ .files = path });
    text = conf_messages(&diag);
    ok(strstr(text, "y.yaml:1:18: error: the file is its own base") &&
           strstr(text, "x.yaml, which has the base\n") &&
           strstr(text, "y.yaml, which has the base\n"),
       "a circle of bases is shown");
    write_file("x.yaml", "base: [nothere.yaml, 3]\n");
    config = cr_config_load(&conf_mem, &diag,
                            &(struct cr_config_from){ .files = path });
    text = conf_messages(&diag);
    ok(strstr(text, ":1:8: error: cannot open '") &&
           strstr(text, ":1:22: error: 'base': found the number 3"),
       "every base that cannot be had is reported");
    ok(!cr_config_check(config), "such a config is not looked at further");

    write_file("y.yaml", "base: other.yaml\n");
    path[0] = cr_path_join(&conf_mem, folder, "y.yaml");
    if (chdir(folder) != 0)
        abort();
    if (system("mkdir -p lib && echo 'z: 1' >lib/other.yaml") != 0)
        abort();
    setenv("CELLRUN_PATH", "/nonexistent:lib", 1);
    config = cr_config_load(&conf_mem, &diag,
                            &(struct cr_config_from){ .files = path });
    same(cr_node_flow(&conf_mem, config->root), "{z: 1}",
         "bases are found through CELLRUN_PATH");
    unsetenv("CELLRUN_PATH");

    /* every file twice the base of the next: 2^12 times the first */
    write_file("d0.yaml", "a: 1\n");
    for (int i = 1; i < 13; i++)
        write_file(
            cr_strf(&conf_mem, "d%d.yaml", i),
            cr_strf(&conf_mem, "base: [d%d.yaml, d%d.yaml]\n", i - 1, i - 1));
    path[0] = "d12.yaml";
    cr_config_load(&conf_mem, &diag, &(struct cr_config_from){ .files = path });
    ok(strstr(conf_messages(&diag), "too many base files"),
       "bases do not grow without end");
}

static void test_paths(void)
{
    struct cr_diag diag = { .arena = &conf_mem };
    const char *files[] = { "sub/c.yaml", NULL };
    struct cr_config *config;

    if (system("mkdir -p sub data/d && echo x >sub/f && echo y >g "
               "&& echo z >data/d/h") != 0)
        abort();
    write_file("sub/c.yaml", "base: ../b.yaml\nx: f\ny: g\n");
    write_file("b.yaml", "z: g\n");
    config = cr_config_load(
        &conf_mem, &diag,
        &(struct cr_config_from){ .files = files,
                                  .sets = (const char *[]){ "w=g", NULL } });
    same(cr_config_path(config, CR_READ_FILE,
                        cr_node_get(config->root, "x")->text),
         "sub/f", "a path is relative to its file");
    same(cr_config_path(config, CR_READ_FILE,
                        cr_node_get(config->root, "y")->text),
         NULL, "and not to the current folder");
    same(cr_config_path(config, CR_READ_FILE,
                        cr_node_get(config->root, "z")->text),
         "sub/../g", "a base's path is relative to the base");
    same(cr_config_path(config, CR_READ_FILE,
                        cr_node_get(config->root, "w")->text),
         "g", "a path of the command line to the current folder");
    {
        const char *x = cr_node_get(config->root, "x")->text;
        const char *z = cr_node_get(config->root, "z")->text;
        const char *w = cr_node_get(config->root, "w")->text;

        same(x, "f", "a path next to the config stays as it is");
        same(z, "../g", "a base's is written from the config's folder");
        same(w, cr_strf(&conf_mem, "%s/g", folder),
             "one of the command line from the root");
        same(cr_config_path(config, CR_READ_FILE,
                        z), "sub/../g",
             "and found again in its new form");
    }
    setenv("CELLRUN_DATA", ":/nonexistent:data", 1);
    same(cr_config_path(config, CR_READ_DATA,
                        "d/h"), "data/d/h",
         "data are looked for in CELLRUN_DATA");
    same(cr_config_path(config, CR_READ_FILE,
                        "d/h"), NULL, "other files are not");
    unsetenv("CELLRUN_DATA");
}

/* Texts whose print reads as the same tree again, whatever the form. */
static const char *const round_trips[] = {
    "{}",
    "{a: 1, b: [], c: {}, d: [[], [{}], [[1, [2]]]]}",
    "{a: [{b: 1, c: [{d: [1, {e: f}]}]}, [1, {g: [h, {i: j}]}]]}",
    "{'a b': \"x\\ny\", 'c:d': ': ', '#e': ' f ', g: 'true', h: '1e3'}",
    "{a: 'ReLU', b: ReLU, c: [ReLU, 'ReLU'], d: {Foo: }}",
    "{a: $$x, b: '$$(1)', c: '$$$$', d: 'e$$', f: '$ ', g: '$${h}'}",
    "{a: 'x$$(', b: [$$(, '$$$$('], c: '$$(1)$$('}",
    "{a: inf, b: -inf, c: nan, d: 1e300, e: -0.0, f: 0.1, g: 1e-300}",
    "{a: 9223372036854775807, b: -9223372036854775808, c: 0x1f}",
    "{a: {b: {c: {d: {e: {f: {g: {h: {i: {j: k}}}}}}}}}}",
    "{a: 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
    " bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb', b: [[aaaaaaaaaaaaaaaaaaaaa, "
    "bbbbbbbbbbbbbbbbbbbbbbbb], [cccccccccccccccccccc, dddddddddddddddddddd]]}",
    "a: |\n  x = y\n\n    return z\n",
    "{a: '\xc3\xa4 \xe2\x80\xa8 \xef\xbf\xbd', '\xc3\xb6': \"\\x01\\x7f\"}",
    "{run: {dir: x}, log: {}, train: {epochs: 3}}",
};

static void test_round_trip(const char *text)
{
    struct cr_diag diag, again;
    struct cr_config *first = conf_load(&diag, text, NULL), *second;
    const char *flow = cr_node_flow(&conf_mem, first->root);

    for (int origin = 0; origin < 2; origin++) {
        second = conf_load(&again, cr_config_yaml(first, origin, false), NULL);
        ok(diag.errors + again.errors == 0, "no errors: %.40s", text);
        same(cr_node_flow(&conf_mem, second->root), flow, text);
        same(cr_config_id(second), cr_config_id(first), "the same id");
    }
}

static const char *id(const char *text)
{
    struct cr_diag diag;

    return cr_config_id(conf_load(&diag, text, NULL));
}

static void test_ids(void)
{
    same(id("a: 1\ntrain: {epochs: 3}"), id("a: 1\ntrain: {steps: 9}"),
         "the length of training stays out of the id");
    same(id("a: 1\nrun: {dir: x}\nlog: {every: 3}\ncheckpoint: {every: 3}"),
         id("a: 1"), "so does where a run writes");
    same(id("{vars: {x: 1}, a: $x}"), id("a: 1"), "variables do too");
    ok(strcmp(id("a: 1"), id("a: 2")) != 0, "values do not");
    ok(strcmp(id("a: 1"), id("a: '1'")) != 0, "nor do their types");
    ok(strcmp(id("train: [1]"), id("a: 1")) != 0, "train may be no map");
    ok(strlen(id("a: 1")) == 16, "an id has 16 digits");
}

static void test_print(void)
{
    static const char text[] =
        "vars: {n: 2}\n"
        "network:\n"
        "  flatten: Flatten\n"
        "  seq: [{Foo: {a: 3, b: [1, 2]}}, ReLU, {Bar: {c: $n}}]\n";
    struct cr_diag diag;
    struct cr_config *config = conf_load(&diag, text, "train.steps=3");

    same(cr_config_yaml(config, false, false),
         "network:\n"
         "  flatten: Flatten\n"
         "  seq:\n"
         "    - Foo: {a: 3, b: [1, 2]}\n"
         "    - ReLU\n"
         "    - Bar: {c: 2}\n"
         "train: {steps: 3}\n",
         "the resolved config");
    same(cr_config_yaml(config, true, false),
         "network:\n"
         "  flatten: Flatten  # t:3\n"
         "  seq:\n"
         "    - Foo:\n"
         "        a: 3  # t:4\n"
         "        b: [1, 2]  # t:4\n"
         "    - ReLU  # t:4\n"
         "    - Bar:\n"
         "        c: 2  # t:4\n"
         "train:\n"
         "  steps: 3  # command line, argument 3\n",
         "with its origins");
}

/* Dense takes in_channels, out_channels ... by position, SGD learning_rate,
 * momentum ...: the table of the real registry is what counts. */
static void test_positions(void)
{
    same(conf_tree("optimizer: {SGD: [0.05, 0.9]}", NULL),
         "{optimizer: {SGD: {learning_rate: 0.05, momentum: 0.9}}}",
         "positional arguments get their names");
    same(conf_tree("optimizer: {SGD: 0.05}", "optimizer.learning_rate=0.1"),
         "{optimizer: {SGD: {learning_rate: 0.1}}}", "a lone one too");
    same(conf_tree("optimizer: {SGD: [0.05, null, 0.1]}", NULL),
         "{optimizer: {SGD: {learning_rate: 0.05, dampening: 0.1}}}",
         "null leaves one out");
    same(over("optimizer: {SGD: [0.05, 0.9]}", "optimizer: {SGD: [0.1]}"),
         "{optimizer: {SGD: {learning_rate: 0.1, momentum: 0.9}}}",
         "they have names before files are merged");
    same(conf_tree("network: {a: [{Dense: [4, 2]}, {Dropout: [0.5]}]}",
                   "network.a.0.out_channels=3\nnetwork.a.0.in_channels=5"),
         "{network: {a: [{Dense: {in_channels: 5, out_channels: 3}}, "
         "{Dropout: [0.5]}]}}",
         "Dropout's stay without a name, and are refused by its reader");
    same(conf_tree("optimizer: {SGD: {learning_rate: 1}}",
                   "optimizer.SGD=[0.5, 0.25]"),
         "{optimizer: {SGD: {learning_rate: 0.5, momentum: 0.25}}}",
         "also in an assignment");
    same(conf_tree("loss: CrossEntropyLoss", "loss.weight=[1, 2]"),
         "{loss: {CrossEntropyLoss: {weight: [1, 2]}}}",
         "an argument that is elsewhere next to the type");
    same(conf_tree("a: {Foo: }", "a.weight=3"), "{a: {Foo: null, weight: 3}}",
         "and one that does");
}

/* With its defaults the config reads as one that has nothing to add. */
static void test_full(void)
{
    struct cr_diag diag, again;
    struct cr_config *first = conf_load(
        &diag,
        "network: {inputs: {x: {shape: [4]}}, a: [{Dense: [4, 2]}, ReLU, "
        "{Dropout: {p: 0.5}}]}\noptimizer: {SGD: 0.1}\ntrain: {epochs: 3}\n",
        NULL);
    const char *full = cr_config_yaml(first, false, true);
    struct cr_config *second = conf_load(&again, full, NULL);

    ok(diag.errors + again.errors == 0, "no errors");
    ok(strstr(full, "momentum: 0.0") && strstr(full, "has_bias: true") &&
           strstr(full, "seed: 1\n"),
       "defaults of types and sections are there");
    same(cr_config_yaml(second, false, false), full, "read again");
    same(cr_config_yaml(second, false, true), full, "nothing is added");
    ok(cr_config_check(second), "and nothing is wrong");
}

static void test_forms(void)
{
    struct cr_diag diag;

    conf_load(&diag,
              "network:\n  - {type: Dropout, p: 0.1}\n"
              "train:\n  epochs:3\n  steps:4\n",
              NULL);
    same(conf_messages(&diag),
         "t:2:6: error: the type is the key itself, not a value of 'type' "
         "[E0009]\n"
         "    2 |   - {type: Dropout, p: 0.1}\n"
         "      |      ^^^^ write Dropout: {p: 0.1}\n"
         "t:4:3: error: no space after ':' in 'epochs:3 steps:4' [E0001]\n"
         "    4 |   epochs:3\n"
         "      |   ^^^^^^^ write 'epochs: 3'\n",
         "forms of other programs, both reported");
    same(conf_tree("[1]", NULL),
         "t:1:1: error: found a list, expected a config: a map of keys "
         "[E0009]",
         "not a map");
    same(conf_tree("blocks: {B: {cells: {a: {Foo: $x}}}}", NULL), "{}",
         "a block that nothing uses is not looked into");
    same(conf_tree("vars: {w: 5}\n"
                   "blocks:\n"
                   "  B:\n"
                   "    params: {k: required, s: $(2*k)}\n"
                   "    cells: {a: {Dense: {out_channels: $k}}, "
                   "b: {when: $(k > 3), ReLU: {}}}\n"
                   "    construct: return a(b(x)) * $s + $w\n"
                   "network: [{B: {k: 3}}, {B: [4, 1], freeze: true}]\n",
                   NULL),
         "{network: [{cells: {a: {Dense: {out_channels: 3}}, b: Identity}, "
         "construct: return a(b(x)) * 6 + 5}, {cells: {a: {Dense: "
         "{out_channels: 4}}, b: {ReLU: {}}}, construct: return a(b(x)) * 1 + "
         "5, freeze: true}]}",
         "blocks with parameters");
    same(conf_tree("blocks: {A: {params: {n: 1}, x: {B: {m: $(n+1)}}}, "
                   "B: {params: {m: 0}, y: {Dense: {out_channels: $m}}}}\n"
                   "network: [{A: {n: 7}, repeat: 2}]\n",
                   NULL),
         "{network: [{x: {y: {Dense: {out_channels: 8}}}}, "
         "{x: {y: {Dense: {out_channels: 8}}}}]}",
         "blocks in blocks, repeated");
}

int main(void)
{
    unsetenv("CELLRUN_SET");
    unsetenv("CELLRUN_PATH");
    if (!mkdtemp(folder))
        return 1;
    test_begin("a config over another");
    for (size_t i = 0; i < CR_LEN(merges); i++)
        same(over(merges[i].below, merges[i].above), merges[i].want,
             merges[i].above);
    test_begin("assignments of the command line");
    for (size_t i = 0; i < CR_LEN(assignments); i++)
        same(conf_tree(assignments[i].text, assignments[i].sets),
             assignments[i].want, assignments[i].sets);
    test_end();
    test_bases();
    test_paths();
    test_begin("what is printed is read as the same config");
    for (size_t i = 0; i < CR_LEN(round_trips); i++)
        test_round_trip(round_trips[i]);
    test_end();
    test_ids();
    test_print();
    test_positions();
    test_full();
    test_forms();
    if (system(cr_strf(&conf_mem, "rm -r %s", folder)) != 0)
        return 1;
    cr_arena_free(&conf_mem);
    return done();
}
