"""Caches have a size: what has none is listed here, with what keeps it small."""

import ast
import tracemalloc
from collections.abc import Iterator

from ironic.core.secrets.masking import is_secret, is_secret_parameter
from ironic.tests.product_trees import product_trees

OPTION = "one for each value that an option had"
WITHOUT_SIZE = {
    "api/access.py hidden": "goes with its request",
    "api/route_timers.py timer_name": "one for each route",
    "api/settings.py _rule_book": OPTION,
    "core/keys/info_keys.py declared": "no arguments",
    "core/rules/inspector/rule_plugins.py actions": "no arguments",
    "core/rules/inspector/rule_plugins.py conditions": "no arguments",
    "api/settings.py _defaults": "no arguments",
    "core/rules/patterns.py _options": "no arguments",
    "core/flows/step_cursor.py keys_of": "one for each flow",
    "core/values/traits.py published": "no arguments",
    "drivers/modules/agent/published_images.py _download_slots": OPTION,
    "drivers/modules/graphical/containers.py _provider": OPTION,
    "integrations/dhcp/dhcp_provider.py _provider": OPTION,
    "integrations/object_store.py swift_container": OPTION,
    "rpc/notifications/subjects.py of": "one for each resource",
}


def caches_without_size() -> Iterator[str]:
    for name, tree in product_trees().items():
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef):
                for decorator in map(ast.unparse, node.decorator_list):
                    if decorator.endswith(("functools.cache", "lru_cache(None)", "lru_cache(maxsize=None)")):
                        yield f"{name} {node.name}"


def test_each_cache_has_a_size_or_a_reason() -> None:
    assert set(caches_without_size()) == set(WITHOUT_SIZE)


def test_long_names_are_not_kept() -> None:
    is_secret("a"), is_secret_parameter("a")
    tracemalloc.start()
    try:
        for number in range(200):
            name = f"{'x' * 100_000}{number}"
            assert not is_secret(name) and not is_secret_parameter(name)
        del name
        kept, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert kept < 2_000_000
