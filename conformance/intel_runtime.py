# SPDX-License-Identifier: Apache-2.0
"""intel_runtime.py FOLDER: Intel's OpenCL runtime for processors, from PyPI, into FOLDER.

FOLDER/intel.icd is there when all of it is, and tells the OpenCL loader where it lies. The runtime
is not free software: to download it is to accept Intel's licences, which come to FOLDER/licences.
Nothing of it may be passed on.
"""
import pathlib
import subprocess
import sys
import tempfile
import zipfile

# What the first needs, spelled out: pip would also bring what only other programs use.
PACKAGES = ("intel-opencl-rt==2026.2.0", "intel-cmplr-lib-rt==2026.2.0", "tbb==2023.2.0",
            "tcmlib==1.6.0")
# A loader of its own, a linker plugin and tools for tracing.
NOT_WANTED = ("libOpenCL", "icx-lto", "libxptifw", "libze_trace", "libtcm_debug")


def unpack(wheel, folder):
    with zipfile.ZipFile(wheel) as archive:
        for member in archive.infolist():
            name = member.filename.rsplit("/", 1)[-1]
            if ".data/data/lib/" in member.filename and not name.startswith(NOT_WANTED):
                target = folder / name
            elif member.filename.endswith(".dist-info/LICENSE.txt"):
                target = folder / "licences" / (member.filename.split("/")[0] + ".txt")
            else:
                continue
            target.parent.mkdir(exist_ok=True)
            target.write_bytes(archive.read(member))


def main(folder):
    icd = folder / "intel.icd"
    if icd.exists():
        return
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder) as wheels:
        subprocess.run([sys.executable, "-m", "pip", "download", "--quiet", "--no-deps",
                        "--only-binary", ":all:", "--disable-pip-version-check", "--no-cache-dir",
                        "--dest", wheels, *PACKAGES], check=True)
        for wheel in pathlib.Path(wheels).glob("*.whl"):
            unpack(wheel, folder)
    icd.write_text(f"{folder / 'libintelocl.so'}\n", encoding="utf-8")


main(pathlib.Path(sys.argv[1]).resolve())
