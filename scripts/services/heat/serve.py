"""Runs Heat's API and its engine in one process, joined by oslo.messaging's in-memory transport, so that no message queue is
needed:

    serve.py CONFIG PORT
"""

import os
import signal
import sys

conf_file, port = sys.argv[1], int(sys.argv[2])
sys.argv = ["heat", "--config-file", conf_file]

# before anything else of oslo: threads, where oslo.service would use eventlet
from oslo_service import backend  # noqa: E402, I001

backend.init_backend(backend.BackendType.THREADING)

from heat.common import config, messaging, wsgi  # noqa: E402
from oslo_config import cfg  # noqa: E402
from oslo_log import log as logging  # noqa: E402
from sqlalchemy import event  # noqa: E402
from sqlalchemy.engine import Engine  # noqa: E402


@event.listens_for(Engine, "connect")
def connect(connection, _record):
    for pragma in ("journal_mode=WAL", "synchronous=OFF", "busy_timeout=20000"):
        connection.execute(f"PRAGMA {pragma}")


@event.listens_for(Engine, "begin")
def begin(connection):
    """Takes SQLite's write lock at the first write of a transaction, as in Magnum's serve.py."""
    connection.info["in_transaction"] = True
    connection.connection.dbapi_connection.isolation_level = "IMMEDIATE"


from heat.db import api as db_api  # noqa: E402
from heat.db import models  # noqa: E402
from heat.engine import service as engine  # noqa: E402
from heat.rpc import api as rpc_api  # noqa: E402
from werkzeug import serving  # noqa: E402


class RequestHandler(serving.WSGIRequestHandler):
    protocol_version = "HTTP/1.1"

    def log(self, type, message, *arguments):
        pass


def main():
    logging.register_options(cfg.CONF)
    cfg.CONF(project="heat", prog="heat")
    logging.setup(cfg.CONF, "heat")
    config.set_config_defaults()
    messaging.setup()
    models.BASE.metadata.create_all(db_api.get_engine())
    service = engine.EngineService(cfg.CONF.host, rpc_api.ENGINE_TOPIC)
    service.start()
    signal.signal(signal.SIGTERM, lambda *_: os._exit(0))
    paste = cfg.CONF.paste_deploy.api_paste_config
    application = wsgi.paste_deploy_app(paste, "heat-api", cfg.CONF)
    serving.run_simple("127.0.0.1", port, application, threaded=True, request_handler=RequestHandler)


main()
