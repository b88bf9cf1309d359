"""Experiments: tables and figures of the papers, made anew. The README beside this file says how."""
