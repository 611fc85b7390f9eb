"""What an agent's memory must survive."""
