/*
 * SVG to PNG by librsvg and cairo, which draw SVG with the fonts of the system.
 * Both are opened at first need: no other command needs them.
 */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "chart/chart.h"

#define LIBRARY "librsvg-2.so.2"
#define PACKAGE "librsvg2-2"
#define PIXELS_MAX 16384.0 /* of an edge */

/* RsvgRectangle of librsvg/rsvg.h. */
struct rectangle {
    double x, y, width, height;
};

static struct {
    void *(*rsvg_handle_new_from_data)(const unsigned char *data, size_t len,
                                       void *error);
    int (*rsvg_handle_get_intrinsic_size_in_pixels)(void *handle,
                                                    double *width,
                                                    double *height);
    int (*rsvg_handle_render_document)(void *handle, void *cairo,
                                       const struct rectangle *viewport,
                                       void *error);
    void (*g_object_unref)(void *object);
    void *(*cairo_image_surface_create)(int format, int width, int height);
    void *(*cairo_create)(void *surface);
    void (*cairo_destroy)(void *cairo);
    void (*cairo_surface_destroy)(void *surface);
    int (*cairo_surface_write_to_png_stream)(
        void *surface,
        int (*write)(void *to, const unsigned char *data, unsigned len),
        void *to);
} rsvg;

/* The functions of librsvg and of the libraries that it depends on. POSIX lets
 * dlsym's result be a function; ISO C has no cast for it. */
static bool png_open(void)
{
    static const char *const names[] = {
        "rsvg_handle_new_from_data",
        "rsvg_handle_get_intrinsic_size_in_pixels",
        "rsvg_handle_render_document",
        "g_object_unref",
        "cairo_image_surface_create",
        "cairo_create",
        "cairo_destroy",
        "cairo_surface_destroy",
        "cairo_surface_write_to_png_stream",
    };
    static void *handle;

    if (handle)
        return true;
    handle = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
    for (size_t i = 0; handle && i < CR_LEN(names); i++) {
        void *p = dlsym(handle, names[i]);

        if (!p) {
            dlclose(handle);
            handle = NULL;
            break;
        }
        memcpy((char *)&rsvg + i * sizeof p, &p, sizeof p);
    }
    return handle != NULL;
}

static int png_write(void *to, const unsigned char *data, unsigned len)
{
    cr_buf_add(to, (const char *)data, len);
    return 0; /* CAIRO_STATUS_SUCCESS */
}

static bool png_draw(void *svg, double scale, struct cr_buf *png)
{
    struct rectangle view = { 0 };
    void *surface, *cairo;
    bool ok;

    if (!rsvg.rsvg_handle_get_intrinsic_size_in_pixels(svg, &view.width,
                                                       &view.height))
        return false;
    view.width *= scale;
    view.height *= scale;
    if (!(view.width >= 1 && view.width <= PIXELS_MAX && view.height >= 1 &&
          view.height <= PIXELS_MAX))
        return false;
    surface = rsvg.cairo_image_surface_create(0, (int)view.width,
                                              (int)view.height);
    cairo = rsvg.cairo_create(surface);
    ok = rsvg.rsvg_handle_render_document(svg, cairo, &view, NULL) &&
         rsvg.cairo_surface_write_to_png_stream(surface, png_write, png) == 0;
    rsvg.cairo_destroy(cairo);
    rsvg.cairo_surface_destroy(surface);
    return ok;
}

bool cr_chart_png(struct cr_diag *diag, const char *svg, size_t len,
                  double scale, struct cr_buf *png)
{
    void *handle;
    bool ok;

    if (!png_open()) {
        cr_error(diag, CR_NOWHERE, CR_E_SYSTEM,
                 "PNG needs the library " LIBRARY ", which cannot be opened");
        cr_hint(diag, "install the package " PACKAGE " (Debian), or write "
                      "SVG: -o FILE.svg");
        return false;
    }
    handle = rsvg.rsvg_handle_new_from_data((const unsigned char *)svg, len,
                                            NULL);
    ok = handle && png_draw(handle, scale, png);
    if (handle)
        rsvg.g_object_unref(handle);
    return ok || cr_error(diag, CR_NOWHERE, CR_E_SYSTEM,
                          LIBRARY " cannot draw the chart as PNG");
}
