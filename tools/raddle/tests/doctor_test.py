# SPDX-License-Identifier: Apache-2.0
"""doctor_test.py CASE PROGRAM: each finding of `raddle doctor`, on a machine that is made up with
environment variables and a folder in place of /dev, /sys and /proc."""
import glob
import json
import os
import re
import shutil
import subprocess

from harness import check, main, run, skip, write

NOBODY = 65534


def installed(name):
    """The text of the .icd file of a driver of this machine."""
    for path in glob.glob("/etc/OpenCL/vendors/*.icd"):
        with open(path) as file:
            text = file.read()
        if name in text.lower():
            return text
    for path in glob.glob(f"/usr/lib/{name}/lib{name}-rt-icd.so"):
        return path
    skip(f"the driver {name} is not installed")


def doctor(drivers=(), root="machine", **variables):
    """(exit code, {name: finding}) with these drivers: {file: text} or their texts."""
    shutil.rmtree("vendors", ignore_errors=True)
    os.makedirs("vendors")
    for number, text in enumerate(drivers):
        write("vendors", f"{number}.icd", text)
    os.makedirs(root, exist_ok=True)
    environment = {"OCL_ICD_VENDORS": os.path.abspath("vendors"), "OCL_ICD_FILENAMES": None,
                   "RADDLE_DOCTOR_ROOT": os.path.abspath(root), "RADDLE_DEVICE": None,
                   "POCL_MAX_PTHREAD_COUNT": None, "RUSTICL_ENABLE": None, **variables}
    done = run("doctor", "--json", timeout=280, **environment)
    found = [json.loads(line) for line in done.stdout.splitlines()]
    text = run("doctor", timeout=280, **environment)
    check(text.returncode == done.returncode, text, done)
    for finding in found:
        check(all(finding[part] for part in ("severity", "name", "what", "why", "do")), finding)
        check(f"{finding['severity']}: {finding['what'][:20]}" in text.stdout, finding, text)
    severities = {f["severity"] for f in found}
    check(severities <= {"error", "warning", "info"}, severities)
    worst = 1 if "error" in severities else 3 if "warning" in severities else 0
    check(done.returncode == worst and text.stdout.startswith("Nothing is wrong.\n") == (worst == 0), done, text)
    return done.returncode, {f["name"]: f for f in found}


def case_well():
    found = doctor([installed("pocl")])[1]
    # A machine that was busy when it was probed may have run fewer work-groups at once.
    check(found.keys() <= {"residency"}, found)


def case_loader():
    write("lib", "libOpenCL.so.1", "no library")
    code, found = doctor(LD_LIBRARY_PATH=os.path.abspath("lib"))
    check(code == 1 and "libOpenCL.so.1" in found["loader"]["what"], found)
    check("apt install" in found["loader"]["do"] and "drivers" not in found, found)


def case_drivers():
    code, found = doctor()
    check(code == 1 and "vendors" in found["drivers"]["what"], found)
    code, found = doctor(OCL_ICD_VENDORS=os.path.abspath("nowhere"))
    check("nowhere" in found["drivers"]["what"], found)
    code, found = doctor(["libno-such-driver.so.1\n"])
    check(code == 1 and "libno-such-driver.so.1" in found["driver-library"]["what"], found)
    check("0.icd" in found["driver-library"]["do"] and "drivers" not in found, found)
    one = os.path.abspath(write("lib", "one.icd", "libone.so"))
    code, found = doctor(OCL_ICD_VENDORS=one)
    check("libone.so" in found["driver-library"]["what"], found)
    os.symlink("nowhere", "lib/gone.icd")
    code, found = doctor(OCL_ICD_VENDORS=os.path.abspath("lib/gone.icd"))
    check("gone.icd" in found["driver-file"]["what"], found)


def case_crash():
    """A driver that ends the program that loads it does not end the doctor."""
    compiler = shutil.which("cc") or skip("no C compiler is installed")
    write(".", "bad.c", "#include <stdlib.h>\n__attribute__((constructor)) static void f(void) { abort(); }\n")
    subprocess.run([compiler, "-shared", "-fPIC", "-o", "libbad.so", "bad.c"], check=True)
    code, found = doctor([os.path.abspath("libbad.so") + "\n"])
    check(code == 1 and "crashed (SIGABRT)" in found["driver-crashes"]["what"], found)
    check("crashed (SIGABRT)" in found["drivers-crash"]["what"], found)


def card(root, vendor, kind):
    folder = os.path.join(root, "sys/bus/pci/devices/0000:01:00.0")
    write(folder, "vendor", vendor + "\n")
    write(folder, "class", kind + "\n")


def case_gpu():
    for vendor, name, library in (("0x10de", "NVIDIA", "libnvidia-opencl.so.1"), ("0x1002", "AMD", "libamdocl64.so"),
                                  ("0x8086", "Intel", "/usr/lib/libigdrcl.so")):
        card(name, vendor, "0x030200")
        code, found = doctor(root=name)
        check(code == 1 and name in found["gpu-driver"]["what"], found)
        check((library in found["gpu-driver"]["do"]) == (name == "NVIDIA"), found)
        check("gpu-driver" not in doctor([library], root=name)[1], "its driver is there", found)
        card(name, vendor, "0x020000")
        check("gpu-driver" not in doctor(root=name)[1], "a network card", found)
    write("machine/proc/driver/nvidia", "version", "NVRM version: 580\n")
    check("NVIDIA" in doctor()[1]["gpu-driver"]["what"], "the kernel's driver is loaded")


def case_nodes():
    nodes = ("dri/renderD128", "kfd", "nvidia0", "nvidiactl", "nvidia-uvm")
    for node in nodes:
        os.chmod(write("machine/dev", node, ""), 0)
    os.chmod(".", 0o755)
    user = NOBODY if os.geteuid() == 0 else None
    variables = {"RADDLE_DOCTOR_ROOT": os.path.abspath("machine"), "OCL_ICD_VENDORS": os.path.abspath("machine")}
    try:
        done = run("doctor", "--json", user=user, XDG_CACHE_HOME="/nowhere", **variables)
    except PermissionError:
        skip("the program cannot be run by another user than root")
    found = [json.loads(line) for line in done.stdout.splitlines()]
    for node in nodes:
        check(any(f["name"] == "device-permission" and f["what"].endswith(node) for f in found), node, done)
    check(any(f["name"] == "cache" and "/nowhere/raddle cannot be written to" in f["what"] for f in found), done)
    for node in nodes:
        os.chmod(os.path.join("machine/dev", node), 0o666)
    check("device-permission" not in doctor()[1], "they may be used")


def case_empty():
    icd = installed("rusticl")
    code, found = doctor([icd])
    check(found["platform-empty"]["severity"] == "warning", found)
    check("RUSTICL_ENABLE" in found["platform-empty"]["do"], found)


def case_spare():
    """What nobody needs beside the device that is used is information."""
    pocl, empty, slow = installed("pocl"), installed("rusticl"), installed("oclgrind")
    code, found = doctor([pocl, empty])
    check(found["platform-empty"]["severity"] == "info" and code == (3 if "residency" in found else 0), code, found)
    for chosen, severity in (("opencl:pocl", "info"), ("host", "info"), ("opencl:oclgrind", "warning")):
        found = doctor([pocl, empty, slow], RADDLE_DEVICE=chosen)[1]
        check(found["driver-bad"]["severity"] == found["platform-empty"]["severity"] == severity, chosen, found)
    for drivers in ([empty, slow], [empty]):
        code, found = doctor(drivers)
        check(code == 3 and found["platform-empty"]["severity"] == "warning", found)


def case_threads():
    icd = installed("pocl")
    cores = os.cpu_count()
    code, found = doctor([icd], POCL_MAX_PTHREAD_COUNT=str(cores + 3))
    check(code == 3 and f"{cores + 3} threads" in found["pocl-threads"]["what"], found)
    check("take turns" in found["pocl-threads"]["why"], found)
    if cores > 1:
        code, found = doctor([icd], POCL_MAX_PTHREAD_COUNT="1")
        check("idle" in found["pocl-threads"]["why"], found)


def case_limits():
    """What probes tell of a device, and what is known of its driver."""
    code, found = doctor([installed("rusticl")], RUSTICL_ENABLE="llvmpipe")
    if "platform-empty" in found:
        skip("this rusticl has no llvmpipe")
    check(re.search("after 655[23][0-9] turns", found["loop-budget"]["what"]), found)
    check("llvmpipe" in found["driver-bad"]["what"], found)
    check("at once" in found["residency"]["what"], found)


def case_oclgrind():
    code, found = doctor([installed("oclgrind")])
    check("Oclgrind" in found["driver-bad"]["what"], found)


def case_compiler():
    os.mkdir("empty")
    none = {"PATH": os.path.abspath("empty"), "CC": None, "RADDLE_CC": None}
    code, found = doctor(**none)
    check(code == 1 and found["compiler"]["severity"] == "error", found)
    check("no other device" in found["compiler"]["why"], found)
    code, found = doctor(RADDLE_CC="no-such-compiler")
    check("RADDLE_CC=no-such-compiler" in found["compiler"]["what"], found)
    code, found = doctor(RADDLE_CC="false")
    check("false" in found["compiler-broken"]["what"], found)
    code, found = doctor()
    check(not {"compiler", "compiler-broken"} & found.keys(), found)
    code, found = doctor([installed("pocl")], **none)
    check(code == 3 and found["compiler"]["severity"] == "warning", found)


def case_cache():
    code, found = doctor(XDG_CACHE_HOME=None, HOME=None)
    check("neither XDG_CACHE_HOME nor HOME" in found["cache"]["what"], found)
    path = os.path.abspath(write(".", "file", ""))
    check("is a file" in doctor(XDG_CACHE_HOME=path)[1]["cache"]["what"], "a file")
    os.makedirs("home/.cache/raddle")
    home = os.path.abspath("home")
    check("cache" not in doctor(XDG_CACHE_HOME=None, HOME=home)[1], "a good one")
    check("cache" not in doctor(XDG_CACHE_HOME=None, HOME=home + "/new")[1], "one to be made")
    os.chmod("home/.cache/raddle", 0o777)
    found = doctor(XDG_CACHE_HOME=None, HOME=home)[1]
    check("mode 777" in found["cache"]["what"], found)
    if os.geteuid() == 0:
        os.chmod("home/.cache/raddle", 0o700)
        os.chown("home/.cache/raddle", NOBODY, NOBODY)
        found = doctor(XDG_CACHE_HOME=None, HOME=home)[1]
        check(f"belongs to user {NOBODY}" in found["cache"]["what"], found)


def case_choice():
    code, found = doctor(RADDLE_DEVICE="abacus")
    check(code == 1 and "abacus" in found["device-choice"]["what"], found)
    check("device-choice" not in doctor(RADDLE_DEVICE="host")[1], "host is there")


main(globals())
