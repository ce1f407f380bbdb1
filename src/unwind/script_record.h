/* SPDX-License-Identifier: BSD-2-Clause */
/* What the walker tells of an interpreter's code when it first meets it: everything a reader will
 * be shown, taken at the time of the sample, since the object may be gone a moment later.  Included
 * by both compilers; only fixed-size types. */
#ifndef UNWIND_SCRIPT_RECORD_H
#define UNWIND_SCRIPT_RECORD_H

enum script_what {
	SCRIPT_FUNCTION,
	SCRIPT_SOURCE, /* a piece of a script's text is in `lines` */
	SCRIPT_LABELS, /* a goroutine's, in `lines`: go_labels_state.h; first_line: how many it has */
};

#define SCRIPT_TEXT_BYTES 256
#define SCRIPT_LINE_BYTES 4096
#define SCRIPT_TEXT_UTF8  3

/* A string as the interpreter has it. */
struct script_text {
	unsigned int n_bytes;  /* of those in `words` */
	unsigned short kind;   /* bytes a character: 1 (Latin-1), 2 or 4; SCRIPT_TEXT_UTF8 */
	unsigned short is_cut; /* it is longer */
	unsigned long long words[SCRIPT_TEXT_BYTES / 8]; /* zeros behind it */
};

/* Which text of a record. */
enum script_part { SCRIPT_FILE, SCRIPT_NAME, SCRIPT_MORE };

/* What is sent ends behind n_line_bytes of `lines`. */
struct script_record {
	unsigned long long number; /* as in FRAME_SCRIPT; SCRIPT_SOURCE: the source's */
	unsigned long long source; /* number of the source that it is in; 0: not known */
	unsigned int what;	   /* enum script_what */
	unsigned int interpreter;  /* enum interpreter */
	unsigned int first_line;   /* V8: the character it begins at, and 1; SCRIPT_SOURCE: which
				    * piece of SCRIPT_LINE_BYTES this is */
	unsigned int n_line_bytes;
	unsigned int
		lines_cut; /* not all of the table is there; SCRIPT_SOURCE: bytes a character */
	unsigned int spare;
	/* The name goes on with `more`.  HotSpot: class, method, source file. */
	union {
		struct {
			struct script_text file, name, more;
		};
		struct script_text texts[3]; /* by enum script_part */
	};
	unsigned char lines[SCRIPT_LINE_BYTES]; /* the table of lines: python_lines.h */
};

#endif
