"""Addresses of the import pages; include them under any prefix."""

from __future__ import annotations

from django.urls import path, re_path

from fairimport import views

app_name = "fairimport"

urlpatterns = [
    path("", views.run_list, name="list"),
    path("new/", views.upload, name="upload"),
    path("example/<str:importer>.csv", views.example_file, name="example"),
    path("<uuid:pk>/", views.run_page, name="run"),
    path("<uuid:pk>/fragment/", views.fragment, name="fragment"),
    path("<uuid:pk>/columns/", views.columns, name="columns"),
    path("<uuid:pk>/corrected/", views.corrected, name="corrected"),
    path("<uuid:pk>/cancel/ask/", views.ask_cancel, name="ask_cancel"),
    path("<uuid:pk>/file/", views.source_file, name="source"),
    re_path(
        r"^(?P<pk>[0-9a-f-]{36})/rejected\.(?P<form>xlsx|csv)$",
        views.rejected_file,
        name="rejected",
    ),
    path("<uuid:pk>/<slug:verb>/", views.verb, name="verb"),
]
