/* tapestry.h: all that an application needs, in one include: data and batches, the model and its layers, the tape and
 * its operations, optimizers and schedules, checkpoints and configs. examples/twenty_lines.c shows a training run.
 *
 * Nothing behind it prints, exits or keeps global state, but for the number of threads (tap_set_threads) and the GEMM
 * engine. Errors come back as a status and one message, see error.h. One tape, model or optimizer is for one thread at
 * a time; it uses several threads inside. */
#ifndef TAP_TAPESTRY_H
#define TAP_TAPESTRY_H

#include "batches.h"
#include "checkpoint.h"
#include "clip.h"
#include "config.h"
#include "config_use.h"
#include "data.h"
#include "error.h"
#include "gemm.h"
#include "gradcheck.h"
#include "mem.h"
#include "model.h"
#include "model_build.h"
#include "ops.h"
#include "optimizer.h"
#include "parallel.h"
#include "schedule.h"
#include "tokenizer.h"
#include "vectors.h"

#endif
