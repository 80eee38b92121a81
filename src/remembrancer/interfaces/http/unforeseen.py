"""The outermost error handler: an unexpected error becomes a response and a log record, without its message."""

from __future__ import annotations

from starlette.requests import ClientDisconnect
from starlette.types import Receive, Scope, Send

from remembrancer.interfaces.http import problems
from remembrancer.interfaces.http.middleware import HttpMiddleware, NotedStatus
from remembrancer.interfaces.http.route_name import route_of


class Unforeseen(HttpMiddleware):
    """Answers an unexpected error with status 500 if the response has not started. The error's message may quote a
    memory, so neither the client nor the web server, which would log it, receives it.
    """

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        noted = NotedStatus(send)
        try:
            await self.app(scope, receive, noted)
        except ClientDisconnect:  # while its body was read: nothing was done, and nobody is there to be told
            return
        except Exception as error:  # noqa: BLE001  the outer edge of a request
            problems.log_unforeseen(route_of(scope), error)
            if noted.status:  # it is cut short: the web server closes the connection, and the client sees that
                raise problems.without_words(error) from None
            await problems.unforeseen(error)(scope, receive, send)
