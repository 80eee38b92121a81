"""A Pydantic AI agent that remembers and recalls: `pip install 'remembrancer[local,pydantic-ai]'`.

`model` stands for a model, so that no key is needed; with one, put its name in its place.
"""

from pydantic_ai import Agent
from pydantic_ai.messages import ModelMessage, ModelRequest, ModelResponse, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from remembrancer import Remembrancer
from remembrancer.integrations.pydantic_ai import RemembrancerToolset


def model(messages: list[ModelMessage], _: AgentInfo) -> ModelResponse:
    """Recalls if it is asked, remembers what it is told, and says what the tool answered."""
    last = messages[-1]
    part = last.parts[-1] if isinstance(last, ModelRequest) else None
    if isinstance(part, ToolReturnPart):
        return ModelResponse(parts=[TextPart(str(part.content))])
    text = str(getattr(part, "content", ""))
    call = ToolCallPart("recall", {"query": text}) if text.endswith("?") else ToolCallPart("remember", {"text": text})
    return ModelResponse(parts=[call])


def main(path: str = "pydantic-ai.db") -> str:
    with Remembrancer.open(path) as memory:
        agent = Agent(FunctionModel(model), toolsets=[RemembrancerToolset(memory)])
        agent.run_sync("The user always takes the aisle seat.")
        memory.jobs.index_now()
        return agent.run_sync("Which seat does the user always take?").output


if __name__ == "__main__":
    print(main())
