"""A LlamaIndex chat that recalls an earlier session: `pip install 'remembrancer[local,llama-index]'`.

`MockLLM` says what it is given, so that no key is needed; with one, put a model in its place.
"""

from llama_index.core.chat_engine import SimpleChatEngine
from llama_index.core.llms import MockLLM
from llama_index.core.memory import Memory

from remembrancer import Remembrancer
from remembrancer.integrations.llama_index import RemembrancerMemoryBlock


def main(path: str = "llama-index.db") -> str:
    with Remembrancer.open(path) as memory:
        memory.observe("I always take the aisle seat", session="monday")
        memory.jobs.index_now()
        chat = Memory.from_defaults(session_id="friday", memory_blocks=[RemembrancerMemoryBlock(memory=memory)])
        engine = SimpleChatEngine.from_defaults(llm=MockLLM(), memory=chat)
        return str(engine.chat("Which seat do I always take?"))


if __name__ == "__main__":
    print(main())
