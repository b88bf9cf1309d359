"""A page that asks people about points, and learns from what they answer."""
