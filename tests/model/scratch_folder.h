/* scratch_folder.h: a folder of a test's own, and what the tests ask about files. */
#ifndef SCRATCH_FOLDER_H
#define SCRATCH_FOLDER_H

#include <stdbool.h>
#include <stddef.h>

/* `name` within the folder, which is made at the first call; good until the fourth call from now. */
const char *scratch_path(const char *name);
void scratch_remove(void); /* the folder and the files in it; a .fini of every suite that uses it */

size_t scratch_n_files(void); /* names in the folder, hidden ones as well */
size_t scratch_n_open(void);  /* open files of this process */
char *scratch_read(const char *path,
                   size_t *out_n); /* all bytes and a zero; free with tap_mem_free; NULL: no such file */
void scratch_write(const char *path, const void *bytes, size_t n);
bool scratch_holds(const char *path, const char *text); /* the file's whole content is `text` */

#endif
