"""A kernel from "i is more like j than k" that reads few features: which measurements tell wines apart?

Gaussians of three widths of each of 13 measurements are combined so that the kernel keeps comparisons. The
price sparsity decides how many measurements it reads; the picture shows the choice along a path of prices.
"""

from sklearn.datasets import load_wine
from sklearn.model_selection import train_test_split

from gramlearn import KernelDesigner, Triplets
from gramlearn.plots import plot_design_path

wine = load_wine()
train, test, train_labels, test_labels = train_test_split(
    wine.data, wine.target, test_size=0.3, stratify=wine.target, random_state=0
)
side = Triplets.from_labels(train_labels, 1500, random_state=0)  # or Triplets.from_clicks(...)
designer = KernelDesigner(weak=True, sparsity=50.0, random_state=0).fit(train, side=side)

print(designer.solution_)
print("least eigenvalue on the training points", f"{designer.smallest_eigenvalue_:.3g}")
print("reads", ", ".join(wine.feature_names[f] for f in designer.selected_features_))
print(f"keeps {designer.score(test, test_labels):.1%} of comparisons of new wines")

path = designer.path(train, side=side)
print(path)
figure = plot_design_path(path, names=wine.feature_names)
figure.savefig("kernel_design.png", dpi=120)
