"""d(x, y) = sum_f w_f (x_f - y_f)^2: a weight for each feature."""
