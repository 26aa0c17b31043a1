"""The same three requests by Django REST framework, over SQLite in WAL mode with full durability.

    django_items.py setup <file> <count>      makes the table and its first objects
    gunicorn django_items:application         serves it; ITEMS names the file
"""
import os
import sys

import django
from django.conf import settings

FILE = sys.argv[2] if len(sys.argv) > 2 and sys.argv[1] == "setup" else os.environ["ITEMS"]
settings.configure(
    DEBUG=False,
    SECRET_KEY="benchmark",
    ALLOWED_HOSTS=["*"],
    ROOT_URLCONF=__name__,
    INSTALLED_APPS=["rest_framework"],
    MIDDLEWARE=[],
    REST_FRAMEWORK={
        "DEFAULT_AUTHENTICATION_CLASSES": [], "DEFAULT_PERMISSION_CLASSES": [], "UNAUTHENTICATED_USER": None,
        "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    },
    DATABASES={
        "default": {
            "ENGINE": "django.db.backends.sqlite3", "NAME": FILE, "CONN_MAX_AGE": None,
            "OPTIONS": {
                "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL;", "timeout": 20,
                "transaction_mode": "IMMEDIATE",
            },
        }
    },
)
django.setup()

from django.core.wsgi import get_wsgi_application  # noqa: E402
from django.db import connection, models  # noqa: E402
from django.urls import include, path  # noqa: E402
from rest_framework import routers, serializers, viewsets  # noqa: E402


class Item(models.Model):
    item_id = models.CharField(max_length=64, primary_key=True)
    title = models.TextField()
    n = models.BigIntegerField()
    done = models.BooleanField()
    changed = models.DateTimeField(auto_now=True)

    class Meta:
        app_label = "items"


class ItemSerializer(serializers.ModelSerializer):
    item_id = serializers.CharField(required=False)

    class Meta:
        model = Item
        fields = ["item_id", "title", "n", "done", "changed"]

    def create(self, values):
        values.setdefault("item_id", os.urandom(16).hex())
        return Item.objects.create(**values)


class ItemView(viewsets.ModelViewSet):
    serializer_class = ItemSerializer
    queryset = Item.objects.order_by("item_id")

    def list(self, request):
        from rest_framework.response import Response

        return Response(ItemSerializer(self.queryset.all()[:20], many=True).data)


router = routers.DefaultRouter(trailing_slash=False)
router.register("item", ItemView)
urlpatterns = [path("", include(router.urls))]

if len(sys.argv) > 1 and sys.argv[1] == "setup":
    with connection.schema_editor() as editor:
        editor.create_model(Item)
    Item.objects.bulk_create(
        Item(item_id="i%06d" % number, title="title %d" % number, n=number, done=number % 2 == 0)
        for number in range(int(sys.argv[3]))
    )
else:
    application = get_wsgi_application()
