"""Fung, Rosales and Rao, 2007: kernel design from relative comparisons."""
