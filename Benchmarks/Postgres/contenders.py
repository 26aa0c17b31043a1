#!/usr/bin/env python3
"""SQLAlchemy and Django on the workloads of `PostgresBench`: a line of JSON for each run.

    contenders.py sqlalchemy read postgres://… 100000 1

The data and the check values are those of the Swift program; see `DataSet.swift` there.
"""
import datetime
import json
import sys
import time
import urllib.parse

EPOCH = datetime.datetime(2001, 1, 1, tzinfo=datetime.timezone.utc)
COUNTRIES = 250
ZONES = ["Africa/Lagos", "America/Lima", "Asia/Tokyo", "Australia/Perth", "Europe/Paris", "Europe/Rome", "Pacific/Apia", "UTC"]


def place(i, count):
    return dict(
        city_id=f"c{i}", name=f"Town {i * 7_919 % count}", latitude=i * 7_919 % 180_000 / 1_000 - 90,
        longitude=i * 104_729 % 360_000 / 1_000 - 180, population=i * 611_953 % 1_000_000, timezone=ZONES[i % 8],
        updated_at=EPOCH + datetime.timedelta(seconds=i * 37 % 600_000_000), country_id=f"C{i * 31 % COUNTRIES}")


def half_away(value):
    """Rounds as Swift's `rounded()` does."""
    return int(abs(value) + 0.5) * (1 if value >= 0 else -1)


def whole(city):
    texts = sum(len(text.encode()) for text in (city.city_id, city.name, city.timezone, city.country_id))
    return (texts + half_away(city.latitude * 1_000) + half_away(city.longitude * 1_000) + city.population
            + int((city.updated_at - EPOCH).total_seconds()))


def measure(body):
    start = time.perf_counter()
    check = body()
    return time.perf_counter() - start, check


def connection_parts(url):
    """What psycopg takes; the host is a folder, which SQLAlchemy does not read from a URL."""
    parts = urllib.parse.urlsplit(url)
    return {"host": urllib.parse.unquote(parts.netloc.split("@")[-1]), "user": parts.username, "dbname": parts.path[1:]}


def sqlalchemy_contender(url, count):
    import sqlalchemy as sa
    from sqlalchemy import orm

    class Base(orm.DeclarativeBase):
        pass

    class Country(Base):
        __tablename__ = "country"
        code = sa.Column(sa.Text, primary_key=True)
        name = sa.Column(sa.Text, nullable=False)
        cities = orm.relationship("City", back_populates="country")

    class City(Base):
        __tablename__ = "city"
        city_id = sa.Column(sa.Text, primary_key=True)
        name = sa.Column(sa.Text, nullable=False)
        latitude = sa.Column(sa.Double, nullable=False)
        longitude = sa.Column(sa.Double, nullable=False)
        population = sa.Column(sa.BigInteger, nullable=False, index=True)
        timezone = sa.Column(sa.Text, nullable=False)
        updated_at = sa.Column(sa.DateTime(timezone=True), nullable=False)
        country_id = sa.Column(sa.Text, sa.ForeignKey("country.code"), index=True)
        country = orm.relationship(Country, back_populates="cities")

    engine = sa.create_engine(
        "postgresql+psycopg://",
        connect_args=connection_parts(url) | {"options": "-c search_path=bench_sqlalchemy -c timezone=UTC"})

    def trial(workload):
        if workload == "insert":
            with engine.begin() as connection:
                connection.execute(sa.text("DROP SCHEMA IF EXISTS bench_sqlalchemy CASCADE"))
                connection.execute(sa.text("CREATE SCHEMA bench_sqlalchemy"))
            Base.metadata.create_all(engine)
        session = orm.Session(engine)
        session.connection()
        ids = [place(i * 611_953 % count, count)["city_id"] for i in range(min(10_000, count))]

        def insert():
            session.add_all([Country(code=f"C{i}", name=f"Country {i}") for i in range(COUNTRIES)])
            session.flush()
            session.add_all([City(**place(i, count)) for i in range(count)])
            session.commit()
            return count

        def update(cities):
            for city in cities:
                city.population += 1
            session.commit()
            return len(cities)

        chosen = sa.select(City).where(City.city_id.in_(ids))
        cities = session.scalars(chosen).all() if workload == "update" else []
        body = {
            "insert": insert,
            "read": lambda: sum(whole(city) for city in session.scalars(sa.select(City))),
            "lookup": lambda: sum(session.get(City, key).population for key in ids),
            "set": lambda: sum(city.population for city in session.scalars(chosen)),
            "update": lambda: update(cities),
            "relations": lambda: sum(
                city.population for country in session.scalars(sa.select(Country)) for city in country.cities),
        }[workload]
        result = measure(body)
        session.close()
        if workload == "insert":
            with engine.begin() as connection:
                connection.execute(sa.text("ANALYZE"))
        return result

    return trial


def django_contender(url, count):
    import django
    from django.conf import settings
    parts = connection_parts(url)
    settings.configure(
        DATABASES={"default": {
            "ENGINE": "django.db.backends.postgresql", "NAME": parts["dbname"], "USER": parts["user"],
            "HOST": parts["host"], "OPTIONS": {"options": "-c search_path=bench_django"}}},
        INSTALLED_APPS=[], USE_TZ=True, DEFAULT_AUTO_FIELD="django.db.models.BigAutoField")
    django.setup()
    from django.db import connection, models, transaction

    class Country(models.Model):
        code = models.TextField(primary_key=True)
        name = models.TextField()

        class Meta:
            app_label = "bench"
            db_table = "country"

    class City(models.Model):
        city_id = models.TextField(primary_key=True)
        name = models.TextField()
        latitude = models.FloatField()
        longitude = models.FloatField()
        population = models.BigIntegerField(db_index=True)
        timezone = models.TextField()
        updated_at = models.DateTimeField()
        country = models.ForeignKey(Country, models.SET_NULL, null=True, related_name="cities")

        class Meta:
            app_label = "bench"
            db_table = "city"

    def trial(workload):
        if workload == "insert":
            with connection.cursor() as cursor:
                cursor.execute("DROP SCHEMA IF EXISTS bench_django CASCADE; CREATE SCHEMA bench_django")
            with connection.schema_editor() as editor:
                editor.create_model(Country)
                editor.create_model(City)
        ids = [place(i * 611_953 % count, count)["city_id"] for i in range(min(10_000, count))]

        def insert():
            with transaction.atomic():
                Country.objects.bulk_create([Country(code=f"C{i}", name=f"Country {i}") for i in range(COUNTRIES)])
                City.objects.bulk_create([City(**place(i, count)) for i in range(count)], batch_size=5_000)
            return count

        def update(cities):
            with transaction.atomic():
                for city in cities:
                    city.population += 1
                    city.save(update_fields=["population"])
            return len(cities)

        chosen = City.objects.filter(pk__in=ids)
        cities = list(chosen) if workload == "update" else []
        result = measure({
            "insert": insert,
            "read": lambda: sum(whole(city) for city in City.objects.all()),
            "lookup": lambda: sum(City.objects.get(pk=key).population for key in ids),
            "set": lambda: sum(city.population for city in chosen.all()),
            "update": lambda: update(cities),
            "relations": lambda: sum(
                city.population for country in Country.objects.all() for city in country.cities.all()),
        }[workload])
        if workload == "insert":
            with connection.cursor() as cursor:
                cursor.execute("ANALYZE")
        return result

    return trial


def main():
    contender, workload, url, count, runs = sys.argv[1:]
    make = {"sqlalchemy": sqlalchemy_contender, "django": django_contender}[contender]
    trial = make(url, int(count))
    for _ in range(int(runs)):
        seconds, check = trial(workload)
        print(json.dumps({"seconds": seconds, "check": check, "statements": None}))


if __name__ == "__main__":
    main()
