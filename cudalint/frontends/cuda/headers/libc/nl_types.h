#ifndef CUDALINT_LIBC_NL_TYPES_H
#define CUDALINT_LIBC_NL_TYPES_H
#include <features.h>
CUDALINT_C
typedef void *nl_catd;
typedef int nl_item;
#define NL_CAT_LOCALE 1
nl_catd catopen(const char *name, int flag);
char *catgets(nl_catd catalog, int set, int message, const char *fallback);
int catclose(nl_catd catalog);
CUDALINT_END_C
#endif
