# SPDX-License-Identifier: MIT
"""`inkmark selftest` on simulated devices: a sound one passes and its page is kept and put into captures;
each thing that is odd or wrong is said to be so. selftest.py INKMARK SELFTEST_PROGRAM MARKED_PROGRAM [no-cupti]
no-cupti: the simulated device was built without its CUPTI; what that would tell is not known then. Without this word
five of the 29 checks fail on such a build, all for that one reason: the three sound devices, the device with wrong
numbers and the two devices each have their whole list of verdicts compared, and "grid ids of CUPTI" is 'not known'."""
import json
import os
import subprocess
import sys
import tempfile

inkmark, selftest, marked = sys.argv[1:4]
unknown = {"grid ids of CUPTI": "not known"} if sys.argv[4:] == ["no-cupti"] else {}
sound = "not known" if unknown else "ok"
failures = []
checks = 0


def check(holds, text):
    global checks
    checks += 1
    if not holds:
        failures.append(text)
        print("FAILED:", text)


with tempfile.TemporaryDirectory() as folder:
    cache = os.path.join(folder, "cache")
    base = {**os.environ, "XDG_CACHE_HOME": cache}

    def run(*arguments, **environment):
        return subprocess.run([inkmark, *arguments], capture_output=True, text=True, env={**base, **environment})

    def test(*options, **environment):
        done = run("selftest", "--device", "sim", "--format", "json", "--forget", *options, **environment)
        if done.returncode not in (0, 3):
            sys.exit(f"{options} {environment}: {done.returncode} {done.stderr}")
        page = json.loads(done.stdout)
        check(len(page["devices"]) == 1 and page["verdict"] == page["devices"][0]["verdict"], "one device")
        return done.returncode, page["verdict"], {c["check"]: c for c in page["devices"][0]["checks"]}

    def verdicts(found):
        return {name: c["verdict"] for name, c in found.items() if c["verdict"] != "ok"}

    for environment in ({}, {"INKMARK_SIM_SMS": "7", "INKMARK_SIM_TIMER_STEP_NS": "1024"},
                        {"INKMARK_SIM_SKEW_CYCLES": "random:1000000000", "INKMARK_SIM_DRIFT_PPM": "50"}):
        code, verdict, found = test(**environment)
        check(code == 0 and verdict == sound and len(found) == 11 and verdicts(found) == unknown,
              f"{environment}: {code} {verdicts(found)}")
    check("globaltimer step" in found and found["globaltimer step"]["text"].startswith("32 ns"), "the step")
    check(not os.path.exists(cache), "--forget keeps nothing")

    code, verdict, found = test(INKMARK_SIM_TIMER_STEP_NS="1000")
    check(code == 0 and found["globaltimer step"]["verdict"] == "unusual" and
          found["globaltimer step"]["text"].startswith("1000 ns"), f"a step of 1,000 ns: {verdicts(found)}")
    code, verdict, found = test(INKMARK_SIM_RATES="*@1000000=1500000000")
    check(code == 0 and found["clock rate"]["verdict"] == "unusual", f"a rate that changes: {verdicts(found)}")

    def tampered(name, sed):
        path = os.path.join(folder, name)
        with open(path, "w") as script:
            script.write(f"#!/bin/sh\n'{selftest}' | sed '{sed}'\n")
        os.chmod(path, 0o755)
        return test("--program", path)

    code, verdict, found = tampered("wrong", "s/repeated 0/repeated 2/;s/wrong 0/wrong 3/;"
                                    "/Everywhere/s/marks 184320/marks 184321/;/Replayed/s/tracks 768/tracks 770/")
    check(code == 3 and verdict == "WRONG" and verdicts(found) ==
          {**unknown, **{name: "WRONG" for name in ("grid ids", "results", "marks in streams", "marks in a graph")}},
          f"wrong numbers: {code} {verdicts(found)}")
    code, verdict, found = tampered("sms", "s/largest 3/largest 9/")
    check(code == 0 and found["SM ids"]["verdict"] == "unusual", f"SM ids: {verdicts(found)}")

    # several devices, all or one; of GPUs of one model, the page of the worst is kept
    one_wrong = os.path.join(folder, "one_wrong")
    with open(one_wrong, "w") as script:
        script.write(f"#!/bin/sh\n'{selftest}' $1 | sed \"$([ $1 = 1 ] && echo 's/wrong 0/wrong 3/')\"\n")
    os.chmod(one_wrong, 0o755)
    done = run("selftest", "--device", "sim", "--format", "json", "--program", one_wrong, "--keep-capture",
               os.path.join(folder, "kept.ink"), INKMARK_SIM_DEVICES="2")
    page = json.loads(done.stdout)
    check([(d["device"], d["verdict"], len(d["checks"])) for d in page["devices"]] ==
          [(0, sound, 11), (1, "WRONG", 11)] and page["verdict"] == "WRONG" and done.returncode == 3,
          f"two devices: {done.returncode} {done.stdout}")
    for n, name in enumerate(("kept.ink", "kept.ink.1")):
        info = json.loads(run("info", "--format", "json", os.path.join(folder, name)).stdout)
        check([d["device"] for d in info["captures"][0]["devices"]] == [n], f"the capture of device {n}")
    pages = [os.path.join(at, name) for at, _, names in os.walk(cache) for name in names]
    check(len(pages) == 1 and "device 1: " in open(pages[0]).read(), "the page of the worst is kept")
    os.remove(pages[0])
    done = run("selftest", "--device", "sim", "--devices", "1", "--forget", INKMARK_SIM_DEVICES="2")
    check(done.returncode == 0 and done.stdout.count("self-test of") == 1 and "\ndevice 1: " in done.stdout,
          f"the second of two: {done.stdout}")
    done = run("selftest", "--device", "sim", "--devices", "2", "--forget", INKMARK_SIM_DEVICES="2")
    check(done.returncode == 1 and "no such device" in done.stderr, f"the third of two: {done.stderr}")
    done = run("selftest", "--device", "sim", "--devices", "0,1", "--forget")
    check(done.returncode == 2 and "neither all nor a device" in done.stderr, "a list is not taken")

    silent = os.path.join(folder, "silent")
    with open(silent, "w") as script:
        script.write(f"#!/bin/sh\n'{selftest}' >/dev/null\n")
    os.chmod(silent, 0o755)
    done = run("selftest", "--device", "sim", "--program", silent)
    check(done.returncode == 1 and "did not print" in done.stderr, "a program that says nothing")

    # kept, and in the captures from then on
    done = run("selftest", "--device", "sim")
    pages = [os.path.join(at, name) for at, _, names in os.walk(cache) for name in names]
    check(done.returncode == 0 and len(pages) == 1 and open(pages[0]).read() == done.stdout, "kept as printed")
    check("simulated clock" in done.stdout, "labelled")
    capture = os.path.join(folder, "later.ink")
    run("record", "--device", "sim", "-o", capture, "--", marked)
    info = json.loads(run("info", "--format", "json", capture).stdout)
    check(info["captures"][0]["devices"][0]["selftest"] == done.stdout, "in a capture")
    check(done.stdout.split("\n")[0] in run("info", capture).stdout, "in info")
    os.remove(pages[0])
    other = os.path.join(folder, "none.ink")
    run("record", "--device", "sim", "-o", other, "--", marked)
    info = json.loads(run("info", "--format", "json", other).stdout)
    check(info["captures"][0]["devices"][0]["selftest"] is None, "no page, no fact")

print(f"{checks} checks, {len(failures)} failed")
sys.exit(1 if failures or not checks else 0)
