# Where browsers find Portico and the apps behind it. Sourced.

scheme() { if [ "$gateway_tls" = yes ]; then echo https; else echo http; fi; }
portico_url() { echo "$(scheme)://localhost:${port[gateway]}"; }
app_url() { echo "$(scheme)://$1.apps.localhost:${port[gateway]}"; }
