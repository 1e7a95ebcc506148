// SPDX-License-Identifier: MIT
// What --lines meets in a kernel: heads and bodies of every form, several statements of one line, texts that are cut off inside of a
// character, and what cannot be marked.
#define TWICE(x) ((x) * 2)
#define LOOP for (int m = 0; m < 3; m++)
#define BODY { a += 1; }
struct pair { int first, second; };
__device__ void take(const char *text, int n);
__global__ void statements(int *p, int n) {
  int a = n, b = TWICE(n), c;
  pair d; pair e = {1, 2}; c = a + b;
  p[0] = a; p[1] = b; p[2] = c;
  if (a > b)
    p[3] = 1;
  else if (a < c)
    p[3] = 2;
  else
    p[3] = 3;
  if (a == 4) { p[4] = 4; } else { p[4] = 5; p[5] = 6; }
  if (int f = n & 3) p[6] = f; else p[6] = -f;
  for (int i = 0; i < n; i++)
    p[i] += i;
  for (int i = 0, j = 1; i < n; i++, j--) { p[i] = j; a += p[i]; }
  for (;;) { if (a++ > n) break; continue; }
  for (int v : {1, 2, 3}) a += v;
  while (a > 0) a--;
  while (a < 3) { a++; b--; }
  do { c++; } while (c < n);
  do c--; while (c > 0);
  switch (n) { case 1: a = 2; break; case 2: { b = 3; } default: c = 4; }
  LOOP a += m;
  for (int i = 0; i < 2; i++) BODY
  if (n) BODY else TWICE(a);
#pragma unroll
  for (int i = 0; i < 4; i++) p[i] *= 2;
#pragma unroll 1
  for (int i = 0; i < 4; i++) { p[i] *= 3; }
  for (int i = 0; i < n; i++)
#if defined(OTHER)
    p[i] = 1;
#else
    p[i] = 2;
#endif
  for (int i = 0; i < n; i++) {
#ifdef OTHER
  }
#else
    p[i]++;
  }
#endif
  if (n > 7)
#ifdef OTHER
    p[8] = 1;
#endif
  p[9] = 2;
  asm volatile("membar.gl;");
  asm volatile("mov.u32 %0, %1;" : "=r"(a) : "r"(b));
  auto f = [&](int x) { p[x] = x; return x; };
  { int g = f(1); { p[10] = g; } ; }
  for (int i = 0; i < n; i++) for (int j = 0; j < i; j++) if (i > j) p[i] = j; else { p[j] = i; }
  goto end;
  a = b   +  c	* 4 ;
  e.first = a ?
    b
    : c;
  take("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", 1);
  take("12345678901234567890123456789012345é", 2);
  take("123456789012345678901234567890123456é", 2);
  take("1234567890123456789012345678901234567é", 2);
  take("1234567890123456789012345678901234€", 3);
  take("12345678901234567890123456789012345€", 3);
  take("123456789012345678901234567890123456€", 3);
  take("1234567890123456789012345678901234567€", 3);
  take("123456789012345678901234567890123𝄞", 4);
  take("1234567890123456789012345678901234𝄞", 4);
  take("12345678901234567890123456789012345𝄞", 4);
  take("123456789012345678901234567890123456𝄞", 4);
  take("1234567890123456789012345678901234567𝄞", 4);
end:
  return;
}
