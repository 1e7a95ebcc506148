/* SPDX-License-Identifier: MIT */
#ifndef INKMARK_TESTS_MAKE_ACTIVITY_H
#define INKMARK_TESTS_MAKE_ACTIVITY_H

void make_activity(const char *path);

#endif
