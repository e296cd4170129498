"""The stubs against what is there: every public name, and every parameter with its kind and whether it has a default."""
import ast
import importlib
import inspect
import pathlib

import pytest
import vouchnum as vn

folder = pathlib.Path(vn.__file__).parent
modules = ["errors", "linalg", "data", "intervals", "prices", "scipy", "gallery", "_threads"]


def stub_of(module):
    return ast.parse((folder / f"{module}.pyi").read_text()).body


def parameters_of(function):
    a = function.args
    plain = [*a.posonlyargs, *a.args]
    with_default = len(plain) - len(a.defaults)
    found = [(p.arg, "plain", k >= with_default) for k, p in enumerate(plain)]
    if a.vararg:
        found.append((a.vararg.arg, "more", False))
    found += [(p.arg, "keyword", d is not None) for p, d in zip(a.kwonlyargs, a.kw_defaults)]
    if a.kwarg:
        found.append((a.kwarg.arg, "keywords", False))
    return found


def parameters_at_runtime(function):
    kinds = {inspect.Parameter.POSITIONAL_OR_KEYWORD: "plain", inspect.Parameter.POSITIONAL_ONLY: "plain",
             inspect.Parameter.VAR_POSITIONAL: "more", inspect.Parameter.KEYWORD_ONLY: "keyword",
             inspect.Parameter.VAR_KEYWORD: "keywords"}
    return [(p.name, kinds[p.kind], p.default is not p.empty) for p in inspect.signature(function).parameters.values()]


def is_overload(node):
    return any(isinstance(d, ast.Name) and d.id == "overload" for d in node.decorator_list)


@pytest.mark.parametrize("name", modules)
def test_every_stub_is_true(name):
    module = importlib.import_module(f"vouchnum.{name}")
    for node in stub_of(name):
        if isinstance(node, ast.FunctionDef) and not is_overload(node):
            assert parameters_of(node) == parameters_at_runtime(getattr(module, node.name)), node.name
        if not isinstance(node, ast.ClassDef):
            continue
        cls = getattr(module, node.name)
        for member in node.body:
            if isinstance(member, ast.AnnAssign):
                declared = getattr(cls, "__dataclass_fields__", {})
                assert (member.target.id in declared or hasattr(cls, member.target.id)
                        or f"self.{member.target.id}" in inspect.getsource(cls)), (node.name, member.target.id)
            if not isinstance(member, ast.FunctionDef):
                continue
            found = inspect.getattr_static(cls, member.name)
            is_property = any(isinstance(d, ast.Name) and d.id == "property" for d in member.decorator_list)
            assert isinstance(found, property) == is_property, (node.name, member.name)
            if inspect.isfunction(found) and not (member.name == "__init__" and hasattr(cls, "__dataclass_fields__")):
                stated, real = parameters_of(member), parameters_at_runtime(found)
                assert [p[1:] for p in stated] == [p[1:] for p in real], (node.name, member.name)


@pytest.mark.parametrize("name", modules)
def test_every_public_name_has_a_stub(name):
    module = importlib.import_module(f"vouchnum.{name}")
    public = [n for n, value in vars(module).items()
              if not n.startswith("_") and (inspect.isfunction(value) or inspect.isclass(value))
              and value.__module__ in (module.__name__, "vouchnum.gallery" if name == "gallery" else module.__name__)]
    stated = {n.name: n for n in stub_of(name) if isinstance(n, (ast.FunctionDef, ast.ClassDef))}
    assert set(public) <= set(stated), set(public) - set(stated)
    for n in public:
        if inspect.isclass(getattr(module, n)):
            members = {m for m in vars(getattr(module, n)) if not m.startswith("_")}
            text = ast.unparse(stated[n])
            assert all(m in text for m in members), (n, members)


def test_the_package_exports_what_its_stub_does():
    stated = {alias.asname for node in stub_of("__init__") if isinstance(node, ast.ImportFrom) for alias in node.names}
    assert stated == {*vn.__all__, "gallery", "scipy"}
    for name in stated:
        assert getattr(vn, name) is not None
