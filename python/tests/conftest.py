import numpy as np
import pytest
import vouchnum


@pytest.fixture(autouse=True)
def names_of_doctests(doctest_namespace):
    doctest_namespace["vn"] = vouchnum


@pytest.fixture
def rng():
    return np.random.default_rng(7)
