/* SPDX-License-Identifier: BSD-2-Clause */
/* The page of `dwell web`, from src/web/ui: made into C by tools/embed. */
#ifndef WEB_APP_PAGE_H
#define WEB_APP_PAGE_H

extern const char app_page_html[], app_page_style[], app_page_more[], app_page_graph[],
	app_page_icon[], app_page_script[];

#endif
