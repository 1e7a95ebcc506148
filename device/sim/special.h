/* SPDX-License-Identifier: MIT */
/* Special registers: one table for the parser and for execution. */
#ifndef INKMARK_SIM_SPECIAL_H
#define INKMARK_SIM_SPECIAL_H

#define SIM_SPECIALS(X) \
  X(TID_X, "%tid.x") X(TID_Y, "%tid.y") X(TID_Z, "%tid.z") \
  X(NTID_X, "%ntid.x") X(NTID_Y, "%ntid.y") X(NTID_Z, "%ntid.z") \
  X(CTAID_X, "%ctaid.x") X(CTAID_Y, "%ctaid.y") X(CTAID_Z, "%ctaid.z") \
  X(NCTAID_X, "%nctaid.x") X(NCTAID_Y, "%nctaid.y") X(NCTAID_Z, "%nctaid.z") \
  X(LANEID, "%laneid") X(WARPID, "%warpid") X(NWARPID, "%nwarpid") \
  X(SMID, "%smid") X(NSMID, "%nsmid") X(GRIDID, "%gridid") \
  X(LANEMASK_EQ, "%lanemask_eq") X(LANEMASK_LE, "%lanemask_le") X(LANEMASK_LT, "%lanemask_lt") \
  X(LANEMASK_GE, "%lanemask_ge") X(LANEMASK_GT, "%lanemask_gt") \
  X(CLOCK, "%clock") X(CLOCK_HI, "%clock_hi") X(CLOCK64, "%clock64") \
  X(GLOBALTIMER, "%globaltimer") X(GLOBALTIMER_LO, "%globaltimer_lo") \
  X(GLOBALTIMER_HI, "%globaltimer_hi") \
  X(DYNAMIC_SMEM, "%dynamic_smem_size") X(TOTAL_SMEM, "%total_smem_size") \
  X(AGGR_SMEM, "%aggr_smem_size") \
  X(ENVREG1, "%envreg1") X(ENVREG2, "%envreg2") X(ENVREG_OTHER, "%envreg0") \
  X(GRAPH_EXEC, "%current_graph_exec") X(EXPLICIT_CLUSTER, "%is_explicit_cluster") \
  X(CLUSTERID_X, "%clusterid.x") X(CLUSTERID_Y, "%clusterid.y") X(CLUSTERID_Z, "%clusterid.z") \
  X(NCLUSTERID_X, "%nclusterid.x") X(NCLUSTERID_Y, "%nclusterid.y") \
  X(NCLUSTERID_Z, "%nclusterid.z") \
  X(CLUSTER_CTAID_X, "%cluster_ctaid.x") X(CLUSTER_CTAID_Y, "%cluster_ctaid.y") \
  X(CLUSTER_CTAID_Z, "%cluster_ctaid.z") X(CLUSTER_NCTAID_X, "%cluster_nctaid.x") \
  X(CLUSTER_NCTAID_Y, "%cluster_nctaid.y") X(CLUSTER_NCTAID_Z, "%cluster_nctaid.z") \
  X(CLUSTER_CTARANK, "%cluster_ctarank") X(CLUSTER_NCTARANK, "%cluster_nctarank")

enum sim_special {
#define X(name, text) SIM_SR_##name,
  SIM_SPECIALS(X)
#undef X
  SIM_SR_COUNT
};

#endif
