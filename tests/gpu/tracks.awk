# SPDX-License-Identifier: MIT
# From `inkmark export --format csv` to what must be the same on every device: a line for each track,
# with the kinds, sections, rows and payloads of its records in their order. Cycles, ns, SMs and the
# order of launches are left out; the caller sorts the lines.
BEGIN { FS = "," }
NR == 1 {
  for (i = 1; i <= NF; i++)
    at[$i] = i
  wanted = "launch kernel block thread section kind iteration called value"
  n = split(wanted, names, " ")
  for (i = 1; i <= n; i++)
    if (!(names[i] in at)) {
      print "no column '" names[i] "'" > "/dev/stderr"
      failed = 1
      exit 1
    }
  next
}
{
  key = $at["launch"] "," $at["block"] "," $at["thread"]
  if (!(key in tracks)) {
    order[++count] = key
    tracks[key] = $at["kernel"] " block " $at["block"] " thread " $at["thread"] ":"
  }
  tracks[key] = tracks[key] " " $at["kind"] "/" $at["section"] "/" $at["iteration"] "/" \
                $at["called"] "/" $at["value"]
}
END {
  if (failed)
    exit 1
  for (i = 1; i <= count; i++)
    print tracks[order[i]]
}
