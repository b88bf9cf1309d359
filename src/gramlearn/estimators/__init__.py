"""What scikit-learn users see; the only folder that imports scikit-learn's base classes."""

from gramlearn.estimators.colored_mvu import ColoredMVU
from gramlearn.estimators.constrained_kmeans import ConstrainedKMeans
from gramlearn.estimators.kernel_designer import KernelDesigner
from gramlearn.estimators.kernel_kmeans import KernelKMeans
from gramlearn.estimators.kernel_learner import KernelLearner
from gramlearn.estimators.maximum_variance_unfolding import MaximumVarianceUnfolding
from gramlearn.estimators.metric_learner import MetricLearner
from gramlearn.estimators.minimum_volume_embedding import MinimumVolumeEmbedding
from gramlearn.estimators.nonparametric_kernel import NonparametricKernel
from gramlearn.estimators.online_metric_learner import OnlineMetricLearner
from gramlearn.estimators.online_pca import OnlinePCA
from gramlearn.estimators.pola import POLA
from gramlearn.estimators.semi_supervised_embedding import SemiSupervisedEmbedding
from gramlearn.estimators.structure_preserving_embedding import StructurePreservingEmbedding

__all__ = [
    "POLA",
    "ColoredMVU",
    "ConstrainedKMeans",
    "KernelDesigner",
    "KernelKMeans",
    "KernelLearner",
    "MaximumVarianceUnfolding",
    "MetricLearner",
    "MinimumVolumeEmbedding",
    "NonparametricKernel",
    "OnlineMetricLearner",
    "OnlinePCA",
    "SemiSupervisedEmbedding",
    "StructurePreservingEmbedding",
]
