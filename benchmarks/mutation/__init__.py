"""Mutation score: does every release of a leak-free program matter to the linter?"""
