/*
 * One pass over registry.def: kinds whose macro the includer has not defined
 * are skipped, and all macros are gone afterwards. Meant to be included as
 * often as there is something to make of the table.
 */
#ifndef CR_CELL
#define CR_CELL(x)
#endif
#ifndef CR_DATASET
#define CR_DATASET(x)
#endif
#ifndef CR_FORMAT
#define CR_FORMAT(x)
#endif
#ifndef CR_FUNCTION
#define CR_FUNCTION(...)
#endif
#ifndef CR_INIT
#define CR_INIT(x)
#endif
#ifndef CR_LOSS
#define CR_LOSS(x)
#endif
#ifndef CR_METRIC
#define CR_METRIC(x)
#endif
#ifndef CR_OP
#define CR_OP(x)
#endif
#ifndef CR_OPTIM
#define CR_OPTIM(x)
#endif
#ifndef CR_SCALER
#define CR_SCALER(x)
#endif
#ifndef CR_SCHEDULE
#define CR_SCHEDULE(x)
#endif
#ifndef CR_SECTION
#define CR_SECTION(x)
#endif
#ifndef CR_TOKENIZER
#define CR_TOKENIZER(x)
#endif
#ifndef CR_TRANSFORM
#define CR_TRANSFORM(x)
#endif
#ifndef CR_COMMAND
#define CR_COMMAND(x)
#endif

#include "registry.def"

#include "construct/functions.def"

#undef CR_CELL
#undef CR_DATASET
#undef CR_FORMAT
#undef CR_FUNCTION
#undef CR_INIT
#undef CR_LOSS
#undef CR_METRIC
#undef CR_OP
#undef CR_OPTIM
#undef CR_SCALER
#undef CR_SCHEDULE
#undef CR_SECTION
#undef CR_TOKENIZER
#undef CR_TRANSFORM
#undef CR_COMMAND
