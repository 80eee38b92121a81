"""Jobs that run in the server's process."""

from __future__ import annotations

import asyncio

from served import QUIET

from remembrancer import AsyncRemembrancer
from remembrancer.interfaces.http.app import Serving, build_app
from remembrancer.interfaces.http.background import JobRunner
from remembrancer.jobs.worker import Stop


def workers() -> set[str]:
    return {task.get_name() for task in asyncio.all_tasks() if task.get_name().startswith("remembrancer-worker")}


def test_a_worker_starts_with_the_first_request_for_its_workspace_and_ends_with_the_job_runner() -> None:
    async def whole() -> list[set[str]]:
        seen: list[set[str]] = []
        async with await AsyncRemembrancer.open(settings=QUIET) as memory:
            async with JobRunner(memory, Stop()) as runner:
                seen.append(workers())
                for _ in range(2):
                    runner.work_for(memory.of_workspace("acme"))
                seen.append(workers())
            seen.append(workers())
        return seen

    own, other = "remembrancer-worker default", "remembrancer-worker acme"
    assert asyncio.run(whole()) == [{own}, {own, other}, set()]


def test_no_worker_runs_before_the_job_runner_starts_or_after_it_ends() -> None:
    async def whole() -> set[str]:
        async with await AsyncRemembrancer.open(settings=QUIET) as memory:
            runner = JobRunner(memory, Stop())
            runner.work_for(memory)
            async with runner:
                pass
            runner.work_for(memory)
            return workers()

    assert asyncio.run(whole()) == set()


def test_due_jobs_are_run_by_the_server_itself() -> None:
    async def whole() -> list[bool]:
        async with await AsyncRemembrancer.open(settings=QUIET) as memory:
            await memory.observe("The deploy failed")
            runner = JobRunner(memory, Stop())
            async with runner:
                while any(state.last is None for state in await memory.jobs.list()):  # noqa: ASYNC110  nobody is told
                    await asyncio.sleep(0)
            return [state.last is not None for state in await memory.jobs.list()]

    assert all(asyncio.run(whole()))


def test_the_app_works_for_as_long_as_it_runs_where_it_is_to_work() -> None:
    async def whole(*, work: bool) -> set[str]:
        async with await AsyncRemembrancer.open(settings=QUIET) as memory:
            app = build_app(memory, Serving(work=work), Stop())
            async with app.router.lifespan_context(app):
                return workers()

    assert asyncio.run(whole(work=True)) == {"remembrancer-worker default"}
    assert asyncio.run(whole(work=False)) == set()
