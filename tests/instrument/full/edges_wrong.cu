// SPDX-License-Identifier: MIT
// Comments that ask for what cannot be done, at the edge of what is understood. exact.txt has what is said of them.
__device__ float heavy(float x, int n) { for (int i = 0; i < n; i++) x = x * 3 + i; return x; }
__global__ void comments(float *p, int n) { // prof:loop before
  float x = p[0];
  for (int i = 0; i < n; i++) { /*prof:loop A*/ x = heavy(x, n); }
  for (int i = 0; i < n; i++) { //prof: loop B   
    x = heavy(x, n); }
  for (int i = 0; i < n; i++) { /* prof:  iteration  i */ x = heavy(x, n); }
  for (int i = 0; i < n; i++) /* prof: loop C */ { x = heavy(x, n); }
  for (int i = 0; i < n; i++) { /* prof: loop */ x = heavy(x, n); }
  /* prof: mark a1234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456 */
  /* prof: mark b12345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345 */
  /* prof: fifteen_letters x */
  /* prof: sixteen_letters_ x */
  /* prof: */
  /* prof:*/
  /*prof:*/
  /**/
  // prof
  //prof:m
  /* profile: mark D */
  /* prof: mark	E	 */
  x += 1; /* prof: mark F */ x += 2; // prof: mark 3
  // prof: mark G (x)
  // prof: begin H
  x = heavy(x, n);
  // prof: end
  x += 1; // prof: end H
  // prof: begin H
  x = heavy(x, n);
  // prof: end H
  p[0] = x;
}
__global__ void more(float *p, int n) {
  float x = p[0]; /* prof: begin A */
  for (int i = 0; i < n; i++) { /* prof: loop A */ /* prof: loop B */ x = heavy(x, i); /* prof: iteration */ }
  if (n) { /* prof: iteration n */ x = 1; /* prof: end A */ }
  x = /* prof: mark C */ 2; f(x /* prof: mark D */); { } /* prof: end */ /* prof: begin */
  /* prof: loop E */ x += 1; /* prof: off 3 */ /* prof: marks F */ /* prof: mark 1F */ /* prof: mark F G */ /* prof: mark "F" */
  switch (n) { /* prof: mark H */ case 1: /* prof: begin I */ x = 2; break; case 2: x = 3; /* prof: end I */ }
  for (int i = 0; i < n; i++) /* prof: loop J */ x = heavy(x, i);
  for (int i = 0; /* prof: mark K */ i < n; i++) ;
  /* prof: begin L */ return; /* prof: end L */
} /* prof: end M */
// prof: mark N
__device__ float called(float x, int n) { /* prof: begin O */ if (n) return x; /* prof: end O */ for (;;) { /* prof: begin P */ if (n) break; /* prof: end P */ } return heavy(x, n); /* prof: mark Q */ }
