"""Questions about whole functions, after their paths were followed."""
