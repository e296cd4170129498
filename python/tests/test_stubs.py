"""The stubs against what is there: every public name, and every parameter with its kind and whether it has a default."""
import ast
import importlib
import inspect
import os
import pathlib
import subprocess
import sys

import pytest
import vouchnum as vn

folder = pathlib.Path(vn.__file__).parent
modules = ["errors", "linalg", "data", "intervals", "prices", "scipy", "gallery", "_threads", "_progress"]


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


pyright = pathlib.Path(sys.executable).parent / "basedpyright"


@pytest.mark.skipif(not pyright.exists(), reason="no basedpyright beside this Python")
def test_pyright_finds_the_types_complete(tmp_path):
    environment = {**os.environ, "VIRTUAL_ENV": sys.prefix, "PATH": f"{pyright.parent}{os.pathsep}{os.environ['PATH']}"}
    found = subprocess.run([pyright, "--verifytypes", "vouchnum", "--ignoreexternal"], cwd=tmp_path, env=environment,
                           capture_output=True, text=True)
    assert found.returncode == 0 and "Type completeness score: 100%" in found.stdout, found.stdout


used = """
import numpy as np
import vouchnum as vn

result: vn.Result = vn.solve(np.eye(2), [1.0, 2.0], verify=True)
enclosure = result.enclosure
if enclosure is not None:
    bound: float = enclosure.max_absolute
with vn.factor(vn.Tridiagonal([0, 1], [3, 3], [1, 0])) as f:
    x, info = f.solve([1.0, 2.0])
price: vn.Prices = vn.price("put", spot=100.0, strike=[90.0, 110.0], volatility=0.2, expiry=1.0)
width = (vn.interval("0.1") + vn.interval("0.2")).wid
"""


@pytest.mark.skipif(not pyright.exists(), reason="no basedpyright beside this Python")
@pytest.mark.parametrize("wrong", ["", 'vn.solve(np.eye(2), [1.0, 2.0], precision="half")', "vn.solve(np.eye(2))", "vn.sovle"])
def test_pyright_takes_what_is_right_and_refuses_what_is_wrong(wrong, tmp_path):
    (tmp_path / "program.py").write_text(used + wrong + "\n")
    (tmp_path / "pyrightconfig.json").write_text('{"typeCheckingMode": "standard"}')
    found = subprocess.run([pyright, "--pythonpath", sys.executable, "program.py"], cwd=tmp_path, capture_output=True, text=True)
    assert (found.returncode == 0) == (wrong == ""), found.stdout
