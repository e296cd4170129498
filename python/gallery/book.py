"""
A bank's book of options
========================

Ten thousand European and American options in one table, priced with their Greeks and revalued for moves of the
market. One row is wrong, and is named without stopping the others.
"""
import matplotlib.pyplot as plt
import numpy as np
import vouchnum as vn

# %%
# A book is a dict of columns, a structured array or a DataFrame.
rng = np.random.default_rng(1)
n = 10_000
book = {
    "type": rng.choice(["call", "put"], n),
    "exercise": rng.choice(["european", "american"], n, p=[0.8, 0.2]),
    "spot": np.full(n, 100.0),
    "strike": rng.normal(100, 15, n).round(),
    "expiry": rng.integers(7, 730, n) / 365,
    "volatility": rng.uniform(0.1, 0.5, n),
    "rate": np.full(n, 0.03),
    "dividend": np.full(n, 0.01),
}
position = rng.integers(-100, 101, n)
book["strike"][17] = -5.0
prices = vn.price_book(book)
print(prices.failures)
assert list(prices.failures) == [17]

# %%
# What is left is worth this much, with an error of all prices together that is estimated below a cent an option:
good = np.isfinite(prices.price)
print(f"value {position[good] @ prices.price[good]:,.2f}, delta {position[good] @ prices.delta[good]:,.2f}, "
      f"vega {position[good] @ prices.vega[good]:,.0f}")
print("largest error:", prices.error[good].max(), "; methods:", *np.unique(prices.method[good]))
assert prices.error[good].max() < 0.01 and prices.met[good].all()

# %%
# Bounds that are proved, for those that have a formula: the computed prices lie within.
some = {name: column[good][:200] for name, column in book.items()}
kind, exercise = some.pop("type"), some.pop("exercise")
proved = vn.price(kind, exercise=exercise, **some, verify=True)
european = exercise == "european"
print(proved.verified.sum(), "of 200 proved, none wider than", proved.bounds["price"].wid[european].max())
assert (proved.verified == european).all()

# %%
# The book's profit as the market moves by tomorrow, and what delta and gamma say of it.
moves = np.linspace(-0.12, 0.12, 13)
rest = {name: column[good] for name, column in book.items()}
value = []
for move in moves:
    moved = vn.price_book({**rest, "spot": rest["spot"] * (1 + move)}, greeks=False)
    value.append(position[good] @ moved.price)
profit = np.array(value) - value[len(moves) // 2]
delta, gamma = (position[good] @ greek[good] for greek in (prices.delta, prices.gamma))
taylor = delta * 100 * moves + gamma * (100 * moves) ** 2 / 2
near = abs(moves) <= 0.02
assert np.allclose(profit[near], taylor[near], atol=0.1 * abs(profit).max())

fig, (left, right) = plt.subplots(1, 2, figsize=(10, 4))
left.plot(100 * moves, profit, label="priced anew")
left.plot(100 * moves, taylor, "--", label="delta and gamma")
left.set_xlabel("move of the market, %")
left.set_title("profit of the book")
left.legend()
american = good & (book["exercise"] == "american") & (book["type"] == "put")
right.scatter(book["strike"][american], prices.price[american], c=book["volatility"][american], s=2)
right.set_xlabel("strike")
right.set_title("American puts, coloured by volatility")
plt.show()
