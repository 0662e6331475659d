"""What expressions and statements make and change, as far as gradients go."""
