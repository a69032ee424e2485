"""
Customers who are about to leave
================================

Some customers of a telephone company have said that they will leave; others will leave without a
word. A call costs 10 and keeps a customer who is worth 60: whom to call, and how many?
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from robustpu import PUClassifier

N_ROWS = 4000
random = np.random.default_rng(0)


def customers(n_rows):
    """A table of customers, and which of them leave: a fifth."""
    frame = pd.DataFrame(
        {
            "contract": random.choice(
                ["monthly", "one year", "two years"], n_rows, p=[0.5, 0.3, 0.2]
            ),
            "months": random.geometric(0.03, n_rows),
            "bill": random.gamma(6, 9, n_rows).round(2),
            "complaints": random.poisson(0.4, n_rows),
            "data_used": random.lognormal(1, 0.8, n_rows).round(1),
        }
    )
    odds = 1.5 * (frame.contract == "monthly") - frame.months / 20 + frame.bill / 25
    odds += (
        1.2 * frame.complaints - 0.15 * frame.data_used + random.logistic(scale=0.7, size=n_rows)
    )
    frame.loc[random.random(n_rows) < 0.1, "data_used"] = np.nan
    return frame, (odds > odds.quantile(0.8)).to_numpy()


frame, leaves = customers(N_ROWS)
has_said = leaves & (random.random(N_ROWS) < 0.25)

# %%
# Marketing knows that about a fifth of all customers leave. A quarter of these have said so, and
# 16 % of the others leave, too: this is `prior`.
model = PUClassifier(scenario="single-set", prior=0.16, effort="fast", random_state=0)
model.fit(frame, has_said.astype(int))
print(model.evaluate(k=100))

# %%
# The customers of the next month. A call pays if a customer leaves with probability 10 / 60.
new, will_leave = customers(N_ROWS)
probability = model.predict_proba(new)[:, 1]
n_calls = int((probability > 10 / 60).sum())
order = np.argsort(-probability)
expected = 60 * np.cumsum(probability[order]) - 10 * np.arange(1, N_ROWS + 1)
true = 60 * np.cumsum(will_leave[order]) - 10 * np.arange(1, N_ROWS + 1)

# %%
# Because the prior is known, the profit is, too, before a single call.
figure, axes = plt.subplots(figsize=(6, 3.4), layout="constrained")
axes.plot(expected, label="expected by the model")
axes.plot(true, label="true")
axes.axvline(n_calls, color="k", linestyle=":", label="calls that pay")
axes.set(xlabel="customers called, the likeliest first", ylabel="profit")
axes.legend()
figure.savefig("churn.png", dpi=120)
print(
    f"{n_calls} calls: expected profit {expected[n_calls - 1]:,.0f}, true {true[n_calls - 1]:,.0f}"
)
print(f"best possible with this order: {true.max():,.0f}; calling everybody: {true[-1]:,.0f}")
