/* config_yaml.c: the one file that knows libyaml. Of YAML it takes mappings of mappings of scalars or lists of
 * scalars, block or flow; anchors, aliases, tags and further documents become problems of the entry they stand at.
 * libyaml allocates by itself; what it says about memory is passed on. */
#include "config_yaml.h"

#include <string.h>
#include <yaml.h>

#include "mem.h"

struct walk {
    yaml_parser_t parser;
    const char *bytes;
    size_t n_bytes;
    tap_config_handler *handler;
    void *context;
    struct tap_config_fault *fault;
    bool is_over; /* failed, or the handler said stop */
};

static void fail_memory(struct walk *walk)
{
    walk->fault->is_memory = true;
    walk->is_over = true;
}

/* Tells of a file that is no config at all. */
static void fail(struct walk *walk, size_t line, const char *what)
{
    walk->fault->line = (int)line + 1;
    tap_config_text_add(&walk->fault->message, "%s", what);
    walk->is_over = true;
}

/* The reader tells a byte offset, the other stages a line. */
static size_t fault_line(const struct walk *walk)
{
    if (walk->parser.error != YAML_READER_ERROR)
        return walk->parser.problem_mark.line;
    size_t line = 0;
    for (size_t i = 0; i < walk->parser.problem_offset && i < walk->n_bytes; i++)
        line += walk->bytes[i] == '\n';
    return line;
}

static bool next_event(struct walk *walk, yaml_event_t *event)
{
    if (walk->is_over)
        return false;
    if (yaml_parser_parse(&walk->parser, event))
        return true;
    if (walk->parser.error == YAML_MEMORY_ERROR) {
        fail_memory(walk);
        return false;
    }
    fail(walk, fault_line(walk), "not YAML: ");
    if (walk->parser.context != NULL)
        tap_config_text_add(&walk->fault->message, "%s from line %d on, ", walk->parser.context,
                            (int)walk->parser.context_mark.line + 1);
    tap_config_text_add(&walk->fault->message, "%s",
                        walk->parser.problem != NULL ? walk->parser.problem : "unreadable");
    return false;
}

/* Deeper than this nothing is even skipped: libyaml's time grows with the square of the depth. */
enum { MOST_DEPTH = 100 };

/* Leaves out the rest of a node whose first event was just read. */
static void skip_node(struct walk *walk, yaml_event_type_t first)
{
    size_t depth = first == YAML_SEQUENCE_START_EVENT || first == YAML_MAPPING_START_EVENT;
    yaml_event_t event;
    while (depth > 0 && next_event(walk, &event)) {
        if (event.type == YAML_SEQUENCE_START_EVENT || event.type == YAML_MAPPING_START_EVENT)
            depth++;
        else if (event.type == YAML_SEQUENCE_END_EVENT || event.type == YAML_MAPPING_END_EVENT)
            depth--;
        if (depth > MOST_DEPTH)
            fail(walk, event.start_mark.line, "nested too deeply");
        yaml_event_delete(&event);
    }
}

/* What is wrong with a node by itself, or NULL. */
static const char *node_problem(const yaml_event_t *event)
{
    const yaml_char_t *anchor = NULL, *tag = NULL;
    if (event->type == YAML_ALIAS_EVENT)
        return "an alias";
    if (event->type == YAML_SCALAR_EVENT) {
        anchor = event->data.scalar.anchor;
        tag = event->data.scalar.tag;
        if (memchr(event->data.scalar.value, '\0', event->data.scalar.length) != NULL)
            return "a zero byte";
    } else if (event->type == YAML_SEQUENCE_START_EVENT) {
        anchor = event->data.sequence_start.anchor;
        tag = event->data.sequence_start.tag;
    } else if (event->type == YAML_MAPPING_START_EVENT) {
        anchor = event->data.mapping_start.anchor;
        tag = event->data.mapping_start.tag;
    }
    return anchor != NULL ? "an anchor" : tag != NULL ? "a tag" : NULL;
}

static enum tap_config_next tell(struct walk *walk, struct tap_config_entry *entry)
{
    enum tap_config_next next = walk->handler(walk->context, entry);
    if (next == TAP_CONFIG_STOP)
        walk->is_over = true;
    return next;
}

/* Notes the first problem of an entry. */
static void note(struct tap_config_entry *entry, const char *problem)
{
    if (entry->problem == NULL)
        entry->problem = problem;
}

/* Reads the items of a list, whose start was just read, up to its end. */
static void read_list(struct walk *walk, struct tap_config_entry *entry)
{
    size_t capacity = 0;
    bool is_end = false;
    yaml_event_t event;
    while (!is_end && next_event(walk, &event)) {
        is_end = event.type == YAML_SEQUENCE_END_EVENT;
        const char *problem = node_problem(&event);
        if (!is_end && problem == NULL && event.type != YAML_SCALAR_EVENT)
            problem = event.type == YAML_MAPPING_START_EVENT ? "a mapping within a list" : "a list within a list";
        if (problem != NULL)
            note(entry, problem);
        else if (!is_end && !tap_config_texts_add(&entry->value.list, &capacity, (char *)event.data.scalar.value,
                                                  event.data.scalar.length))
            fail_memory(walk);
        skip_node(walk, event.type);
        yaml_event_delete(&event);
    }
}

/* Reads the value of an entry and tells it. */
static void read_value(struct walk *walk, struct tap_config_entry *entry)
{
    yaml_event_t event;
    if (!next_event(walk, &event))
        return;
    entry->line = (int)event.start_mark.line + 1;
    note(entry, node_problem(&event));
    if (event.type == YAML_SCALAR_EVENT) {
        entry->value.text = (const char *)event.data.scalar.value;
        entry->value.n_bytes = event.data.scalar.length;
    } else if (event.type == YAML_SEQUENCE_START_EVENT) {
        read_list(walk, entry);
    } else {
        note(entry, "a mapping");
        skip_node(walk, event.type);
    }
    if (!walk->is_over)
        tell(walk, entry);
    tap_config_texts_clear(&entry->value.list);
    yaml_event_delete(&event);
}

/* Leaves out the next node. */
static void skip_next(struct walk *walk)
{
    yaml_event_t event;
    if (!next_event(walk, &event))
        return;
    skip_node(walk, event.type);
    yaml_event_delete(&event);
}

/* What is wrong with a group's or a key's name, or NULL. */
static const char *name_problem(const yaml_event_t *event)
{
    const char *problem = node_problem(event);
    return problem != NULL || event->type == YAML_SCALAR_EVENT ? problem : "a name that is no word";
}

/* Tells of a name that is none, and leaves out what it stands for. */
static void refuse_name(struct walk *walk, const yaml_event_t *event, const char *group, const char *problem)
{
    struct tap_config_entry entry = {
        .group = group, .key = group != NULL ? "?" : NULL, .line = (int)event->start_mark.line + 1, .problem = problem};
    skip_node(walk, event->type);
    if (!walk->is_over)
        tell(walk, &entry);
    skip_next(walk);
}

/* Reads the keys of a group, whose mapping has just begun, up to the mapping's end. */
static void read_keys(struct walk *walk, const char *group)
{
    bool is_end = false;
    yaml_event_t name;
    while (!is_end && next_event(walk, &name)) {
        is_end = name.type == YAML_MAPPING_END_EVENT;
        const char *problem = is_end ? NULL : name_problem(&name);
        if (problem != NULL) {
            refuse_name(walk, &name, group, problem);
        } else if (!is_end) {
            struct tap_config_entry entry = {.group = group, .key = (const char *)name.data.scalar.value};
            read_value(walk, &entry);
        }
        yaml_event_delete(&name);
    }
}

/* A group without keys is "group:" with nothing below, whether or not comments are. */
static bool is_nothing(const yaml_event_t *event)
{
    return event->type == YAML_SCALAR_EVENT && event->data.scalar.length == 0 &&
           event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
}

static void read_group(struct walk *walk, const yaml_event_t *name)
{
    yaml_event_t event;
    if (!next_event(walk, &event))
        return;
    struct tap_config_entry entry = {.group = (const char *)name->data.scalar.value,
                                     .line = (int)name->start_mark.line + 1,
                                     .problem = node_problem(&event)};
    bool is_group = event.type == YAML_MAPPING_START_EVENT;
    if (!is_group && !is_nothing(&event))
        note(&entry, "not a group of keys");
    enum tap_config_next next = tell(walk, &entry);
    if (is_group && next == TAP_CONFIG_GO_ON)
        read_keys(walk, entry.group);
    else
        skip_node(walk, event.type);
    yaml_event_delete(&event);
}

/* Reads the groups of the document, whose mapping has just begun. */
static void read_groups(struct walk *walk)
{
    bool is_end = false;
    yaml_event_t name;
    while (!is_end && next_event(walk, &name)) {
        is_end = name.type == YAML_MAPPING_END_EVENT;
        const char *problem = is_end ? NULL : name_problem(&name);
        if (problem != NULL)
            refuse_name(walk, &name, NULL, problem);
        else if (!is_end)
            read_group(walk, &name);
        yaml_event_delete(&name);
    }
}

/* Reads the document's root, the two levels of a config. */
static void read_root(struct walk *walk)
{
    yaml_event_t event;
    if (!next_event(walk, &event))
        return;
    if (node_problem(&event) != NULL)
        fail(walk, event.start_mark.line, node_problem(&event));
    else if (event.type == YAML_MAPPING_START_EVENT)
        read_groups(walk);
    else if (!is_nothing(&event))
        fail(walk, event.start_mark.line, "not a mapping of groups");
    yaml_event_delete(&event);
}

static void read_single(struct walk *walk)
{
    struct tap_config_entry entry = {0};
    read_value(walk, &entry);
}

/* Tells of a document beyond the first, which is not read. */
static void refuse_document(struct walk *walk, const yaml_event_t *event)
{
    struct tap_config_entry entry = {.line = (int)event->start_mark.line + 1, .problem = "a second document"};
    tell(walk, &entry);
    walk->is_over = true;
}

/* Runs `read` on the one document of a stream; a stream without a document is an empty config. */
static void read_stream(struct walk *walk, void (*read)(struct walk *))
{
    bool is_end = false, was_read = false;
    yaml_event_t event;
    while (!is_end && next_event(walk, &event)) {
        is_end = event.type == YAML_STREAM_END_EVENT;
        if (event.type == YAML_STREAM_START_EVENT && event.data.stream_start.encoding != YAML_UTF8_ENCODING &&
            event.data.stream_start.encoding != YAML_ANY_ENCODING)
            fail(walk, 0, "UTF-16 instead of UTF-8");
        if (event.type == YAML_DOCUMENT_START_EVENT) {
            if (was_read)
                refuse_document(walk, &event);
            else
                read(walk);
            was_read = true;
        }
        yaml_event_delete(&event);
    }
}

static bool walk_over(const char *bytes, size_t n_bytes, void (*read)(struct walk *), tap_config_handler *handler,
                      void *context, struct tap_config_fault *fault)
{
    struct walk walk = {.bytes = bytes, .n_bytes = n_bytes, .handler = handler, .context = context, .fault = fault};
    if (!yaml_parser_initialize(&walk.parser)) {
        fault->is_memory = true;
        return false;
    }
    yaml_parser_set_input_string(&walk.parser, (const unsigned char *)bytes, n_bytes);
    read_stream(&walk, read);
    yaml_parser_delete(&walk.parser);
    fault->is_memory = fault->is_memory || fault->message.out_of_memory;
    return !fault->is_memory && fault->message.n_bytes == 0;
}

bool tap_config_yaml_walk(const char *bytes, size_t n_bytes, tap_config_handler *handler, void *context,
                          struct tap_config_fault *fault)
{
    return walk_over(bytes, n_bytes, read_root, handler, context, fault);
}

bool tap_config_yaml_value(const char *bytes, size_t n_bytes, tap_config_handler *handler, void *context,
                           struct tap_config_fault *fault)
{
    return walk_over(bytes, n_bytes, read_single, handler, context, fault);
}
