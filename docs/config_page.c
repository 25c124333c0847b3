/* config_page.c: prints docs/config.md; `make docs/config.md` runs it. */
#include <stdio.h>

#include "config.h"

int main(void)
{
    struct tap_config_text page = {0};
    tap_config_document(&page);
    int status = page.out_of_memory || fputs(page.bytes, stdout) == EOF || fflush(stdout) == EOF;
    tap_config_text_clear(&page);
    return status;
}
