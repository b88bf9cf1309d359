"""Kulis, Sustik and Dhillon, JMLR 2009: low-rank kernel learning with Bregman matrix divergences."""
