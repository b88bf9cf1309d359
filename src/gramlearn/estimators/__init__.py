"""What scikit-learn users see; the only folder that imports scikit-learn's base classes."""

from gramlearn.estimators.constrained_kmeans import ConstrainedKMeans
from gramlearn.estimators.kernel_kmeans import KernelKMeans
from gramlearn.estimators.kernel_learner import KernelLearner
from gramlearn.estimators.metric_learner import MetricLearner
from gramlearn.estimators.nonparametric_kernel import NonparametricKernel
from gramlearn.estimators.online_metric_learner import OnlineMetricLearner
from gramlearn.estimators.online_pca import OnlinePCA
from gramlearn.estimators.pola import POLA
from gramlearn.estimators.semi_supervised_embedding import SemiSupervisedEmbedding

__all__ = [
    "POLA",
    "ConstrainedKMeans",
    "KernelKMeans",
    "KernelLearner",
    "MetricLearner",
    "NonparametricKernel",
    "OnlineMetricLearner",
    "OnlinePCA",
    "SemiSupervisedEmbedding",
]
