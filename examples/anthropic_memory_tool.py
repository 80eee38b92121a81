"""Anthropic's memory tool over a memory: `pip install 'remembrancer[local,anthropic]'`.

Here the commands of a model are written out, and passed to the tool as the SDK does. With a key, pass the tool to
`Anthropic().beta.messages.run_tools(..., tools=[tool])` instead.
"""

from remembrancer import Remembrancer
from remembrancer.integrations.anthropic import RemembrancerMemoryTool

COMMANDS = [
    {"command": "view", "path": "/memories"},
    {
        "command": "create",
        "path": "/memories/deploys/checkout.md",
        "file_text": "Checkout needs 1 GiB in production.\n",
    },
    {"command": "str_replace", "path": "/memories/deploys/checkout.md", "old_str": "1 GiB", "new_str": "2 GiB"},
    {"command": "view", "path": "/memories/deploys/checkout.md"},
]


def main(path: str = "anthropic.db") -> list[str]:
    with Remembrancer.open(path) as memory:
        tool = RemembrancerMemoryTool(memory)
        answers = [str(tool.call(command)) for command in COMMANDS]
        memory.jobs.index_now()
        found = memory.recall("How much memory does checkout need?")
        return [*answers, found[0].memory.text]


if __name__ == "__main__":
    print(*main(), sep="\n\n")
