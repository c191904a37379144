"""Who can sign in to the demo; shown on its sign-in page."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["COMPANIES", "OPERATOR", "Account"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """A person of the demo; `company` is empty for the operator."""

    username: str
    password: str
    first_name: str
    company: str = ""
    company_name: str = ""


COMPANIES = (
    Account(
        username="ada",
        password="acme-demo",  # noqa: S106  (shown on the sign-in page)
        first_name="Ada",
        company="acme",
        company_name="Acme",
    ),
    Account(
        username="ben",
        password="birch-demo",  # noqa: S106
        first_name="Ben",
        company="birch",
        company_name="Birch",
    ),
    Account(
        username="cleo",
        password="cedar-demo",  # noqa: S106
        first_name="Cleo",
        company="cedar",
        company_name="Cedar",
    ),
)
OPERATOR = Account(username="operator", password="operator-demo", first_name="Olga")  # noqa: S106
