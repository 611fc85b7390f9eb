"""Runs commands on a store. ``plan_cache`` keeps parsed commands and compiled FINDs."""
