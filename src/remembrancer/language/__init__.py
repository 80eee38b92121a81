"""Rules for human language: search terms, times, speakers and answer types of questions, and flags of texts.

`reading.read_question` is the entry point for questions. Rules are English, except in `lexical` and `function_words`.
"""
