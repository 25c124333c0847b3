/* clip.h: clipping by the global norm. Gradients are not rewritten: the factor goes into tap_optimizer_step. The norm
 * itself is tap_parameters_grad_norm. */
#ifndef TAP_CLIP_H
#define TAP_CLIP_H

/* tap_clip_factor: what gradients of that norm are to be multiplied with so that their norm is at most clip_norm.
 *
 * Formula    min(1, clip_norm / (norm + 1e-6)); 1 when clip_norm is 0 or infinity, which mean off
 * Source     torch.nn.utils.clip_grad_norm_, one difference: a norm that is not finite gives NaN, clipping on or off,
 *            where PyTorch turns good gradients to 0 and bad ones to NaN
 * Errors     NaN also for a clip_norm that is negative or NaN; tap_optimizer_step refuses a factor of NaN */
double tap_clip_factor(double norm, double clip_norm);

#endif
