# SPDX-License-Identifier: BSD-2-Clause
"""A shop's list of orders: Django on PostgreSQL.  shop.py PORT SOCKET_DIRECTORY"""
import sys
from wsgiref.simple_server import WSGIRequestHandler, make_server

import django
from django.conf import settings

settings.configure(
    ALLOWED_HOSTS=["*"], ROOT_URLCONF=__name__, SECRET_KEY="a demonstration",
    TEMPLATES=[{"BACKEND": "django.template.backends.django.DjangoTemplates"}],
    DATABASES={"default": {"ENGINE": "django.db.backends.postgresql", "NAME": "postgres", "USER": "postgres",
                           "HOST": sys.argv[2], "CONN_MAX_AGE": None}})
django.setup()

from django.core.wsgi import get_wsgi_application
from django.db import connection, models
from django.http import HttpResponse
from django.template import engines
from django.urls import path


class Order(models.Model):
    customer, amount = models.CharField(max_length=40), models.IntegerField()

    class Meta:
        app_label = "shop"


PAGE = engines["django"].from_string(
    "<table>{% for o in orders %}<tr><td>{{ o.customer }}</td><td>{{ o.amount }}</td></tr>{% endfor %}</table>{{ total }}")


def total_of(orders):
    total = 0
    for o in orders:
        total += o.amount * (100 if o.amount % 7 else 93) // 100
    return total


def show_orders(request):
    orders = list(Order.objects.filter(amount__gt=20).order_by("customer")[:300])
    return HttpResponse(PAGE.render({"orders": orders, "total": total_of(orders)}))


urlpatterns = [path("", show_orders)]


class Silent(WSGIRequestHandler):
    def log_message(self, *args):
        pass


if __name__ == "__main__":
    with connection.schema_editor() as editor:
        editor.create_model(Order)
    Order.objects.bulk_create(Order(customer="customer %04d" % (i * 7919 % 2000), amount=i % 100) for i in range(2000))
    make_server("127.0.0.1", int(sys.argv[1]), get_wsgi_application(), handler_class=Silent).serve_forever()
