/* SPDX-License-Identifier: MIT */
/* `--with DIR`: the newest trace in a folder of TensorBoard's, and where what is made of it goes. */
#ifndef CLI_EXPORT_FOLDER_H
#define CLI_EXPORT_FOLDER_H

#include <stdbool.h>

typedef struct export_folder {
  char *trace;  /* NULL: `with` is no folder */
  char *output; /* beside it, where TensorBoard shows it */
  char *made;   /* a folder that was made for the output; NULL: none */
} export_folder;

/* False after a message. */
bool export_folder_open(export_folder *folder, const char *with, bool wants_output);
/* A folder that was made and holds nothing is removed. */
void export_folder_close(export_folder *folder);

#endif
