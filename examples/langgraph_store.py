"""A LangGraph graph whose nodes share a memory: `pip install 'remembrancer[local,langgraph]' langgraph`."""

from typing import TypedDict

from langgraph.graph import END, START, StateGraph
from langgraph.store.base import BaseStore

from remembrancer import Remembrancer
from remembrancer.integrations.langgraph import RemembrancerStore


class State(TypedDict):
    said: str
    recalled: list[str]


def recall(state: State, *, store: BaseStore) -> dict[str, list[str]]:
    found = store.search(("users", "ana"), query=state["said"], limit=2)
    return {"recalled": [item.value["text"] for item in found]}


def note(state: State, *, store: BaseStore) -> None:
    store.put(("users", "ana"), str(hash(state["said"])), {"text": state["said"]})


def main(path: str = "langgraph.db") -> list[str]:
    builder = StateGraph(State)
    builder.add_node("recall", recall)
    builder.add_node("note", note)
    builder.add_edge(START, "recall")
    builder.add_edge("recall", "note")
    builder.add_edge("note", END)
    with Remembrancer.open(path) as memory:
        graph = builder.compile(store=RemembrancerStore(memory))
        graph.invoke({"said": "I always take the aisle seat", "recalled": []})
        graph.invoke({"said": "My flight to Porto leaves on Friday", "recalled": []})
        memory.jobs.index_now()
        return graph.invoke({"said": "Which seat should you book for me?", "recalled": []})["recalled"]


if __name__ == "__main__":
    print(*main(), sep="\n")
