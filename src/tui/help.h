/* SPDX-License-Identifier: BSD-2-Clause */
/* What `?` shows. */
#ifndef TUI_HELP_H
#define TUI_HELP_H

static const char tui_help[] =
	"Moving\n"
	"  up, down, j, k         one line          PgUp, PgDn, Ctrl-B, Ctrl-F   a page\n"
	"  Home, End, g, G        first, last line  left, right                  sideways; fold\n"
	"  /TEXT  n  N            search, next, previous\n"
	"\n"
	"Views\n"
	"  p   table of procedures; again: images, commands, cgroups, addresses\n"
	"  t   tree, from the root down             u   tree, up to callers\n"
	"  c   callers of the procedure, then c: what it called\n"
	"  Enter   source lines and instructions of the procedure; then a: which of them\n"
	"  d   what changed: since the second before, or against another set\n"
	"  o   open what is stored: a recording, a database; Enter alone: the newest\n"
	"  Escape, Backspace   back to the view before\n"
	"\n"
	"In a view\n"
	"  s   sort by the next column, exclusive or inclusive\n"
	"  right, +, Space   unfold the row         left, -   fold it\n"
	"  E   unfold all                           C   fold all\n"
	"  z   hold still, and go on (live)         Ctrl-L   draw the screen anew\n"
	"  ?   this text                            q   end\n";

#endif
