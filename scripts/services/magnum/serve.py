"""Runs Magnum's API and its conductor in one process, joined by oslo.messaging's in-memory transport, so that no message queue
is needed:

    serve.py CONFIG PORT

SIGUSR1 stops the conductor (nothing answers casts and calls, as when its process has ended), SIGUSR2 starts it again.
"""

import functools
import os
import signal
import sys
import threading

conf_file, port = sys.argv[1], int(sys.argv[2])
sys.argv = ["magnum", "--config-file", conf_file]

# before anything of oslo: it selects threads, where oslo.service would use eventlet
import magnum.conf  # noqa: E402, I001
import pecan.util  # noqa: E402
import sqlalchemy  # noqa: E402
from oslo_messaging._drivers import impl_fake  # noqa: E402
from sqlalchemy import event, pool  # noqa: E402
from sqlalchemy.engine import Engine  # noqa: E402

create_engine = sqlalchemy.create_engine


def create_engine_with_pool(url, **arguments):
    """oslo.db opens SQLite's file for each transaction, which is half of the time of a short one. This pool has no limit either."""
    if arguments.get("poolclass") is pool.NullPool:
        arguments.update(poolclass=pool.QueuePool, pool_size=16, max_overflow=-1, pool_pre_ping=False)
    return create_engine(url, **arguments)


sqlalchemy.create_engine = create_engine_with_pool
# reads the parameters of the same functions some 13 times a request, and makes a class for each
pecan.util._getargspec = functools.lru_cache(maxsize=1024)(pecan.util._getargspec)


@event.listens_for(Engine, "connect")
def connect(connection, _record):
    for pragma in ("journal_mode=WAL", "synchronous=OFF", "busy_timeout=20000"):
        connection.execute(f"PRAGMA {pragma}")


@event.listens_for(Engine, "begin")
def begin(connection):
    """Takes SQLite's write lock at the first write of a transaction. oslo.db begins a transaction before the first read, which
    SQLite then refuses to let write when another has written since: "database is locked", at once and for good."""
    connection.info["in_transaction"] = True
    connection.connection.dbapi_connection.isolation_level = "IMMEDIATE"


# this transport refuses what is not JSON by itself; a real queue's sends Magnum's "unset" (an upgrade without max_batch_size)
impl_fake.FakeDriver._check_serialize = staticmethod(lambda message: None)

from magnum.common import rpc_service, short_id  # noqa: E402
from magnum.common import service as magnum_service  # noqa: E402
from magnum.conductor.handlers import (  # noqa: E402
    ca_conductor,
    cluster_conductor,
    conductor_listener,
    credential_conductor,
    federation_conductor,
    indirection_api,
    nodegroup_conductor,
)

magnum_service.prepare_service(sys.argv)

from magnum import objects  # noqa: E402
from magnum.api import app as api  # noqa: E402
from magnum.db.sqlalchemy import models  # noqa: E402
from magnum.drivers.common import driver  # noqa: E402
from magnum.service import periodic  # noqa: E402
from magnum.servicegroup import magnum_service_periodic  # noqa: E402
from oslo_db.sqlalchemy import enginefacade  # noqa: E402
from werkzeug import serving  # noqa: E402

import k8s_local  # noqa: E402

# upstream asks drivers for the status every 10 s, which is not configurable, and for the health every 60 s
periodic.MagnumPeriodicTasks._periodic_spacing.update(sync_cluster_status=1, sync_cluster_health_status=3)
# a conductor reports itself every 60 s
magnum_service_periodic.MagnumServicePeriodicTasks._periodic_spacing.update(update_magnum_service=2)

# without this SQLAlchemy compiles statements with such columns each time; a subclass does not inherit it
models.JSONEncodedDict.cache_ok = models.JSONEncodedList.cache_ok = True

find_driver = driver.Driver.get_driver_for_cluster.__func__
cluster_types = {}


def get_driver_for_cluster(cls, context, cluster):
    """Reads a cluster's template once for the periodic tasks, which ask for each cluster every second or three. Magnum refuses
    to change these fields of a template, or to delete it, while a cluster refers to it. Others may not see the template."""
    if not (context.is_admin and context.all_tenants):
        return find_driver(cls, context, cluster)
    key = (cluster.uuid, cluster.cluster_template_id)
    if key not in cluster_types:
        template = objects.ClusterTemplate.get_by_uuid(context, cluster.cluster_template_id)
        cluster_types[key] = (template.server_type, template.cluster_distro, template.coe, template.driver)
    return cls.get_driver(*cluster_types[key])


driver.Driver.get_driver_for_cluster = classmethod(get_driver_for_cluster)

HANDLERS = (
    indirection_api,
    cluster_conductor,
    conductor_listener,
    credential_conductor,
    ca_conductor,
    federation_conductor,
    nodegroup_conductor,
)


class Conductor:
    def __init__(self):
        self.service = None

    def start(self, *_):
        if self.service:
            return
        topic = magnum.conf.CONF.conductor.topic
        handlers = [module.Handler() for module in HANDLERS]
        self.service = rpc_service.Service.create(topic, short_id.generate_id(), handlers, binary="magnum-conductor")
        self.service.create_periodic_tasks()
        self.service.start()

    def stop(self, *_):
        if self.service:
            self.service.stop()
            self.service = None


class RequestHandler(serving.WSGIRequestHandler):
    protocol_version = "HTTP/1.1"

    def log(self, type, message, *arguments):
        pass


def create_tables():
    """Magnum's migrations are for MySQL only; the models give the same tables."""
    models.Base.metadata.create_all(enginefacade.writer.get_engine())


def main():
    create_tables()
    conductor = Conductor()
    conductor.start()
    threading.Thread(target=k8s_local.resume, daemon=True).start()
    signal.signal(signal.SIGUSR1, conductor.stop)
    signal.signal(signal.SIGUSR2, conductor.start)
    signal.signal(signal.SIGTERM, lambda *_: os._exit(0))
    serving.run_simple("127.0.0.1", port, api.load_app(), threaded=True, request_handler=RequestHandler)


main()
