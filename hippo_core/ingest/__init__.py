"""Transcripts to archive to memories."""
