"""The documentation as HTML; make.sh lays out what it reads."""
import ast
import os
import pathlib

import vouchnum

root = pathlib.Path(os.environ["VOUCH_ROOT"])
project, author = "Vouch", "the Vouch authors"
version = release = vouchnum.__version__
extensions = ["sphinx.ext.autodoc", "sphinx.ext.napoleon", "myst_parser", "sphinx_gallery.gen_gallery"]
html_theme = "furo"
html_title = f"Vouch {version}"
default_role = "literal"
exclude_patterns = ["**/GALLERY_HEADER.rst"]

autodoc_member_order = "bysource"
autodoc_default_options = {"members": True, "undoc-members": True}
autodoc_typehints = "none"
napoleon_use_rtype = False

myst_heading_anchors = 4
myst_enable_extensions = ["dollarmath"]
# Links of the documents to sources and folders of the checkout lead nowhere here.
suppress_warnings = ["myst.xref_missing", "misc.highlighting_failure", "config.cache"]

sphinx_gallery_conf = {
    "examples_dirs": str(root / "python/gallery"), "gallery_dirs": "gallery", "filename_pattern": r"\.py$",
    "ignore_pattern": r"__init__", "abort_on_example_error": True, "show_memory": False, "download_all_examples": False,
    "min_reported_time": 1e9, "show_signature": False,
    "write_computation_times": False,
}


def signatures():
    """Those of the stubs, by qualified name."""
    found = {}

    def take(module, prefix, nodes):
        for node in nodes:
            if isinstance(node, ast.FunctionDef):
                returns = f" -> {ast.unparse(node.returns)}" if node.returns else ""
                found[f"vouchnum.{module}.{prefix}{node.name}"] = f"({ast.unparse(node.args)})", returns
            elif isinstance(node, ast.ClassDef):
                take(module, f"{prefix}{node.name}.", node.body)

    for stub in pathlib.Path(vouchnum.__file__).parent.glob("*.pyi"):
        take(stub.stem, "", ast.parse(stub.read_text()).body)
    return found


stubs = signatures()


def signature_of(app, what, name, obj, options, signature, return_annotation):
    stub = stubs.get(f"{name}.__init__" if what == "class" else name)
    if stub is None or what not in ("class", "function", "method"):
        return signature, return_annotation
    arguments = stub[0].replace("(self, ", "(").replace("(self)", "()").replace("(cls, ", "(")
    return arguments, stub[1] if what != "class" else ""


def setup(app):
    app.connect("autodoc-process-signature", signature_of)
