"""What the drivers share: operations that advance with time, and the servers, networks and load balancers that they make in
the stand-in for the cloud (scripts/services/magnum/cloud).
"""
