"""What the parts of the stand-in are given of a request, and the errors they answer with."""

import datetime
from dataclasses import dataclass, field


class Refused(Exception):
    """An answer that is an error: a status and a body in the form of the service."""

    def __init__(self, status, body):
        super().__init__(f"{status}")
        self.status = status
        self.body = body


@dataclass
class Request:
    """A request with its caller. `project` is None for an administrator that asks for all projects."""

    state: object
    base: str
    project: str
    user: str
    roles: frozenset
    query: dict = field(default_factory=dict)
    body: dict = field(default_factory=dict)

    @property
    def is_admin(self):
        return "admin" in self.roles

    @property
    def scope(self):
        """The project whose records are listed; None: all."""
        everything = self.query.get("all_tenants") in ("1", "True", "true") or self.query.get("all_projects")
        if self.is_admin and everything:
            return None
        return self.project

    def must_be_member(self):
        if not self.roles & {"admin", "member", "manager"}:
            raise Refused(403, {"forbidden": {"code": 403, "message": "Policy doesn't allow this to be performed."}})

    def must_be_admin(self):
        if not self.is_admin:
            raise Refused(403, {"forbidden": {"code": 403, "message": "Policy doesn't allow this to be performed."}})


def now():
    return datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def page(request, records, key="id"):
    """Returns the part of a list that `marker` and `limit` ask for, in a fixed order."""
    records = sorted(records, key=lambda one: str(one[key]))
    marker = request.query.get("marker")
    if marker:
        records = [one for one in records if str(one[key]) > marker]
    limit = int(request.query.get("limit") or 0)
    return records[:limit] if limit else records
