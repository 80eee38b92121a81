"""A crew that is given what an earlier crew remembered: `pip install 'remembrancer[local,crewai]'`.

`Repeating` says what it is asked, so that no key is needed; with one, put a model in its place.
"""

from typing import Any

from crewai import Agent, Crew, Task
from crewai.llms.base_llm import BaseLLM

from remembrancer import Remembrancer
from remembrancer.integrations.crewai import crew_memory


class Repeating(BaseLLM):
    """A model that repeats the last message."""

    def call(self, messages: str | list[dict[str, Any]], *args: Any, **kwargs: Any) -> str:
        return f"Final Answer: {messages if isinstance(messages, str) else messages[-1]['content']}"


def main(path: str = "crewai.db") -> str:
    model = Repeating(model="repeating")
    agent = Agent(role="Travel agent", goal="Book seats", backstory="Books trains", llm=model)
    task = Task(description="Which seat does Ana take?", expected_output="A seat", agent=agent)
    with Remembrancer.open(path) as memory:
        remembered = crew_memory(memory, llm=model)
        remembered.remember(
            "Ana takes the aisle seat", scope="/travel", categories=["seat"], importance=0.8, metadata={"by": "mail"}
        )
        return Crew(agents=[agent], tasks=[task], memory=remembered).kickoff().raw


if __name__ == "__main__":
    print(main())
