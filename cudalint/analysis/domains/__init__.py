"""What is followed along the paths, each by itself: its events, its log, its facts."""
