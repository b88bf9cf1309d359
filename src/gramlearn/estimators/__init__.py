"""What scikit-learn users see: estimators with fit, partial_fit and transform."""

from gramlearn.estimators.online_pca import OnlinePCA

__all__ = ["OnlinePCA"]
