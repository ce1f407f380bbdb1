/* SPDX-License-Identifier: BSD-2-Clause */
/* The parts of the page of a procedure's graph, from src/web/ui: made into C by tools/embed. */
#ifndef VIEW_GRAPH_PAGE_H
#define VIEW_GRAPH_PAGE_H

extern const char graph_page_body[];   /* what is between the style and the data */
extern const char graph_page_style[];  /* CSS of all pages */
extern const char graph_page_more[];   /* CSS of this one, behind it */
extern const char graph_page_script[]; /* one script, bundled */

#endif
