//! Manifests to begin with. Ports name their protocol: server-side apply of Kubernetes before 1.21 knows
//! no default for it.

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
