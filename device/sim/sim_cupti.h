/* SPDX-License-Identifier: MIT */
/* Between the files of the stand-in for CUPTI. */
#ifndef INKMARK_SIM_CUPTI_H
#define INKMARK_SIM_CUPTI_H

#include "observe.h"

#include <cuda.h>
#include <cupti.h>
#include <cupti_pcsampling.h>

#define SIM_EXPORT __attribute__((visibility("default")))

/* The number behind "NAME=" in INKMARK_SIM_CUPTI; -1: not there. */
long sim_cupti_asked_for(const char *name);
/* Calls back whoever asked for that of CUPTI_CB_DOMAIN_RESOURCE. */
void sim_cupti_tell_resource(CUpti_CallbackIdResource id, CUpti_ResourceData *data);

/* A context came: its device runs from here on. A kernel ended. */
void sim_samples_context(int device);
void sim_samples_kernel(const sim_observed *work);

#endif
