/* SPDX-License-Identifier: BSD-2-Clause */
/* libbpf speaks through a callback; its first warning explains a failure to open or load. */
#ifndef COLLECT_LIBBPF_SAID_H
#define COLLECT_LIBBPF_SAID_H

/* Forgets what was said and listens; call it before opening an object.  Nothing is printed. */
void libbpf_listen(void);

/* The first warning since, without its end of line; "" for none.  Good until libbpf_listen. */
const char *libbpf_said(void);

#endif
