"""What experiments of several papers share: sets, pairs, rivals, and the choice of parameters."""
