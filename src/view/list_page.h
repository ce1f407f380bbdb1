/* SPDX-License-Identifier: BSD-2-Clause */
/* The parts of the page that a listing is, from src/web/ui: made into C by tools/embed. */
#ifndef VIEW_LIST_PAGE_H
#define VIEW_LIST_PAGE_H

extern const char list_page_body[];   /* what is between the style and the data */
extern const char list_page_style[];  /* CSS of all pages */
extern const char list_page_more[];   /* CSS of this one, behind it */
extern const char list_page_script[]; /* one script, bundled */

#endif
