/* A program in C on libcupola.so, by its header alone. */
#include "cupola.h"

#include <stdio.h>
#include <string.h>

#define DEMAND(condition)                                                          \
    do {                                                                           \
        if (!(condition)) {                                                        \
            const char *said = cupola_last_error();                                \
            fprintf(stderr, "line %d: %s (%s)\n", __LINE__, #condition,            \
                    said ? said : "no error");                                     \
            return 1;                                                              \
        }                                                                          \
    } while (0)

int main(void) {
    CupolaUsage usage;
    size_t free_bytes, total_bytes;
    char text[4096];

    DEMAND(cupola_configure(0, (uint64_t)64 << 20, -1) == CUPOLA_OK);
    void *block = cupola_allocate_on(0, 1000, NULL);
    DEMAND(block != NULL);
    DEMAND(cupola_use_on(block, NULL) == CUPOLA_OK);
    void *any = cupola_allocate(0, 2000);
    DEMAND(any != NULL && any != block);
    DEMAND(cupola_usage(0, &usage) == CUPOLA_OK);
    DEMAND(usage.limit == (uint64_t)64 << 20 && usage.live == 3000 && usage.blocks == 2);
    DEMAND(cupola_mem_info(0, &free_bytes, &total_bytes) == CUPOLA_OK);
    DEMAND(free_bytes <= (size_t)64 << 20 && total_bytes > free_bytes);

    size_t size = 0;
    DEMAND(cupola_torch_base_alloc(block, &size) == block && size == 1000);
    cupola_torch_free(block, 1000, 0, NULL);
    DEMAND(cupola_last_error() == NULL);
    DEMAND(cupola_free_on(block, NULL) == CUPOLA_UNKNOWN_POINTER);
    DEMAND(strstr(cupola_last_error(), "no live block") != NULL);
    DEMAND(cupola_free(any) == CUPOLA_OK);

    DEMAND(cupola_torch_segment_alloc((size_t)65 << 20, 0, NULL) == NULL);
    DEMAND(strstr(cupola_last_error(), "limit") != NULL);
    DEMAND(cupola_errors(text, sizeof text) == strlen(text) + 1);
    DEMAND(strstr(text, "no live block") != NULL);
    DEMAND(cupola_errors(text, 8) > 8 && strlen(text) == 7);
    DEMAND(cupola_errors(NULL, 0) > 8);

    CupolaPoolId pool = {1, 2};
    cupola_torch_end_allocate_to_pool(0, pool);
    DEMAND(strstr(cupola_last_error(), "(1, 2)") != NULL);
    DEMAND(cupola_trim(0) == CUPOLA_OK);
    DEMAND(cupola_usage(0, &usage) == CUPOLA_OK);
    DEMAND(usage.live == 0 && usage.mapped == 0 && usage.errors == 3);
    puts("the program is done");
    return 0;
}
