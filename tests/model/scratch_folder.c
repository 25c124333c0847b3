/* scratch_folder.c: see scratch_folder.h. */
#include "scratch_folder.h"
#include "mem.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[256];

const char *scratch_path(const char *name)
{
    static char paths[4][PATH_MAX];
    static unsigned n_paths;
    if (folder[0] == '\0') {
        const char *base = getenv("TMPDIR");
        snprintf(folder, sizeof folder, "%s/tapestry-test-XXXXXX", base != NULL && strlen(base) < 200 ? base : "/tmp");
        cr_assert_not_null(mkdtemp(folder));
    }
    char *path = paths[n_paths++ % 4];
    snprintf(path, PATH_MAX, "%s/%s", folder, name);
    return path;
}

static size_t n_entries(const char *path)
{
    DIR *dir = opendir(path);
    size_t n = 0;
    cr_assert_not_null(dir);
    for (struct dirent *entry = readdir(dir); entry != NULL; entry = readdir(dir))
        n += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    closedir(dir);
    return n;
}

void scratch_remove(void)
{
    if (folder[0] == '\0')
        return;
    DIR *dir = opendir(folder);
    for (struct dirent *entry = dir != NULL ? readdir(dir) : NULL; entry != NULL; entry = readdir(dir)) {
        char path[PATH_MAX];
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            remove(path);
    }
    if (dir != NULL)
        closedir(dir);
    rmdir(folder);
    folder[0] = '\0';
}

size_t scratch_n_files(void)
{
    return n_entries(folder);
}

size_t scratch_n_open(void)
{
    return n_entries("/proc/self/fd");
}

char *scratch_read(const char *path, size_t *out_n)
{
    FILE *file = fopen(path, "rb");
    struct stat found;
    if (file == NULL)
        return NULL;
    cr_assert_eq(fstat(fileno(file), &found), 0);
    char *bytes = tap_mem_new((size_t)found.st_size + 1, 1);
    cr_assert_not_null(bytes);
    *out_n = fread(bytes, 1, (size_t)found.st_size, file);
    cr_assert_eq(*out_n, (size_t)found.st_size);
    fclose(file);
    return bytes;
}

void scratch_write(const char *path, const void *bytes, size_t n)
{
    FILE *file = fopen(path, "wb");
    cr_assert_not_null(file);
    cr_assert_eq(fwrite(bytes, 1, n, file), n);
    cr_assert_eq(fclose(file), 0);
}

bool scratch_holds(const char *path, const char *text)
{
    size_t n;
    char *bytes = scratch_read(path, &n);
    bool same = bytes != NULL && n == strlen(text) && memcmp(bytes, text, n) == 0;
    tap_mem_free(bytes);
    return same;
}
