"""Is there any X at all? A start inside the domain, or a proof that there is none."""
