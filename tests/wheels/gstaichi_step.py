# SPDX-License-Identifier: MIT
# gstaichi makes PTX itself, and has no C++ to mark: that it runs on the simulated device, with the right result.
import gstaichi

gstaichi.init(arch=gstaichi.cuda, device_memory_GB=0.25)
x = gstaichi.field(gstaichi.f32, 32)


@gstaichi.kernel
def step(n: int):
    for i in range(32):
        for k in range(n):
            x[i] = (x[i] * 1.5 + k) ** 2


step(3)
assert (x.to_numpy() == 12.25).all(), x.to_numpy()
assert gstaichi.lang.impl.current_cfg().arch == gstaichi.cuda
print("PASS")
