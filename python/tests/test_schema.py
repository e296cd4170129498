"""What to_dict() gives against the published schemas, docs/schema."""
import json
import pathlib

import numpy as np
import pytest
import vouchnum as vn

folder = pathlib.Path(__file__).parents[2] / "docs" / "schema"
types = {"string": str, "integer": int, "number": (int, float), "boolean": bool, "null": type(None), "object": dict, "array": list}


def schema(name):
    return json.loads((folder / f"{name}.json").read_text())


def resolved(rule):
    if "$ref" in rule:
        file, _, place = rule["$ref"].partition("#/$defs/")
        return schema(file.removesuffix(".json") or "common")["$defs"][place]
    return rule


def check(value, rule, at=""):
    rule = resolved(rule)
    choices = rule.get("anyOf", rule.get("oneOf"))
    if choices:
        fitting = [r for r in map(resolved, choices) if r.get("type") == ("null" if value is None else "object")]
        assert fitting, at
        return check(value, fitting[0], at)
    if "const" in rule:
        assert value == rule["const"], at
    if "enum" in rule:
        assert value in rule["enum"], at
    if "type" in rule:
        wanted = rule["type"] if isinstance(rule["type"], list) else [rule["type"]]
        assert any(isinstance(value, types[t]) and (t == "boolean" or not isinstance(value, bool)) for t in wanted), (at, value)
    if isinstance(value, dict) and "properties" in rule:
        assert set(value) <= set(rule["properties"]), (at, set(value) - set(rule["properties"]))
        for key, inner in value.items():
            check(inner, rule["properties"][key], f"{at}.{key}")


A = vn.generate("poisson-2d", nx=12)
tall = vn.generate("poisson-2d", nx=6)[:, :20]


@pytest.mark.parametrize("solved", [
    lambda: vn.solve(A, np.ones(144)), lambda: vn.cg(A, np.ones(144), max_iterations=2),
    lambda: vn.solve(A, np.ones(144), verify=True), lambda: vn.solve(A.toarray(), np.zeros(144)),
    lambda: vn.factor(A).solve(np.ones(144)), lambda: vn.jacobi(np.array([[4.0, 1.0], [1.0, 4.0]]), [1.0, 2.0]),
    lambda: vn.lsqr(tall, np.ones(36)),
    lambda: vn.solve(vn.Tridiagonal([0, 1], [3, 3], [1, 0]), [1.0, 2.0])])
def test_results_are_objects_of_solve(solved):
    said = solved().to_dict()
    assert json.loads(json.dumps(said, allow_nan=False)) == said
    check(said, schema("solve"))


def test_enclosures_are_bounds():
    x = vn.solve(A, np.ones(144)).x
    for proof in (vn.verify(A, np.ones(144), x), vn.verify(np.array([[1.0, 1.0], [1.0, 1.0]]), [1.0, 1.0], [0.5, 0.5])):
        said = proof.to_dict()
        assert json.loads(json.dumps(said, allow_nan=False)) == said and said["verified"] == proof.verified
        rule = schema("common")["$defs"]["bound"]
        assert set(said) == set(rule["required"])
        check(said, rule)
