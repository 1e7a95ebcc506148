/* SPDX-License-Identifier: MIT */
/* report_page.html as a string; embed_text.cmake makes it at build time. */
#ifndef INK_REPORT_PAGE_H
#define INK_REPORT_PAGE_H

extern const unsigned char ink_report_page[]; /* ends with a zero byte */

#endif
