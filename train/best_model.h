/* best_model.h: best.npz of a run folder, when a run goes on and when it ends; and what takes its place in a run without
 * a folder. */
#ifndef BEST_MODEL_H
#define BEST_MODEL_H

#include "training.h"

/* A run goes on from `from` into a new folder: takes the best.npz beside it along when that is of the best step that
 * `from` names, else warns. Errors: TAP_ERR_IO, TAP_ERR_MEMORY */
enum tap_status best_model_take_along(const struct tap_checkpoint *from, const struct run_folder *folder,
                                      struct tap_error *error);

/* A run goes on in its folder: finishes what a save that was cut short left undone, so that last.npz is `from` and
 * best.npz the best step that `from` names; warns when that one is gone. */
enum tap_status best_model_mend(const struct tap_checkpoint *from, const struct run_folder *folder,
                                struct tap_error *error);

/* Reads the best model's parameters out of the folder; false, after a warning, when it is not there: they stay as they
 * are then. */
bool best_model_read(struct training *training, struct tap_error *error);

/* Without a folder: keeps a copy of the parameters as they are; sets them to the copy, if one was kept. */
enum tap_status best_model_remember(struct training *training, struct tap_error *error);
void best_model_recall(struct training *training);

#endif
