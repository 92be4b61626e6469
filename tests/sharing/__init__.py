"""Tests of stagecache.sharing."""
