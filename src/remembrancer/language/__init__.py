"""Reading human language: terms, times, speakers and answer types of a question, and marks of a text."""
