"""What outlives calls: names of modules and of enclosing functions, what is put aside there."""
