"""The tree that the tests run in, with its scripts."""

import functools
import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import ironic

ROOT = Path(ironic.__file__).resolve().parent.parent


@functools.cache
def tool(name: str) -> ModuleType:
    """Load one of the repository's scripts as a module."""
    # They find each other when they are run; here they must as well.
    if str(ROOT / "tools") not in sys.path:
        sys.path.append(str(ROOT / "tools"))
    spec = importlib.util.spec_from_file_location(f"tools_{name}", ROOT / "tools" / f"{name}.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
