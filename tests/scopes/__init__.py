"""What a reader of several scopes sees: nothing of those that are hidden."""
