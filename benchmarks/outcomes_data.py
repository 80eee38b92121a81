"""Invented memories and tasks for `benchmarks/outcomes.py`: a month of an operations agent."""

from __future__ import annotations

from typing import Final

TASKS: Final = (
    "restart the billing worker",
    "rotate the signing key of the shop",
    "export the invoices of last month",
    "move a customer to another region",
    "free disk space on the build hosts",
    "add a node to the search cluster",
    "give a contractor access to the staging logs",
    "roll back the checkout release",
    "restore a deleted customer record",
    "renew the certificate of the mail gateway",
    "raise the memory limit of the image resizer",
    "replay the failed payment webhooks",
    "publish the weekly price list",
    "switch the status page to maintenance",
    "clean up the abandoned carts",
    "copy production data into the test database",
    "block an address that floods the login page",
    "upgrade the message broker",
    "rebuild the product catalogue index",
    "close the books of the quarter",
    "hand over the on-call phone",
    "warm the cache after a deploy",
    "archive the audit trail",
    "change the sender of the newsletter",
)
"""Kinds of tasks that come again and again."""
WAYS: Final = (
    "To {task}, open a change window first and let the deploy bot do it.",
    "To {task}, follow the blue runbook from step three; nobody needs to be asked.",
    "To {task}, drain the queue, wait for two minutes and use the admin console.",
    "To {task}, trigger the nightly job by hand with the flag for today.",
    "To {task}, log in to the bastion host and run the script of the platform team.",
    "To {task}, file a ticket with the owners; they do it within an hour.",
    "To {task}, use the dashboard of the vendor and confirm with the second key.",
    "To {task}, set the feature flag, deploy, and remove the flag again.",
    "To {task}, stop the scheduler, apply the playbook, and start the scheduler again.",
    "To {task}, call the internal endpoint with the service token and check the reply.",
)
"""Ways to do a task. By its text each is as plausible as any other: only the outcome tells which one works."""
QUESTIONS: Final = (
    "How do I {task}?",
    "What is the right way to {task}?",
    "I have to {task} today, how is it done?",
    "Which procedure do we use to {task}?",
)
SERVICES: Final = tuple(
    "checkout billing search mail image catalogue price login cart payment invoice newsletter audit export import"
    " session report webhook coupon shipping refund stock rating address".split()
)
GOLD: Final = "The {service} service listens on port {port}."
PORT_QUESTION: Final = "On which port does the {service} service listen?"
DISTRACTORS: Final = (
    "Which service listens on which port is in the service handbook, with the owner of each port.",
    "Every service listens on a port of its own; ask the platform team on which port a service listens.",
    "The port on which a service listens must be opened in the firewall before the service starts.",
    "A service that listens on the wrong port does not pass its health check.",
    "On which port a service listens is set in its own configuration file.",
    "No service listens on a port below 1024.",
)
"""Memories that resemble every question about a port and answer none."""
OTHERS: Final = (
    "The {service} team meets on Tuesdays in the small room.",
    "The {service} service was rewritten last spring by two people.",
    "Alerts of the {service} service go to its own channel.",
)
