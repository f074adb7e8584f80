"""The tutor at a table: advice before a decision, judgement after it."""
