"""A stand-in for Nova, Neutron, Cinder, Octavia and Glance: their REST APIs as far as Portico, Magnum and its drivers use
them, on records in one JSON file. Nothing is started, connected or stored: a server here is a line in that file.
"""
