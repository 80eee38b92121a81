"""An agent of Google's ADK that recalls an earlier session: `pip install 'remembrancer[local,google-adk]'`.

`Scripted` stands for a model, so that no key is needed; with one, put its name in its place.
"""

import asyncio
from collections.abc import AsyncGenerator

from google.adk.agents import LlmAgent
from google.adk.models.base_llm import BaseLlm
from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse
from google.adk.runners import Runner
from google.adk.sessions.in_memory_session_service import InMemorySessionService
from google.adk.tools.preload_memory_tool import preload_memory_tool
from google.genai.types import Content, Part

from remembrancer import Remembrancer
from remembrancer.integrations.google_adk import RemembrancerMemoryService

APP, USER = "travel", "ana"


class Scripted(BaseLlm):
    """Says what it was given."""

    async def generate_content_async(
        self, llm_request: LlmRequest, stream: bool = False
    ) -> AsyncGenerator[LlmResponse, None]:
        given = "\n".join(part.text or "" for content in llm_request.contents for part in content.parts or ())
        yield LlmResponse(content=Content(role="model", parts=[Part(text=given)]))


async def chat(memory: Remembrancer) -> str:
    service, sessions = RemembrancerMemoryService(memory, limit=1), InMemorySessionService()
    agent = LlmAgent(name="guide", model=Scripted(model="scripted"), tools=[preload_memory_tool])
    runner = Runner(app_name=APP, agent=agent, session_service=sessions, memory_service=service)
    answer = ""
    for name, text in (("monday", "I always take the aisle seat"), ("friday", "Which seat do I always take?")):
        await sessions.create_session(app_name=APP, user_id=USER, session_id=name)
        message = Content(role="user", parts=[Part(text=text)])
        async for event in runner.run_async(user_id=USER, session_id=name, new_message=message):
            answer = "".join(part.text or "" for part in event.content.parts or ()) if event.content else answer
        session = await sessions.get_session(app_name=APP, user_id=USER, session_id=name)
        if session is not None:
            await service.add_session_to_memory(session)
        memory.jobs.index_now()
    return answer


def main(path: str = "google-adk.db") -> str:
    with Remembrancer.open(path) as memory:
        return asyncio.run(chat(memory))


if __name__ == "__main__":
    print(main())
