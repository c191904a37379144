"""Records of tenants that rows of files create, repeat or refer to."""

from django.db import models


class Supplier(models.Model):
    """Somebody who delivers; two of one tenant may have the same name."""

    tenant = models.CharField(max_length=40)
    name = models.CharField(max_length=100)

    def __str__(self):
        return f"supplier {self.pk}"


class Article(models.Model):
    """Something in store, known by its code."""

    tenant = models.CharField(max_length=40)
    code = models.CharField(max_length=40)
    name = models.CharField(max_length=100, blank=True)
    quantity = models.IntegerField(null=True, blank=True)
    price = models.DecimalField(max_digits=8, decimal_places=2, null=True, blank=True)
    active = models.BooleanField(default=True)
    supplier = models.ForeignKey(Supplier, models.CASCADE, null=True, blank=True)
    changed = models.DateTimeField(auto_now=True)

    class Meta:
        constraints = (models.UniqueConstraint(fields=("tenant", "code"), name="article_code"),)

    def __str__(self):
        return self.code


class Movement(models.Model):
    """Something that went in or out; nothing keeps it from being written twice."""

    tenant = models.CharField(max_length=40)
    code = models.CharField(max_length=80)
    quantity = models.IntegerField()

    def __str__(self):
        return self.code
