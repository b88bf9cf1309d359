"""Boards on which methods compete at their defaults: who helps most, on how many sets, and whom it harms.

Nothing is imported here: fits of other packages run where gramlearn is not installed.
"""
