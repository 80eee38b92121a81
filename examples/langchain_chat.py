"""A LangChain chain that recalls what was said in an earlier chat: `pip install 'remembrancer[local,langchain]'`.

`answer` stands for a model; with a key, put a chat model in its place.
"""

from langchain_core.prompt_values import PromptValue
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import RunnableLambda, RunnablePassthrough

from remembrancer import Remembrancer
from remembrancer.integrations.langchain import RemembrancerChatHistory, RemembrancerRetriever

PROMPT = ChatPromptTemplate.from_messages([("system", "Remembered: {remembered}"), ("human", "{question}")])


def answer(prompt: PromptValue) -> str:
    return str(prompt.to_messages()[0].content)


def main(path: str = "langchain.db") -> str:
    with Remembrancer.open(path) as memory:
        monday = RemembrancerChatHistory(memory, "monday")
        monday.add_user_message("I always take the aisle seat")
        monday.add_ai_message("Noted: the aisle seat.")
        memory.jobs.index_now()
        retriever = RemembrancerRetriever(memory=memory, k=1) | (lambda found: found[0].page_content)
        chain = {"remembered": retriever, "question": RunnablePassthrough()} | PROMPT | RunnableLambda(answer)
        return chain.invoke("Which seat do I always take?")


if __name__ == "__main__":
    print(main())
