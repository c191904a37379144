"""The files that the demo offers for trying imports; made by a script, the same every time."""

from __future__ import annotations

import csv
import datetime as dt
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random

from openpyxl import Workbook

__all__ = ["SAMPLES", "Sample", "write_samples"]

FIRST_DUE = dt.date(2026, 1, 5)
CUSTOMERS = ("Hollis & Sons", "Meier GmbH", "Nordwind AB", "Café Olé", "Tanaka KK", "O'Neill Ltd")
PEOPLE = ("Ada Lovelace", "Grace Hopper", "Alan Turing", "Edsger Dijkstra", "Barbara Liskov")
INVOICE_HEADER = ("Invoice no", "Client", "Net amount", "Payable by")


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """One offered file: its name, for which importer, how many rows, and what it shows."""

    name: str
    importer: str
    rows: int
    shows: str


SAMPLES = (
    Sample(
        name="invoices-20.xlsx",
        importer="demo_site.InvoiceLines",
        rows=20,
        shows="twenty good rows: the shortest way through",
    ),
    Sample(
        name="invoices-with-mistakes.csv",
        importer="demo_site.InvoiceLines",
        rows=20,
        shows="a wrong date, an empty amount and a number that comes twice",
    ),
    Sample(
        name="invoices-day-or-month.csv",
        importer="demo_site.InvoiceLines",
        rows=12,
        shows="dates like 03/04/2026, about which the import has to ask",
    ),
    Sample(
        name="contacts-200.csv",
        importer="demo_site.Contacts",
        rows=200,
        shows="semicolons, accents, and a few addresses that are none",
    ),
    Sample(
        name="invoices-1000.xlsx",
        importer="demo_site.InvoiceLines",
        rows=1000,
        shows="a thousand rows, done in seconds",
    ),
    Sample(
        name="slow-invoices-2000.xlsx",
        importer="demo_site.SlowInvoices",
        rows=2000,
        shows="2,000 rows of 280 ms: a few minutes to watch, pause and resume",
    ),
    Sample(
        name="slow-invoices-50000.xlsx",
        importer="demo_site.SlowInvoices",
        rows=50_000,
        shows="50,000 rows of 280 ms: the import that nobody else should have to wait for",
    ),
)


def write_samples(folder: Path) -> list[Path]:
    """Write the files that are not there yet into `folder`; return what was written."""
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for sample in SAMPLES:
        path = folder / sample.name
        if not path.exists():
            part = path.with_name(f".{sample.name}.part")
            _write(sample, part)
            part.rename(path)
            written.append(path)
    return written


def _write(sample: Sample, path: Path) -> None:
    if sample.name == "invoices-with-mistakes.csv":
        _write_csv(path, INVOICE_HEADER, _mistakes(sample.rows))
    elif sample.name == "invoices-day-or-month.csv":
        _write_csv(path, INVOICE_HEADER, _unclear_dates(sample.rows))
    elif sample.name == "contacts-200.csv":
        _write_csv(path, ("Full name", "Mail", "Telephone"), _contacts(sample.rows), delimiter=";")
    else:
        prefix = "SLOW" if sample.name.startswith("slow") else "INV"
        _write_xlsx(path, INVOICE_HEADER, invoices(sample.rows, prefix))


def invoices(rows: int, prefix: str) -> Iterator[tuple[str, str, float, dt.date]]:
    """Give `rows` good invoice lines, the same ones at each call."""
    chance = Random(rows)  # noqa: S311  (invented amounts, not secrets)
    for number in range(1, rows + 1):
        amount = chance.randrange(500, 500_000) / 100
        due = FIRST_DUE + dt.timedelta(days=number % 360)
        yield f"{prefix}-{number:05d}", chance.choice(CUSTOMERS), amount, due


def _mistakes(rows: int) -> Iterator[tuple[str, ...]]:
    for index, (number, customer, amount, due) in enumerate(invoices(rows, "MIS"), start=1):
        cells = [number, customer, f"{amount:.2f}", due.isoformat()]
        if index == 4:
            cells[3] = "2026-02-30"
        elif index == 9:
            cells[2] = ""
        elif index == 15:
            cells[0] = "MIS-00002"
        yield tuple(cells)


def _unclear_dates(rows: int) -> Iterator[tuple[str, ...]]:
    for index, (number, customer, amount, _due) in enumerate(invoices(rows, "DOM")):
        day, month = index % 12 + 1, index * 5 % 12 + 1
        yield number, customer, f"{amount:.2f}", f"{day:02d}/{month:02d}/2026"


def _contacts(rows: int) -> Iterator[tuple[str, ...]]:
    for index in range(1, rows + 1):
        name = PEOPLE[index % len(PEOPLE)] if index % 7 else "Zoë Müller"
        mail = f"person{index}@example.com" if index % 40 else f"person{index} at example.com"
        yield name, mail, f"+49 30 {100_000 + index}"


def _write_csv(
    path: Path, header: tuple[str, ...], rows: Iterator[tuple[str, ...]], delimiter: str = ","
) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, delimiter=delimiter)
        writer.writerow(header)
        writer.writerows(rows)


def _write_xlsx(
    path: Path, header: tuple[str, ...], rows: Iterator[tuple[str, str, float, dt.date]]
) -> None:
    book = Workbook(write_only=True)
    sheet = book.create_sheet("Invoices")
    sheet.append(header)
    for row in rows:
        sheet.append(row)
    book.save(path)
