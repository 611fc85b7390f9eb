"""What several nexuses know, brought together: following, merging, branches, single facts."""
