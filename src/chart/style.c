#include "chart/chart.h"

/* The colours differ in lightness too, for those who do not tell hues apart: as
 * seen with protanopia or deuteranopia (Machado, Oliveira and Fernandes, 2009)
 * any two are at least 20 apart in CIELAB. Each has a contrast of 3:1 or more
 * to its background. */
const char cr_chart_css[] =
    ".chart{font:12px system-ui,sans-serif}\n"
    ".chart text{fill:#444}\n"
    ".chart .title{font-size:14px;font-weight:600;fill:#111}\n"
    ".chart .back{fill:#fff}\n"
    ".chart .grid{stroke:#e4e4e4;fill:none}\n"
    ".chart .axis{stroke:#8a8a8a;fill:none}\n"
    ".chart .mark{stroke:#b3382f;stroke-dasharray:4 3;fill:none}\n"
    ".chart .curve{stroke:currentColor;stroke-width:1.6;"
    "stroke-linejoin:round;fill:none}\n"
    ".chart .dashed{stroke-dasharray:6 4}\n"
    ".chart .dots{stroke-dasharray:2 3}\n"
    ".chart .mixed{stroke-dasharray:8 3 2 3}\n"
    ".chart .faint{opacity:.35}\n"
    ".chart .band{fill:currentColor;opacity:.18}\n"
    ".chart .dot,.chart .bar{fill:currentColor}\n"
    ".chart .error{stroke:#444;fill:none}\n"
    ".chart .heat{fill:currentColor}\n"
    ".chart .heat.none{fill:none}\n"
    ".chart text.on{fill:#fff}\n"
    ".chart .over{paint-order:stroke;stroke:#fff;stroke-width:3px}\n"
    ".chart .c1{color:#1f6fb4}\n"
    ".chart .c2{color:#d1622b}\n"
    ".chart .c3{color:#084c30}\n"
    ".chart .c4{color:#66145f}\n"
    ".chart .c5{color:#ad19f7}\n"
    ".chart .c6{color:#4c4108}\n"
    ".chart .c7{color:#3e99b2}\n"
    ".chart .c8{color:#6d6d6d}\n";

const char cr_chart_css_dark[] =
    ".chart text{fill:#c4c4c4}\n"
    ".chart .title{fill:#f0f0f0}\n"
    ".chart .back{fill:#16181d}\n"
    ".chart .grid{stroke:#30343c}\n"
    ".chart .axis{stroke:#7d828c}\n"
    ".chart .mark{stroke:#f07a6f}\n"
    ".chart .error{stroke:#c4c4c4}\n"
    ".chart text.on{fill:#111}\n"
    ".chart .over{stroke:#16181d}\n"
    ".chart .c1{color:#6cb4ee}\n"
    ".chart .c2{color:#f39a63}\n"
    ".chart .c3{color:#7cf7af}\n"
    ".chart .c4{color:#b26bad}\n"
    ".chart .c5{color:#8673e6}\n"
    ".chart .c6{color:#f7e731}\n"
    ".chart .c7{color:#baeff7}\n"
    ".chart .c8{color:#a0a0a0}\n";
