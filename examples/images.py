"""
Pictures with a convolutional network
=====================================

Rows may be pictures, (channels, height, width). Of the 8 x 8 digits that come with scikit-learn,
some even ones are known; which of the others are even? Networks train on a GPU if torch sees one;
these small ones need none.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits
from torch import nn

from robustpu import NNPUClassifier, make_pu

EPOCHS = 20


def small_conv(shape):
    """Two convolutions and a linear layer."""
    channels, height, width = shape
    return nn.Sequential(
        nn.Conv2d(channels, 16, 3, padding=1),
        nn.ReLU(),
        nn.Conv2d(16, 16, 3, stride=2, padding=1),
        nn.ReLU(),
        nn.Flatten(),
        nn.Linear(16 * (height // 2) * (width // 2), 1),
    )


digits = load_digits()
images = digits.images[:, None].astype("float32") / 16  # (rows, 1, 8, 8)
pu = make_pu(
    images,
    (digits.target % 2 == 0).astype(int),
    n_positive=200,
    n_unlabeled=800,
    prior=0.4,
    n_test=300,
    random_state=0,
)
model = NNPUClassifier(
    prior=0.4,
    module=small_conv,
    standardize=False,
    epochs=EPOCHS,
    n_members=2,
    device="auto",  # "cuda" insists on a GPU, "cpu" leaves it alone
    random_state=0,
).fit(pu.X, pu.y)
print(f"test accuracy {model.score(pu.X_test, pu.y_test):.3f}")

# %%
# The unlabelled pictures that are most likely even.
rows, probability = model.suspects(16)
figure, axes = plt.subplots(2, 8, figsize=(8, 2.4), layout="constrained")
for axis, row, value in zip(axes.flat, rows, probability, strict=True):
    axis.imshow(pu.X[row, 0], cmap="gray_r")
    axis.set_title(f"{value:.2f}", fontsize=9)
    axis.axis("off")
figure.savefig("images.png", dpi=120)
