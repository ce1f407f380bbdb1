/* SPDX-License-Identifier: BSD-2-Clause */
/* Where PHP keeps its frames; see php.h.  Included by both compilers. */
#ifndef UNWIND_PHP_STATE_H
#define UNWIND_PHP_STATE_H

#include "unwind/python_state.h"

/* Where things are, in bytes.  The size of executor_globals, which a file tells, must be near this
 * one (resolve/interpreter_php.c). */
struct php_layout {
	__u16 globals_bytes; /* of executor_globals */
	__u16 current;	     /* of them: current_execute_data */
	__u8 opcodes, file;  /* of a zend_op_array */
	__u8 first_line;
	__u8 function_words; /* that are read of it */
};

/* A power of two.  A table of 32 bytes would go to a section that libbpf does not take. */
#define PHP_N_LAYOUTS 8

static const struct php_layout php_layouts[PHP_N_LAYOUTS] = {
	[INTERPRETER_PHP_7_4 - INTERPRETER_PHP_FIRST] = {1664, 488, 64, 136, 144, 19},
	[INTERPRETER_PHP_8_2 - INTERPRETER_PHP_FIRST] = {1800, 488, 88, 152, 160, 21},
	[INTERPRETER_PHP_8_4 - INTERPRETER_PHP_FIRST] = {1984, 488, 104, 168, 176, 23},
};

#define PHP_LAYOUT(interpreter)                                                                    \
	(&php_layouts[INTERPRETER_LAYOUT((interpreter)-INTERPRETER_PHP_FIRST, PHP_N_LAYOUTS)])

/* What all these versions share: Zend/zend_compile.h, zend_types.h, zend.h. */
#define PHP_FRAME_WORDS	 7 /* of a zend_execute_data: opline, func, This, prev_execute_data */
#define PHP_FRAME_OPLINE 0
#define PHP_FRAME_FUNC	 3
#define PHP_FRAME_INFO	 5
#define PHP_FRAME_PREV	 6
#define PHP_CALL_TOP	 (1u << 17)
#define PHP_NAME	 1 /* words of a zend_function */
#define PHP_SCOPE	 2
#define PHP_INTERNAL	 1 /* its type */
#define PHP_CLASS_NAME	 8 /* of a zend_class_entry */
#define PHP_OPLINE_BYTES 32
#define PHP_OPLINE_LINE	 24
#define PHP_STRING_HASH	 8  /* of a zend_string; 0: not reckoned yet */
#define PHP_STRING_TEXT	 24 /* of a zend_string; its length is the word before */
#define PHP_BRIEF	 48 /* bytes of a string that are looked at */

#endif
