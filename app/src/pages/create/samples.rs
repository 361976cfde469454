//! Manifests to begin with. Ports name their protocol: server-side apply of Kubernetes before 1.21 knows
//! no default for it.
use portico_domain::panel::ResourceKind;

/// Key in the address, label and manifest of each sample.
pub const SAMPLES: [(&str, &str, &str); 7] = [
    ("deployment", "Deployment", DEPLOYMENT),
    ("service", "Service", SERVICE),
    (
        "loadbalancer",
        "Service of type LoadBalancer",
        LOAD_BALANCER,
    ),
    ("ingress", "Ingress", INGRESS),
    ("configmap", "ConfigMap", CONFIG_MAP),
    ("claim", "PersistentVolumeClaim", CLAIM),
    ("cronjob", "CronJob", CRON_JOB),
];

/// Returns the manifest of a sample; `None` for an unknown key.
pub fn text(key: &str) -> Option<&'static str> {
    SAMPLES
        .iter()
        .find(|(known, ..)| *known == key)
        .map(|(_, _, text)| *text)
}

/// API versions that every supported version of Kubernetes serves.
const UNIVERSAL_VERSIONS: [&str; 2] = ["v1", "apps/v1"];

/// Returns whether every cluster serves a manifest's API version.
pub fn is_universal(manifest: &str) -> bool {
    top_level(manifest, "apiVersion:").is_none_or(|version| UNIVERSAL_VERSIONS.contains(&version))
}

/// Returns a manifest with the API version that the cluster prefers for its kind; unchanged if the
/// cluster does not have the kind. `kinds` are the cluster's, in their preferred versions.
pub fn for_cluster(manifest: &str, kinds: &[ResourceKind]) -> String {
    let preferred = || {
        let version = top_level(manifest, "apiVersion:")?;
        let kind = top_level(manifest, "kind:")?;
        let (group, _) = version.split_once('/').unwrap_or(("", version));
        let known = kinds
            .iter()
            .find(|known| known.group == group && known.kind == kind)?;
        let preferred = match group {
            "" => known.version.clone(),
            group => format!("{group}/{}", known.version),
        };
        let line = |version: &str| format!("apiVersion: {version}");
        Some(manifest.replacen(&line(version), &line(&preferred), 1))
    };
    preferred().unwrap_or_else(|| manifest.to_owned())
}

/// Returns the value of a field at the top level of a manifest.
fn top_level<'a>(manifest: &'a str, field: &str) -> Option<&'a str> {
    let mut lines = manifest.lines();
    lines
        .find_map(|line| line.strip_prefix(field))
        .map(str::trim)
}

const DEPLOYMENT: &str = "\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: example
  labels:
    app: example
spec:
  replicas: 2
  selector:
    matchLabels:
      app: example
  template:
    metadata:
      labels:
        app: example
    spec:
      securityContext:
        runAsNonRoot: true
        runAsUser: 1000
      containers:
        - name: main
          image: registry.example.org/example:1.0
          ports:
            - containerPort: 8080
              protocol: TCP
          resources:
            requests:
              cpu: 100m
              memory: 64Mi
            limits:
              memory: 128Mi
";

const SERVICE: &str = "\
apiVersion: v1
kind: Service
metadata:
  name: example
spec:
  selector:
    app: example
  ports:
    - port: 80
      protocol: TCP
      targetPort: 8080
";

const LOAD_BALANCER: &str = "\
apiVersion: v1
kind: Service
metadata:
  name: example-public
spec:
  type: LoadBalancer
  selector:
    app: example
  ports:
    - port: 80
      protocol: TCP
      targetPort: 8080
";

const INGRESS: &str = "\
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata:
  name: example
spec:
  rules:
    - host: example.org
      http:
        paths:
          - path: /
            pathType: Prefix
            backend:
              service:
                name: example
                port:
                  number: 80
";

const CONFIG_MAP: &str = "\
apiVersion: v1
kind: ConfigMap
metadata:
  name: example
data:
  key: value
";

const CLAIM: &str = "\
apiVersion: v1
kind: PersistentVolumeClaim
metadata:
  name: example
spec:
  accessModes:
    - ReadWriteOnce
  resources:
    requests:
      storage: 1Gi
";

const CRON_JOB: &str = "\
apiVersion: batch/v1
kind: CronJob
metadata:
  name: example
spec:
  schedule: \"0 3 * * *\"
  jobTemplate:
    spec:
      template:
        spec:
          restartPolicy: Never
          containers:
            - name: main
              image: registry.example.org/example:1.0
";

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(group: &str, version: &str, kind: &str) -> ResourceKind {
        ResourceKind {
            group: group.to_owned(),
            version: version.to_owned(),
            plural: format!("{}s", kind.to_lowercase()),
            kind: kind.to_owned(),
            namespaced: true,
            verbs: Vec::new(),
            short_names: Vec::new(),
        }
    }

    #[test]
    fn a_sample_has_the_version_that_the_cluster_prefers() {
        let kubernetes_1_20 = [
            kind("batch", "v1", "Job"),
            kind("batch", "v1beta1", "CronJob"),
        ];
        let found = for_cluster(CRON_JOB, &kubernetes_1_20);
        assert!(found.starts_with("apiVersion: batch/v1beta1\nkind: CronJob\n"));
        assert_eq!(found.lines().count(), CRON_JOB.lines().count());
        let newest = [kind("batch", "v1", "CronJob"), kind("", "v1", "Service")];
        assert_eq!(for_cluster(CRON_JOB, &newest), CRON_JOB);
        assert_eq!(for_cluster(SERVICE, &newest), SERVICE);
    }

    #[test]
    fn a_sample_of_an_unknown_kind_is_unchanged() {
        let another_group = [kind("example.org", "v2", "CronJob")];
        assert_eq!(for_cluster(CRON_JOB, &another_group), CRON_JOB);
        assert_eq!(for_cluster(CRON_JOB, &[]), CRON_JOB);
    }

    #[test]
    fn kinds_are_read_only_for_versions_that_a_cluster_may_lack() {
        assert!(is_universal(DEPLOYMENT) && is_universal(CLAIM));
        assert!(!is_universal(CRON_JOB) && !is_universal(INGRESS));
    }
}
