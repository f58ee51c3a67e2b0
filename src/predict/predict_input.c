#include "predict/predict_input.h"

#include <string.h>

#include "base/str.h"
#include "conf/node.h"
#include "data/transform.h"

/* The conversion of one form of input: channels, resize, datapipe. */
struct cr_input_route {
    struct cr_spec in;          /* samples of the file */
    struct cr_spec image;       /* after conversion of the channels */
    bool repaint;               /* convert the number of channels or the
                                   depth */
    const struct cr_transform *resize; /* NULL: none */
    struct cr_transform_plan plan;     /* plan of the resize */
    struct cr_column_pipeline *pipeline;
    void *resized, *scratch;
    struct cr_input_route *next;
};

/* ---- Planning */

/* The column's pipeline for samples of this form if its output fits the
 * network; otherwise NULL, without a message. */
static struct cr_column_pipeline *
sample_pipeline(struct cr_input_adapter *adapter, const struct cr_spec *in)
{
    struct cr_diag *diag = adapter->config->diag;
    struct cr_diag quiet = { .arena = adapter->arena };
    struct cr_column_pipeline *pipeline;
    struct cr_spec out;

    adapter->config->diag = &quiet;
    pipeline = cr_column_pipeline_plan(adapter->config, adapter->column, in,
                                       NULL, false, &out);
    adapter->config->diag = diag;
    return pipeline && cr_spec_same(&out, &adapter->out) ? pipeline : NULL;
}

bool cr_input_adapter_open(struct cr_input_adapter *adapter,
                           struct cr_config *config,
                           const struct cr_column *column)
{
    *adapter = (struct cr_input_adapter){ .arena = config->arena,
                                          .config = config,
                                          .column = column->name,
                                          .head = column->spec };
    return cr_column_pipeline_plan(config, column->name, &column->spec, NULL,
                                   false, &adapter->out) != NULL;
}

/* Whether it is an image: height, width and up to 4 channels. */
static bool sample_is_image(const struct cr_spec *spec)
{
    return (spec->type == CR_U8 || spec->type == CR_U16) &&
           (spec->rank == 2 || (spec->rank == 3 && spec->dim[2] <= 4));
}

static int64_t sample_channels(const struct cr_spec *spec)
{
    return spec->rank == 3 ? spec->dim[2] : 1;
}

static bool sample_resize(struct cr_input_adapter *adapter,
                          struct cr_input_route *route)
{
    const struct cr_transform *t = cr_transform_find("Resize");
    struct cr_node *size = CR_NEW(adapter->arena, struct cr_node);
    struct cr_node *args = CR_NEW(adapter->arena, struct cr_node);
    struct cr_diag quiet = { .arena = adapter->arena };
    void *opts;

    if (!t)
        return false;
    args->kind = CR_NODE_MAP;
    args->child = size;
    size->kind = CR_NODE_LIST;
    size->key = "size";
    for (int i = 1; i >= 0; i--) {
        struct cr_node *n = CR_NEW(adapter->arena, struct cr_node);

        n->kind = CR_NODE_INT;
        n->integer = adapter->head.dim[i];
        n->real = (double)n->integer;
        n->text = cr_strf(adapter->arena, "%lld", (long long)n->integer);
        n->next = size->child;
        size->child = n;
    }
    opts = cr_alloc(adapter->arena, 1, t->about.size);
    if (!cr_opts_read(adapter->arena, &quiet, &t->about, args, CR_NOWHERE,
                      opts))
        return false;
    route->plan = (struct cr_transform_plan){ .opts = opts,
                                              .diag = &quiet,
                                              .arena = adapter->arena,
                                              .in = route->image };
    if (!t->plan(&route->plan))
        return false;
    route->plan.diag = NULL;
    route->resize = t;
    route->resized = cr_alloc(adapter->arena, 1, cr_bytes(&route->plan.out));
    route->scratch = cr_alloc(adapter->arena, 1, route->plan.scratch + 1);
    route->pipeline = sample_pipeline(adapter, &route->plan.out);
    return route->pipeline != NULL;
}

/* Plans an image: first without resizing, then resized to the size of the data
 * set. */
static bool sample_plan_image(struct cr_input_adapter *adapter,
                              struct cr_input_route *route)
{
    int64_t want = sample_channels(&adapter->head);

    route->image = route->in;
    route->image.type = CR_U8;
    route->image.rank = adapter->head.rank;
    route->image.dim[2] = want;
    route->repaint =
        route->in.type != CR_U8 || sample_channels(&route->in) != want;
    route->pipeline = sample_pipeline(adapter, &route->image);
    return route->pipeline || sample_resize(adapter, route);
}

static struct cr_input_route *sample_route(struct cr_input_adapter *adapter,
                                           const struct cr_spec *in)
{
    struct cr_input_route *route = adapter->routes;
    struct cr_spec head = adapter->head;
    bool planned;

    while (route && !cr_spec_same(&route->in, in))
        route = route->next;
    if (route)
        return route;
    route = CR_NEW(adapter->arena, struct cr_input_route);
    route->in = *in;
    head.type = in->type;
    if (sample_is_image(in) && sample_is_image(&head) &&
        adapter->head.type == CR_U8) {
        planned = sample_plan_image(adapter, route);
    } else {
        /* an equal number of elements suffices; their values stay */
        if (cr_count(in) == cr_count(&head))
            route->pipeline = sample_pipeline(adapter, &head);
        planned = route->pipeline != NULL;
    }
    if (!planned)
        return NULL;
    route->next = adapter->routes;
    adapter->routes = route;
    return route;
}

/* ---- Channels */

static unsigned sample_value(const struct cr_spec *spec, const void *x,
                             int64_t i)
{
    if (spec->type == CR_U8)
        return ((const unsigned char *)x)[i];
    return (((const uint16_t *)x)[i] + 128u) / 257u;
}

/* Converts to grey by ITU-R BT.601 in 16-bit fixed point, like PIL. */
static void sample_repaint(const struct cr_spec *in, const void *x,
                           int64_t want, unsigned char *y)
{
    int64_t have = sample_channels(in), pixels = in->dim[0] * in->dim[1];
    bool colour = have >= 3;

    for (int64_t i = 0; i < pixels; i++) {
        unsigned c[3];

        for (int64_t k = 0; k < 3; k++)
            c[k] = sample_value(in, x, i * have + (colour ? k : 0));
        if (want == 1)
            *y++ = (unsigned char)(colour ? (c[0] * 19595 + c[1] * 38470 +
                                             c[2] * 7471 + 0x8000) >> 16
                                          : c[0]);
        else
            for (int64_t k = 0; k < want; k++)
                *y++ = (unsigned char)(k < 3 ? c[k] : 255);
    }
}

/* ---- Files */

/* Finds the shape of one sample in that of an array; false if none fits. */
static bool sample_of_array(struct cr_input_adapter *adapter,
                            struct cr_input *to)
{
    struct cr_spec one = to->spec;

    if (to->spec.rank > 0) {
        one.rank--;
        memmove(&one.dim[0], &one.dim[1], sizeof one.dim - sizeof one.dim[0]);
        to->route = sample_route(adapter, &one);
    }
    if (!to->route)
        return false;
    to->count = to->spec.dim[0];
    to->many = true;
    to->spec = one;
    return true;
}

bool cr_input_open(struct cr_input_adapter *adapter, struct cr_diag *diag,
                   const char *path, struct cr_input *to)
{
    *to = (struct cr_input){ .path = path, .count = 1 };
    to->format = cr_format_of(diag, &to->mem, path);
    if (to->format)
        to->file = to->format->open(&to->mem, diag, path, &to->spec);
    if (!to->file)
        return false;
    if (strcmp(to->format->about.name, "png") == 0 ||
        strcmp(to->format->about.name, "jpeg") == 0)
        to->route = sample_route(adapter, &to->spec);
    else
        sample_of_array(adapter, to);
    if (!to->route)
        return cr_error(diag, cr_at_file(diag->arena, path), CR_E_DATA_FORMAT,
                        "found %s %s, which cannot be converted to a sample of "
                        "column '%s', %s %s",
                        cr_type_name(to->spec.type),
                        cr_diag_format(diag->arena, &to->spec), adapter->column,
                        cr_type_name(adapter->head.type),
                        cr_diag_format(diag->arena, &adapter->head));
    to->raw = cr_alloc(&to->mem, 1, cr_bytes(&to->spec));
    if (to->route->repaint)
        to->painted = cr_alloc(&to->mem, 1, cr_bytes(&to->route->image));
    return true;
}

bool cr_input_read(struct cr_input *input, struct cr_diag *diag, int64_t i,
                   void *to)
{
    struct cr_input_route *route = input->route;
    const void *x = input->raw;

    if (!input->format->read(input->file, diag, input->many ? i : 0,
                             input->many ? 1 : input->spec.dim[0],
                             input->raw))
        return false;
    if (route->repaint) {
        sample_repaint(&route->in, x, sample_channels(&route->image),
                       input->painted);
        x = input->painted;
    }
    if (route->resize) {
        struct cr_sample sample = { .plan = &route->plan,
                                    .x = x,
                                    .y = route->resized,
                                    .scratch = route->scratch,
                                    .diag = diag,
                                    .index = i };

        if (!route->resize->apply(&sample))
            return false;
        x = route->resized;
    }
    return cr_column_pipeline_apply(route->pipeline, diag, i, x, to);
}

const char *cr_input_change(const struct cr_input *input,
                            struct cr_arena *arena)
{
    const struct cr_input_route *route = input->route;
    const struct cr_spec *to = route->resize ? &route->plan.out : &route->image;

    if (!route->resize && !route->repaint)
        return NULL;
    return cr_strf(arena, "%s %s becomes %s %s", cr_type_name(route->in.type),
                   cr_diag_format(arena, &route->in), cr_type_name(to->type),
                   cr_diag_format(arena, to));
}

void cr_input_close(struct cr_input *input)
{
    if (input->file && input->format->close)
        input->format->close(input->file);
    cr_arena_free(&input->mem);
}
