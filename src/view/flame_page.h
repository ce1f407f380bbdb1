/* SPDX-License-Identifier: BSD-2-Clause */
/* The parts of the page that a flame graph is, from src/web/ui: made into C by tools/embed. */
#ifndef VIEW_FLAME_PAGE_H
#define VIEW_FLAME_PAGE_H

extern const char flame_page_body[];   /* what is between the style and the data */
extern const char flame_page_style[];  /* CSS */
extern const char flame_page_script[]; /* one script, bundled */

#endif
