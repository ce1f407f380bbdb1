/* SPDX-License-Identifier: BSD-2-Clause */
/* The parts of the page of time lines, from src/web/ui: made into C by tools/embed. */
#ifndef VIEW_TRACE_PAGE_H
#define VIEW_TRACE_PAGE_H

extern const char trace_page_body[];   /* what is between the style and the data */
extern const char trace_page_style[];  /* CSS */
extern const char trace_page_script[]; /* one script, bundled */

#endif
