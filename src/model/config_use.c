/* config_use.c: see config_use.h. The config's enums and those of the layers are tables of their own, so that neither
 * folder has to know the other; here they meet. */
#include "config_use.h"

/* tap_config_format_words[TAP_CONFIG_FORMAT_TSV] = "tsv" and so on. */
#define CONFIG_CHOICES(tag) static const char *const tag##_words[] __attribute__((unused)) = {
#define CONFIG_CHOICE(enumerator, word, when) [enumerator] = word,
#define CONFIG_CHOICE_OTHER(enumerator) [enumerator] = "",
#define CONFIG_CHOICES_END(tag)                                                                                        \
    }                                                                                                                  \
    ;
#include "config.def"

struct tap_data_options tap_config_data_options(const struct tap_config *config)
{
    const struct tap_config_data *data = &config->data;
    return (struct tap_data_options){
        .task = data->task,
        .train = data->train,
        .valid = data->valid,
        .test = data->test,
        .valid_fraction = data->valid_fraction,
        .test_fraction = data->test_fraction,
        .seed = (uint64_t)data->seed,
        .format = tap_config_format_words[data->format],
        .header = tap_config_header_words[data->header],
        .label_column = data->label_column,
        .text_column = data->text_column,
        .encoding = tap_config_encoding_words[data->encoding],
        .bad_bytes = tap_config_bad_bytes_words[data->bad_bytes],
        .label_prefix_end = data->label_prefix_end,
        .tokenizer = tap_config_tokenizer_words[data->tokenizer],
        .lowercase = data->lowercase,
        .min_count = data->min_count,
        .max_vocab = data->max_vocab,
        .max_length = data->max_length,
        .ngrams = {.character_buckets = (uint32_t)data->char_ngrams,
                   .shortest = (uint32_t)data->char_ngram_min,
                   .longest = (uint32_t)data->char_ngram_max,
                   .bigram_buckets = (uint32_t)data->bigrams},
        .truncate = tap_config_truncate_words[data->truncate],
        .add_cls = config->model.pooling == TAP_CONFIG_POOLING_CLS,
        .task_options = {.rows = config->task.rows,
                         .language = tap_config_language_words[config->task.language],
                         .length = config->task.length,
                         .depth = config->task.depth,
                         .kinds = config->task.kinds},
    };
}

static enum tap_activation activation_of(enum tap_config_activation activation)
{
    switch (activation) {
    case TAP_CONFIG_ACTIVATION_RELU:
        return TAP_ACTIVATION_RELU;
    case TAP_CONFIG_ACTIVATION_GELU:
        return TAP_ACTIVATION_GELU;
    case TAP_CONFIG_ACTIVATION_GELU_TANH:
        return TAP_ACTIVATION_GELU_TANH;
    case TAP_CONFIG_ACTIVATION_SILU:
        return TAP_ACTIVATION_SILU;
    }
    return TAP_ACTIVATION_RELU;
}

static enum tap_positions positions_of(enum tap_config_positions positions)
{
    switch (positions) {
    case TAP_CONFIG_POSITIONS_SINUSOIDAL:
        return TAP_POSITIONS_SINUSOIDAL;
    case TAP_CONFIG_POSITIONS_LEARNED:
        return TAP_POSITIONS_LEARNED;
    case TAP_CONFIG_POSITIONS_NONE:
        return TAP_POSITIONS_NONE;
    }
    return TAP_POSITIONS_NONE;
}

static enum tap_norm norm_of(enum tap_config_norm norm)
{
    switch (norm) {
    case TAP_CONFIG_NORM_LAYER:
        return TAP_NORM_LAYER;
    case TAP_CONFIG_NORM_BATCH:
        return TAP_NORM_BATCH;
    case TAP_CONFIG_NORM_NONE:
        return TAP_NORM_NONE;
    }
    return TAP_NORM_LAYER;
}

static enum tap_pooling pooling_of(enum tap_config_pooling pooling)
{
    switch (pooling) {
    case TAP_CONFIG_POOLING_MEAN:
        return TAP_POOLING_MEAN;
    case TAP_CONFIG_POOLING_MAX:
        return TAP_POOLING_MAX;
    case TAP_CONFIG_POOLING_CLS:
        return TAP_POOLING_CLS;
    case TAP_CONFIG_POOLING_MEAN_MAX:
        return TAP_POOLING_MEAN_MAX;
    }
    return TAP_POOLING_MEAN;
}

struct tap_model_options tap_config_model_options(const struct tap_config *config, size_t vocabulary, size_t classes)
{
    const struct tap_config_model *model = &config->model;
    return (struct tap_model_options){
        .embedding = {.vocabulary = vocabulary,
                      .d_model = (size_t)model->d_model,
                      .max_length = (size_t)config->data.max_length,
                      .character_buckets = (size_t)config->data.char_ngrams,
                      .bigram_buckets = (size_t)config->data.bigrams,
                      .positions = positions_of(model->positions),
                      .scale = model->embedding_scale == TAP_CONFIG_EMBEDDING_SCALE_SQRT,
                      .dropout = model->embedding_dropout},
        .encoder = {.layers = (size_t)model->layers,
                    .d_ff = (size_t)model->d_ff,
                    .attention = {.d_model = (size_t)model->d_model,
                                  .heads = (size_t)model->heads,
                                  .d_head = (size_t)model->d_head,
                                  .dropout = model->attention_dropout,
                                  .bias = model->bias,
                                  .project_qkv = model->project_qkv,
                                  .scale_scores = model->scale_scores,
                                  .causal = model->causal},
                    .activation = activation_of(model->activation),
                    .ffn_dropout = model->ffn_dropout,
                    .residual_dropout = model->residual_dropout,
                    .residual = model->residual,
                    .norm = norm_of(model->norm),
                    .norm_position = model->norm_position == TAP_CONFIG_NORM_POSITION_PRE ? TAP_NORM_POSITION_PRE
                                                                                          : TAP_NORM_POSITION_POST,
                    .norm_eps = model->norm_eps},
        .pooling = pooling_of(model->pooling),
        .classes = classes,
    };
}

const struct tap_optimizer_entry *tap_config_optimizer(const struct tap_config *config)
{
    return tap_optimizer_find(tap_config_optimizer_words[config->optim.name]);
}

struct tap_optimizer_options tap_config_optimizer_options(const struct tap_config *config)
{
    const struct tap_config_optim *optim = &config->optim;
    return (struct tap_optimizer_options){
        .beta1 = optim->beta1,
        .beta2 = optim->beta2,
        .eps = optim->eps,
        .weight_decay = optim->weight_decay,
        .decay_all = optim->decay == TAP_CONFIG_DECAY_ALL,
        .amsgrad = optim->amsgrad,
        .momentum = optim->momentum,
        .nesterov = optim->nesterov,
    };
}

struct tap_schedule_options tap_config_schedule_options(const struct tap_config *config, long total_steps)
{
    return (struct tap_schedule_options){
        .schedule = tap_schedule_find(tap_config_schedule_words[config->optim.schedule]),
        .lr = config->optim.lr,
        .final_lr = config->optim.final_lr,
        .warmup = config->optim.warmup,
        .steps = total_steps,
    };
}
