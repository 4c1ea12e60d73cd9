"""The files of a workdir as one solution: a Python text that holds them, writes them out, builds and imports them.

So a solution of many files travels the same line as one of one file: what is on record is the text that ran.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePosixPath

from kbench.extract import detect_language
from kbench.types import Solution

MODEL = "model_new.py"
COMPILED = (".cu", ".cpp", ".cc", ".c")
HEADER = '''"""A solution of several files, packed: {names}."""

FILES = {{}}
'''
# The library's name carries a hash of its sources: it is built once, and loaded from then on without ninja.
FOOTER = '''

def _load():
    """Writes the files out, builds and imports cuda_extension where there is something to build, then model_new."""
    import hashlib
    import importlib.util
    import os
    import pathlib
    import sys

    folder = pathlib.Path(os.environ["TORCH_EXTENSIONS_DIR"], "workdir")
    for name, text in FILES.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists() or path.read_text() != text:
            path.write_text(text)
    sys.path.insert(0, str(folder))

    def imported(name, path):
        specification = importlib.util.spec_from_file_location(name, path)
        module = importlib.util.module_from_spec(specification)
        sys.modules[name] = module
        specification.loader.exec_module(module)
        return module

    sources = [str(folder / name) for name in FILES if name.endswith((".cu", ".cpp", ".cc", ".c"))]
    if sources:
        key = hashlib.sha256(repr(sorted(FILES.items())).encode()).hexdigest()[:16]
        place = folder / "built" / key
        library = place / "cuda_extension.so"
        if not library.exists():
            from torch.utils import cpp_extension

            place.mkdir(parents=True, exist_ok=True)
            cuda = any(name.endswith(".cu") for name in sources)
            cpp_extension.load(
                name="cuda_extension", sources=sources, extra_include_paths=[str(folder), str(folder / "kernels")],
                extra_cflags=["-O3", "-std=c++17", "-march=native", "-fopenmp"], extra_cuda_cflags=["-O3"],
                extra_ldflags=["-fopenmp"], with_cuda=cuda, build_directory=str(place),
            )
        imported("cuda_extension", library)
    return imported("model_new", folder / "model_new.py").ModelNew


ModelNew = _load()
'''


def pack(files: Mapping[str, str], origin: str) -> Solution:
    """model_new.py alone is the solution as it stands; with other files, they are packed together."""
    if set(files) == {MODEL}:
        source = files[MODEL]
    else:
        body = "".join(f"FILES[{name!r}] = {literal(files[name])}\n" for name in sorted(files))
        source = HEADER.format(names=", ".join(sorted(files))) + body + FOOTER
    return Solution(source, origin, detect_language(source))


def literal(text: str) -> str:
    """A Python literal of exactly this text, as readable as it can be."""
    plain = "'''" not in text and not text.endswith(("'", "\\")) and "\r" not in text
    return f"r'''{text}'''" if plain and "\0" not in text else repr(text)


def is_source(name: str) -> bool:
    """Whether a file of the workdir belongs to the solution: kernels, headers, and Python beside model_new.py."""
    path = PurePosixPath(name)
    return path.suffix in (*COMPILED, ".cuh", ".h", ".hpp", ".inl", ".py") and not name.startswith("utils/")
