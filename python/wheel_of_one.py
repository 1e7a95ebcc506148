# SPDX-License-Identifier: MIT
"""Builds the wheel of this one pure module (PEP 517) with the standard library alone, so that pip needs
neither setuptools nor a network for it. What pyproject.toml says of the project is said here once more,
because Python before 3.11 cannot read it."""
import base64
import hashlib
import os
import zipfile

NAME, VERSION = "inkmark", "0.1.0"
METADATA = f"""Metadata-Version: 2.1
Name: {NAME}
Version: {VERSION}
Summary: inkmark captures as NumPy arrays: a thin binding of libinkmark
License: MIT
Requires-Python: >=3.8
Requires-Dist: numpy>=1.24
"""
WHEEL = "Wheel-Version: 1.0\nGenerator: wheel_of_one\nRoot-Is-Purelib: true\nTag: py3-none-any\n"


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    """Writes the wheel into the folder; returns its name."""
    info, here = f"{NAME}-{VERSION}.dist-info", os.path.dirname(os.path.abspath(__file__))
    files = {f"{info}/METADATA": METADATA.encode(), f"{info}/WHEEL": WHEEL.encode()}
    for name in sorted(os.listdir(os.path.join(here, NAME))):
        if name.endswith((".py", ".typed")):
            with open(os.path.join(here, NAME, name), "rb") as file:
                files[f"{NAME}/{name}"] = file.read()
    record = ""
    for name, data in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        record += f"{name},sha256={digest},{len(data)}\n"
    files[f"{info}/RECORD"] = (record + f"{info}/RECORD,,\n").encode()
    wheel = f"{NAME}-{VERSION}-py3-none-any.whl"
    with zipfile.ZipFile(os.path.join(wheel_directory, wheel), "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(zipfile.ZipInfo(name), data)
    return wheel


def build_sdist(sdist_directory, config_settings=None):
    """pip asks for none when it installs a folder."""
    raise NotImplementedError("build a wheel: pip wheel .")
