"""Addresses of the demo site."""

from __future__ import annotations

from django.contrib import admin
from django.contrib.auth.views import LogoutView
from django.urls import include, path
from django.views.generic import RedirectView

from demo_site import views

urlpatterns = [
    path("", views.home, name="home"),
    path("sign-in/", views.SignIn.as_view(), name="login"),
    path("sign-out/", LogoutView.as_view(), name="logout"),
    path("records/", views.records, name="records"),
    path("samples/<str:name>", views.sample, name="sample"),
    path("imports/", include("fairimport.urls")),
    path("admin/rq/", include("django_rq.urls")),
    path("admin/", admin.site.urls),
    path("favicon.ico", RedirectView.as_view(url="/static/demo/icon.svg")),
]
