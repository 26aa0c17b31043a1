#!/usr/bin/env python3
"""SQLAlchemy and Django on the benchmark's workloads: one process for one contender and one workload, a line of JSON as the result.

    Data/venv/bin/python contenders.py --folder Data run sqlalchemy W3 -n 100000 --runs 2
    Data/venv/bin/python contenders.py migrate rebuild places.sqlite

Data, selections and check values are those of the Swift program; see `DataSet.swift` there.
"""

import argparse
import datetime
import gc
import json
import math
import os
import pathlib
import shutil
import sqlite3
import sys
import time

EPOCH = datetime.datetime(2001, 1, 1)
WRITING = {"W1", "W1F", "W2", "W2F", "W7", "W8", "W8N"}
INSERTING = {"W1", "W1F", "W2", "W2F"}
PREFIXES = ["B", "C", "N", "H", "D", "R", "W", "F", "O", "I"]
PAGES = [(PREFIXES[i % 10], i // 10 % 4 * 25) for i in range(200)]


class DataSet:
    def __init__(self, folder, n):
        lines = (folder / "cities.tsv").read_text(encoding="utf-8").splitlines()
        self.countries = [line.split("\t") for line in (folder / "countries.tsv").read_text(encoding="utf-8").splitlines()]
        self.cities = []
        for index in range(n):
            position = index * len(lines) // n if n <= len(lines) else index % len(lines)
            f = lines[position].split("\t")
            suffix = index // len(lines)
            self.cities.append(dict(
                cityId=f"{f[0]}-{suffix}" if suffix else f[0], name=f"{f[1]} {suffix}" if suffix else f[1],
                latitude=float(f[2]), longitude=float(f[3]), population=int(f[4]), timezone=f[5],
                updatedAt=EPOCH + datetime.timedelta(seconds=int(f[6])), country=f[7]))

    @property
    def scattered(self):
        count = len(self.cities)
        return [self.cities[i * 611_953 % count] for i in range(min(10_000, count))]

    @property
    def deleted_countries(self):
        return [self.countries[i * 5][0] for i in range(50)]

    @property
    def boxes(self):
        picked = (self.cities[(i * 611_953 + 17) % len(self.cities)] for i in range(20))
        return [(city["latitude"], city["longitude"]) for city in picked]


def near(box, latitude, longitude):
    a = math.sin(math.radians(latitude - box[0]) / 2)
    b = math.sin(math.radians(longitude - box[1]) / 2)
    h = a * a + math.cos(math.radians(latitude)) * math.cos(math.radians(box[0])) * b * b
    return 2 * 6_371 * math.asin(min(1, math.sqrt(h))) <= 100


def whole(city, country):
    """Depends on all attributes."""
    texts = len(city.cityId.encode()) + len(city.name.encode()) + len(city.timezone.encode()) + len((country or "").encode())
    return (city.population + texts + round(city.latitude * 100_000) + round(city.longitude * 100_000)
            + int((city.updatedAt - EPOCH).total_seconds()))


def left_in_file(path):
    database = sqlite3.connect(path)
    parts = ["SELECT count(*) FROM city", "SELECT sum(population) FROM city", "SELECT count(*) FROM country",
             "SELECT count(*) FROM city WHERE countryCode IS NULL", "SELECT count(*) FROM city_tag"]
    result = 0
    for sql in parts:
        result = result * 31 + (database.execute(sql).fetchone()[0] or 0)
    database.close()
    return result


def status(key):
    with open("/proc/self/status", encoding="ascii") as lines:
        for line in lines:
            if line.startswith(key):
                return int(line.split()[1])
    return 0


class Counter:
    count = 0


def sqlalchemy_contender():
    import sqlalchemy as sa
    from sqlalchemy import orm

    class Base(orm.DeclarativeBase):
        pass

    class Country(Base):
        __tablename__ = "country"
        code = sa.Column(sa.String, primary_key=True)
        name = sa.Column(sa.String)
        population = sa.Column(sa.Integer)
        cities = orm.relationship("City", back_populates="country", passive_deletes=True)

    class City(Base):
        __tablename__ = "city"
        cityId = sa.Column(sa.String, primary_key=True)
        name = sa.Column(sa.String)
        latitude = sa.Column(sa.Float)
        longitude = sa.Column(sa.Float)
        population = sa.Column(sa.Integer)
        timezone = sa.Column(sa.String)
        updatedAt = sa.Column(sa.DateTime)
        countryCode = sa.Column(sa.String, sa.ForeignKey("country.code"))
        country = orm.relationship(Country, back_populates="cities")

    def make(values, countries):
        city = City(**{key: value for key, value in values.items() if key != "country"})
        city.country = countries[values["country"]]
        return city

    def trial(workload, data, path):
        engine = sa.create_engine(f"sqlite:///{path}")

        @sa.event.listens_for(engine, "connect")
        def pragmas(connection, record):
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute(f"PRAGMA synchronous = {'FULL' if workload.endswith('F') else 'NORMAL'}")
            connection.execute("PRAGMA foreign_keys = ON")

        @sa.event.listens_for(engine, "before_cursor_execute")
        def count(connection, cursor, statement, parameters, context, executemany):
            Counter.count += len(parameters) if executemany else 1

        engine.connect().close()
        session = orm.Session(engine)

        def insert(size):
            countries = {country.code: country for country in session.scalars(sa.select(Country))}
            for start in range(0, len(data.cities), size):
                with session.no_autoflush:
                    session.add_all([make(city, countries) for city in data.cities[start:start + size]])
                session.commit()
                if size < len(data.cities):
                    countries = {country.code: country for country in session.scalars(sa.select(Country))}
            return len(data.cities)

        def every():
            return session.scalars(sa.select(City)).all()

        def by_key():
            return sum(session.get(City, city["cityId"]).population for city in data.scattered)

        def pages():
            total = 0
            for prefix, offset in PAGES:
                request = sa.select(City).where(City.name.like(prefix + "%")).order_by(City.population.desc())
                total += sum(city.population for city in session.scalars(request.limit(50).offset(offset)))
            return total

        def relations(*options):
            countries = session.scalars(sa.select(Country).options(*options)).all()
            return sum(city.population for country in countries for city in country.cities)

        def update(cities):
            for city in cities:
                city.population += 1
            session.commit()
            return len(cities)

        def delete(objects):
            for value in objects:
                session.delete(value)
            session.commit()
            return len(objects)

        def group():
            request = sa.select(City.countryCode, sa.func.count(), sa.func.sum(City.population)).group_by(City.countryCode)
            return sum(count * 7 + people for _, count, people in session.execute(request))

        def boxes():
            hits = 0
            for box in data.boxes:
                request = sa.select(City).where(
                    City.latitude.between(box[0] - 1, box[0] + 1), City.longitude.between(box[1] - 1, box[1] + 1))
                hits += sum(near(box, city.latitude, city.longitude) for city in session.scalars(request))
            return hits

        if workload in ("W1", "W1F"):
            return lambda: insert(len(data.cities))
        if workload in ("W2", "W2F"):
            return lambda: insert(100)
        if workload == "W3":
            return lambda: sum(whole(city, city.countryCode) for city in every())
        if workload == "W3P":
            return lambda: sum(city.population + len(city.name.encode()) for city in every())
        if workload == "W4":
            return by_key
        if workload in ("W4R", "W6R", "W11"):
            held = every()
            again = {"W4R": by_key, "W6R": relations, "W11": lambda: sum(city.population for city in every())}[workload]
            return lambda: again() if held else 0
        if workload == "W5":
            return pages
        if workload == "W6":
            return relations
        if workload == "W6P":
            return lambda: relations(orm.selectinload(Country.cities))
        if workload in ("W7", "W8"):
            loaded = [session.get(City, city["cityId"]) for city in data.scattered]
            return (lambda: update(loaded)) if workload == "W7" else (lambda: delete(loaded))
        if workload == "W8N":
            loaded = [session.get(Country, code) for code in data.deleted_countries]
            return lambda: delete(loaded)
        return group if workload == "W9" else boxes

    return trial


def django_contender():
    import django
    from django.conf import settings
    settings.configure(
        DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": ":memory:"}}, INSTALLED_APPS=[], USE_TZ=False,
        DEFAULT_AUTO_FIELD="django.db.models.BigAutoField")
    django.setup()
    from django.db import connection, models, transaction

    class Country(models.Model):
        code = models.TextField(primary_key=True)
        name = models.TextField()
        population = models.BigIntegerField()

        class Meta:
            app_label = "bench"
            managed = False
            db_table = "country"

    class City(models.Model):
        cityId = models.TextField(primary_key=True)
        name = models.TextField()
        latitude = models.FloatField()
        longitude = models.FloatField()
        population = models.BigIntegerField()
        timezone = models.TextField()
        updatedAt = models.DateTimeField()
        country = models.ForeignKey(Country, models.SET_NULL, null=True, db_column="countryCode", related_name="cities")

        class Meta:
            app_label = "bench"
            managed = False
            db_table = "city"

    class CityTag(models.Model):
        city = models.ForeignKey(City, models.CASCADE, db_column="cityId")
        tagId = models.IntegerField()

        class Meta:
            app_label = "bench"
            managed = False
            db_table = "city_tag"

    def count(execute, sql, params, many, context):
        if many:
            params = list(params)
        Counter.count += len(params) if many else 1
        return execute(sql, params, many, context)

    def make(values):
        return City(**{key: value for key, value in values.items() if key != "country"}, country_id=values["country"])

    def trial(workload, data, path):
        connection.close()
        connection.settings_dict["NAME"] = path
        connection.connect()
        with connection.cursor() as cursor:
            cursor.execute("PRAGMA journal_mode = WAL")
            cursor.execute(f"PRAGMA synchronous = {'FULL' if workload.endswith('F') else 'NORMAL'}")
        connection.execute_wrappers[:] = [count]

        def insert(size):
            for start in range(0, len(data.cities), size):
                with transaction.atomic():
                    City.objects.bulk_create([make(city) for city in data.cities[start:start + size]])
            return len(data.cities)

        def every():
            return list(City.objects.all())

        def by_key():
            return sum(City.objects.get(pk=city["cityId"]).population for city in data.scattered)

        def pages():
            total = 0
            for prefix, offset in PAGES:
                found = City.objects.filter(name__startswith=prefix).order_by("-population")[offset:offset + 50]
                total += sum(city.population for city in found)
            return total

        def relations(request):
            return sum(city.population for country in request for city in country.cities.all())

        def update(cities):
            with transaction.atomic():
                for city in cities:
                    city.population += 1
                    city.save(update_fields=["population"])
            return len(cities)

        def delete(model, keys):
            with transaction.atomic():
                for start in range(0, len(keys), 500):
                    model.objects.filter(pk__in=keys[start:start + 500]).delete()
            return len(keys)

        def group():
            request = City.objects.values_list("country_id").annotate(models.Count("pk"), models.Sum("population"))
            return sum(number * 7 + people for _, number, people in request)

        def boxes():
            hits = 0
            for box in data.boxes:
                found = City.objects.filter(
                    latitude__range=(box[0] - 1, box[0] + 1), longitude__range=(box[1] - 1, box[1] + 1))
                hits += sum(near(box, city.latitude, city.longitude) for city in found)
            return hits

        if workload in ("W1", "W1F"):
            return lambda: insert(len(data.cities))
        if workload in ("W2", "W2F"):
            return lambda: insert(100)
        if workload == "W3":
            return lambda: sum(whole(city, city.country_id) for city in every())
        if workload == "W3P":
            return lambda: sum(city.population + len(city.name.encode()) for city in every())
        if workload in ("W4", "W4R"):
            return by_key
        if workload == "W5":
            return pages
        if workload in ("W6", "W6R"):
            return lambda: relations(Country.objects.all())
        if workload == "W6P":
            return lambda: relations(Country.objects.prefetch_related("cities"))
        if workload == "W7":
            cities = [make(city) for city in data.scattered]
            for city in cities:
                city._state.adding = False
                city._state.db = "default"
            return lambda: update(cities)
        if workload == "W8":
            keys = [city["cityId"] for city in data.scattered]
            return lambda: delete(City, keys)
        if workload == "W8N":
            return lambda: delete(Country, data.deleted_countries)
        if workload == "W9":
            return group
        if workload == "W10":
            return boxes
        return lambda: sum(city.population for city in every())

    return trial


def migrate(change, path):
    """One of the changes of `MigrationFiles.swift` as a migration of Django; answers the CPU time in milliseconds."""
    from django.conf import settings
    settings.configure(
        DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": path}}, INSTALLED_APPS=[], USE_TZ=False)
    import django
    django.setup()
    from django.db import connection, migrations, models
    from django.db.migrations.state import ModelState, ProjectState

    state = ProjectState()
    state.add_model(ModelState("places", "Country", [
        ("id", models.BigIntegerField(primary_key=True, db_column="_id")),
        ("version", models.BigIntegerField(db_column="_version")),
        ("code", models.TextField(unique=True)),
    ], options={"db_table": "country"}))
    state.add_model(ModelState("places", "Place", [
        ("id", models.BigIntegerField(primary_key=True, db_column="_id")),
        ("version", models.BigIntegerField(db_column="_version")),
        ("placeId", models.TextField(unique=True, db_column="place_id")),
        ("name", models.TextField()),
        ("latitude", models.FloatField()),
        ("longitude", models.FloatField()),
        ("population", models.IntegerField(db_index=True)),
        ("timezone", models.TextField()),
        ("country", models.ForeignKey("places.Country", models.SET_NULL, null=True, db_column="country")),
    ], options={"db_table": "place"}))
    operation = {
        "add": lambda: migrations.AddField("Place", "note", models.TextField(null=True)),
        "addDefault": lambda: migrations.AddField("Place", "rank", models.BigIntegerField(default=7)),
        "rebuild": lambda: migrations.RemoveField("Place", "country"),
        "convert": lambda: migrations.AlterField("Place", "population", models.FloatField(db_index=True)),
    }[change]()

    class Change(migrations.Migration):
        operations = [operation]

    start = time.process_time_ns()
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA journal_mode = WAL")
        cursor.execute("PRAGMA synchronous = NORMAL")
    with connection.schema_editor() as editor:
        Change("change", "places").apply(state, editor)
    connection.close()
    return (time.process_time_ns() - start) / 1e6


def remove(path):
    for suffix in ("", "-wal", "-shm"):
        pathlib.Path(str(path) + suffix).unlink(missing_ok=True)


def main():
    parser = argparse.ArgumentParser(description="SQLAlchemy and Django on the benchmark's workloads.")
    parser.add_argument("--folder", type=pathlib.Path, default=pathlib.Path("Data"))
    parser.add_argument("command", choices=["run", "migrate"])
    parser.add_argument("contender", help="sqlalchemy or django; for migrate, which always is Django's, the change")
    parser.add_argument("workload", help="the workload; for migrate the path of the file")
    parser.add_argument("-n", type=int, default=100_000)
    parser.add_argument("--runs", type=int, default=1)
    options = parser.parse_args()
    workload, n = options.workload, options.n
    if options.command == "migrate":
        print(migrate(options.contender, workload))
        return
    if options.contender not in ("sqlalchemy", "django"):
        parser.error(f"there is no contender {options.contender}")
    if workload in ("W12", "W12P"):
        # Neither library recognizes new objects by a key: an upsert is a statement of its own there, past the session.
        skipped = "has no upsert of mapped objects"
        print(json.dumps(dict(
            workload=workload, contender=options.contender, n=n, cpu=[], wall=[], peakKiB=0, statements=0, check=0,
            skipped=skipped)))
        return

    trial = sqlalchemy_contender() if options.contender == "sqlalchemy" else django_contender()
    data = DataSet(options.folder, n)
    base = options.folder / f"base-text-{0 if workload in INSERTING else n}.sqlite"
    sample = dict(workload=workload, contender=options.contender, n=n, cpu=[], wall=[], check=None, statements=0)
    for _ in range(options.runs):
        path = base
        if workload in WRITING:
            path = options.folder / f"trial-{os.getpid()}.sqlite"
            remove(path)
            shutil.copyfile(base, path)
        body = trial(workload, data, str(path))
        gc.collect()
        Counter.count = 0
        cpu, wall = time.process_time_ns(), time.monotonic_ns()
        check = body()
        sample["cpu"].append((time.process_time_ns() - cpu) / 1e6)
        sample["wall"].append((time.monotonic_ns() - wall) / 1e6)
        sample["statements"] = Counter.count
        check = check * 31 + (left_in_file(path) if workload in WRITING else 0)
        if workload in WRITING:
            remove(path)
        if sample["check"] not in (None, check):
            sys.exit(f"{options.contender} {workload}: the runs do not agree")
        sample["check"] = check
    sample["peakKiB"] = status("VmHWM")
    print(json.dumps(sample))


if __name__ == "__main__":
    main()
