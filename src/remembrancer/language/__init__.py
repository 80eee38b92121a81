"""Reading human language: search terms, times, speakers and answer types of questions, and flags of texts.

`reading.read_question` is the way in for questions. The rules are English, except for `lexical` and `function_words`.
"""
