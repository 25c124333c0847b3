"""Writes numpy_stored.npz and numpy_compressed.npz beside this file: arrays of every kind that an .npz of NumPy's own
can hold, for tests/model/test_npz_numpy.c. NumPy 1.24.2; the time stamps in NumPy's archives are fixed, so a second run
gives the same bytes."""

import os
import zipfile

import numpy as np

here = os.path.dirname(os.path.abspath(__file__))
count = np.arange(6, dtype=np.float64) + 1

arrays = {
    "f4": (count / 4).astype("<f4").reshape(2, 3),
    "f4_big": (count / 4).astype(">f4").reshape(2, 3),
    "f8": (count / 4).astype("<f8").reshape(2, 3),
    "f8_big": (count / 4).astype(">f8").reshape(2, 3),
    "fortran": np.asfortranarray((count / 4).astype("<f4").reshape(2, 3)),
    "fortran_3d": np.asfortranarray((np.arange(24) / 4).astype(">f8").reshape(2, 3, 4)),
    "scalar": np.float32(0.25),
    "empty": np.zeros((0, 3), dtype="<f4"),
    "specials": np.array([np.nan, np.inf, -np.inf, -0.0, 1e-45], dtype="<f4"),
    "too_large": np.array([1e300]),
    "ramp": (np.arange(500) % 10).astype("<f4"),
    "encoder.layers.0.linear1.weight": np.eye(3, dtype="<f4"),
    "half": count.astype("<f2"),
    "int64": np.arange(6),
    "int8": np.arange(6, dtype=np.int8),
    "flags": np.array([True, False]),
    "complex": np.array([1j]),
    "text": np.array(["a", "bc"]),
    "objects": np.array([None, "x"], dtype=object),
    "structured": np.array([(1, 2.0)], dtype=[("a, [", "<i4"), ("b", "<f4", (2,))]),
}
np.savez(os.path.join(here, "numpy_stored.npz"), **arrays)
np.savez_compressed(os.path.join(here, "numpy_compressed.npz"), **arrays)

# The same through a stream that cannot seek: sizes in descriptors behind the data. Versions 2.0 and 3.0 of the header.
class OneWay:
    def __init__(self, file):
        self.file = file

    def write(self, data):
        return self.file.write(data)

    def flush(self):
        self.file.flush()


with open(os.path.join(here, "numpy_streamed.npz"), "wb") as file:
    with zipfile.ZipFile(OneWay(file), "w") as archive:
        for number, (name, method, version, zip64) in enumerate([
            ("v1", zipfile.ZIP_STORED, (1, 0), False),
            ("v2", zipfile.ZIP_DEFLATED, (2, 0), False),
            ("v3", zipfile.ZIP_STORED, (3, 0), True),
            ("v3_deflated", zipfile.ZIP_DEFLATED, (3, 0), True),
        ]):
            info = zipfile.ZipInfo(name + ".npy")
            info.compress_type = method
            with archive.open(info, "w", force_zip64=zip64) as member:
                np.lib.format.write_array(member, arrays["f4"] + number, version=version)
