use super::*;
use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DnType, ExtendedKeyUsagePurpose, IsCa,
    KeyPair, SanType,
};

pub(crate) const NOW: i64 = 1_800_000_000;

pub(crate) type Authority = CertifiedIssuer<'static, KeyPair>;

pub(crate) fn at(seconds: i64) -> Timestamp {
    Timestamp::from_second(seconds).unwrap()
}

/// Returns an authority as Magnum makes one: named after its cluster.
pub(crate) fn authority(name: &str) -> Authority {
    portico_runtime::install_crypto_provider();
    let mut params = CertificateParams::new(Vec::new()).unwrap();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params.distinguished_name.push(DnType::CommonName, name);
    CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap()
}

fn leaf_for(
    authority: &Authority,
    usage: ExtendedKeyUsagePurpose,
    uri: Option<String>,
) -> Vec<CertificateDer<'static>> {
    let mut params = CertificateParams::new(vec!["kube-apiserver".to_owned()]).unwrap();
    params.extended_key_usages = vec![usage];
    if let Some(uri) = uri {
        let uri = uri.as_str().try_into().unwrap();
        params.subject_alt_names.push(SanType::URI(uri));
    }
    let key = KeyPair::generate().unwrap();
    vec![params.signed_by(&key, authority).unwrap().der().clone()]
}

pub(crate) fn leaf(authority: &Authority) -> Vec<CertificateDer<'static>> {
    leaf_for(authority, ExtendedKeyUsagePurpose::ClientAuth, None)
}

pub(crate) fn entry(id: u128, authority: &Authority) -> ListedCluster {
    ListedCluster {
        id: Uuid::from_u128(id),
        name: format!("cluster-{id}"),
        owner_project: "acme".to_owned(),
        accepted_projects: vec!["acme".to_owned()],
        accepted_roles: Vec::new(),
        client_ca: authority.pem(),
        api_audiences: vec!["https://kubernetes.default.svc".to_owned()],
    }
}

pub(crate) fn list(sequence: u64, clusters: Vec<ListedCluster>) -> ClusterList {
    ClusterList {
        iss: "https://portico.example.org".to_owned(),
        iat: NOW,
        exp: NOW + 3600,
        sequence,
        clusters,
    }
}

pub(crate) fn empty(configured: &[u128]) -> ListedClusters {
    let configured = configured.iter().map(|id| Uuid::from_u128(*id)).collect();
    ListedClusters::new(configured, NonZeroU32::MIN)
}

/// Returns the relation of a client to a cluster, as a word.
pub(crate) fn relation(
    listed: &ListedClusters,
    id: u128,
    chain: &[CertificateDer<'_>],
    now: i64,
) -> &'static str {
    match listed.binding(Uuid::from_u128(id), chain, at(now)) {
        ListedBinding::Bound(cluster) => {
            assert_eq!(cluster.record.id, Uuid::from_u128(id));
            "bound"
        }
        ListedBinding::Expired => "expired",
        ListedBinding::Removed => "removed",
        ListedBinding::Unbound => "unbound",
        ListedBinding::Unknown => "unknown",
    }
}

#[test]
fn attack_a_certificate_of_one_cluster_is_not_good_for_another() {
    let (one, other) = (authority("prod"), authority("dev"));
    let listed = empty(&[]);
    listed.apply(list(1, vec![entry(1, &one), entry(2, &other)]));
    let own = leaf(&one);
    assert_eq!(relation(&listed, 1, &own, NOW), "bound");
    assert_eq!(relation(&listed, 2, &own, NOW), "unbound");
    assert_eq!(relation(&listed, 3, &own, NOW), "unknown");
    // also with the other cluster's name in it, which its own authority may write there
    let named = format!("portico:cluster:{}", Uuid::from_u128(2));
    let named = leaf_for(&one, ExtendedKeyUsagePurpose::ClientAuth, Some(named));
    assert_eq!(relation(&listed, 2, &named, NOW), "unbound");
    // nor with the other's certificates beside it
    let mut chain = own.clone();
    chain.extend(leaf(&other));
    chain.push(other.der().clone());
    assert_eq!(relation(&listed, 2, &chain, NOW), "unbound");
    assert_eq!(relation(&listed, 1, &[], NOW), "unbound");
    // control case: a verification that is remembered is remembered for its own cluster
    for _ in 0..2 {
        assert_eq!(relation(&listed, 1, &own, NOW), "bound");
        assert_eq!(relation(&listed, 2, &own, NOW), "unbound");
    }
}

#[test]
fn attack_an_authority_of_the_same_name_is_another_authority() {
    let (own, same_name) = (authority("prod"), authority("prod"));
    let listed = empty(&[]);
    listed.apply(list(1, vec![entry(1, &own), entry(2, &same_name)]));
    for (id, chain) in [(1, leaf(&own)), (2, leaf(&same_name))] {
        assert!(listed.admit(&chain));
        assert_eq!(relation(&listed, id, &chain, NOW), "bound");
        assert_eq!(relation(&listed, 3 - id, &chain, NOW), "unbound");
    }
}

#[test]
fn attack_strangers_and_server_certificates_do_not_connect() {
    let own = authority("prod");
    let listed = empty(&[]);
    assert!(!listed.admit(&leaf(&own)), "without a list");
    listed.apply(list(1, vec![entry(1, &own)]));
    assert!(listed.admit(&leaf(&own)));
    // an authority of the stranger's own, with the same name
    assert!(!listed.admit(&leaf(&authority("prod"))));
    assert!(!listed.admit(&leaf(&authority("other"))));
    let server = leaf_for(&own, ExtendedKeyUsagePurpose::ServerAuth, None);
    assert!(!listed.admit(&server));
    assert_eq!(relation(&listed, 1, &server, NOW), "unbound");
    assert!(!listed.admit(&[]));
    let broken = [CertificateDer::from(b"not a certificate".to_vec())];
    assert!(!listed.admit(&broken));
}

#[test]
fn many_clusters_of_one_name_neither_lock_each_other_out_nor_share_a_binding() {
    let all: Vec<_> = (0..40).map(|_| authority("prod")).collect();
    let entries = all.iter().zip(0..).map(|(one, id)| entry(id, one));
    let listed = empty(&[]);
    listed.apply(list(1, entries.collect()));
    let last = leaf(&all[39]);
    assert!(listed.admit(&last));
    assert_eq!(relation(&listed, 39, &last, NOW), "bound");
    assert_eq!(relation(&listed, 38, &last, NOW), "unbound");
    // a stranger connects at most, and is bound to none
    let stranger = leaf(&authority("prod"));
    assert!((0..40).all(|id| relation(&listed, id, &stranger, NOW) == "unbound"));
}

#[test]
fn attack_an_older_sequence_does_not_bring_a_removed_cluster_back() {
    let (one, other) = (authority("one"), authority("other"));
    let listed = empty(&[]);
    let both = list(7, vec![entry(1, &one), entry(2, &other)]);
    assert_eq!(listed.apply(both.clone()), Applied::Taken);
    assert_eq!(listed.apply(both.clone()), Applied::Known);
    assert_eq!(listed.apply(list(8, vec![entry(1, &one)])), Applied::Taken);
    assert_eq!(listed.apply(both), Applied::Older { current: 8 });
    // an earlier signature of the same sequence shortens nothing
    let mut earlier = list(8, vec![entry(1, &one)]);
    (earlier.iat, earlier.exp) = (NOW - 60, NOW + 60);
    assert_eq!(listed.apply(earlier), Applied::Known);
    assert_eq!(relation(&listed, 1, &leaf(&one), NOW + 61), "bound");
    assert_eq!(relation(&listed, 2, &leaf(&other), NOW), "removed");
}

#[test]
fn a_removed_cluster_is_refused_to_its_own_api_servers_and_strangers_learn_nothing() {
    let (one, other) = (authority("one"), authority("other"));
    let listed = empty(&[]);
    listed.apply(list(1, vec![entry(1, &one), entry(2, &other)]));
    let (own, strange) = (leaf(&other), leaf(&one));
    assert_eq!(relation(&listed, 2, &own, NOW), "bound");
    listed.apply(list(2, vec![entry(1, &one)]));
    listed.apply(list(3, vec![entry(1, &one)]));
    assert_eq!(relation(&listed, 2, &own, NOW), "removed");
    assert_eq!(relation(&listed, 2, &strange, NOW), "unbound");
    assert!(!listed.admit(&own), "no new connection");
    listed.apply(list(4, vec![entry(1, &one), entry(2, &other)]));
    assert_eq!(relation(&listed, 2, &own, NOW), "bound");
}

#[test]
fn after_the_end_of_the_list_its_clusters_are_undecided_until_it_is_signed_anew() {
    let one = authority("one");
    let listed = empty(&[]);
    assert!(listed.is_expired(at(NOW)));
    listed.apply(list(1, vec![entry(1, &one)]));
    let own = leaf(&one);
    assert_eq!(relation(&listed, 1, &own, NOW + 3599), "bound");
    assert_eq!(relation(&listed, 1, &own, NOW + 3600), "expired");
    assert!(listed.is_expired(at(NOW + 3600)));
    let mut again = list(1, vec![entry(1, &one)]);
    (again.iat, again.exp) = (NOW + 3600, NOW + 7200);
    assert_eq!(listed.apply(again), Applied::Taken);
    assert_eq!(relation(&listed, 1, &own, NOW + 3600), "bound");
}

#[test]
fn a_cluster_of_the_configuration_file_is_not_taken_from_the_list() {
    let one = authority("one");
    let listed = empty(&[1]);
    listed.apply(list(1, vec![entry(1, &one), entry(2, &one)]));
    assert_eq!(relation(&listed, 1, &leaf(&one), NOW), "unknown");
    assert_eq!(relation(&listed, 2, &leaf(&one), NOW), "bound");
}

#[test]
fn an_authority_that_cannot_be_used_stops_its_own_cluster_only() {
    let one = authority("one");
    let mut broken = entry(2, &one);
    broken.client_ca = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n".to_owned();
    let listed = empty(&[]);
    assert_eq!(
        listed.apply(list(1, vec![broken, entry(1, &one)])),
        Applied::Taken
    );
    assert_eq!(relation(&listed, 1, &leaf(&one), NOW), "bound");
    assert_eq!(relation(&listed, 2, &leaf(&one), NOW), "unknown");
}

#[test]
fn a_request_keeps_its_cluster_and_an_unchanged_one_its_rate_limit() {
    let (one, next) = (authority("one"), authority("one"));
    let listed = empty(&[]);
    let bound =
        |chain: &[CertificateDer<'_>]| match listed.binding(Uuid::from_u128(1), chain, at(NOW)) {
            ListedBinding::Bound(cluster) => cluster,
            _ => panic!("not bound"),
        };
    listed.apply(list(1, vec![entry(1, &one)]));
    let first = bound(&leaf(&one));
    listed.apply(list(2, vec![entry(1, &one), entry(2, &one)]));
    assert!(Arc::ptr_eq(&first, &bound(&leaf(&one))));
    // a rotation: both certificates of the authority, then the new one only
    let mut both = entry(1, &one);
    both.client_ca += &next.pem();
    listed.apply(list(3, vec![both]));
    bound(&leaf(&one));
    assert!(listed.admit(&leaf(&next)));
    let changed = bound(&leaf(&next));
    assert!(!Arc::ptr_eq(&first, &changed));
    assert_eq!(first.record.name, "cluster-1");
    listed.apply(list(4, vec![entry(1, &next)]));
    assert_eq!(relation(&listed, 1, &leaf(&one), NOW), "unbound");
}
