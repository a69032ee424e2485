"""A learner that remembers."""

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin


class Recorder(ClassifierMixin, BaseEstimator):
    """Remembers what it was given, and scores rows by its seed and their number."""

    def __init__(self, random_state=None):
        self.random_state = random_state

    def fit(self, X, y, sample_weight=None):
        self.rows_, self.target_, self.weight_ = X[:, 0].astype(int), y, sample_weight
        self.classes_ = np.array([0, 1])
        return self

    def predict_proba(self, X):
        score = 0.1 + 0.8 * np.sin(X[:, 0] * 12.9 + self.random_state % 1000) ** 2
        return np.column_stack([1 - score, score])
