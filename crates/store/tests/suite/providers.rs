use super::Database;
use super::fixtures::{at, new_session, on_app, signed_in};
use jiff::SignedDuration;
use portico_store::{
    EndReason, Lease, NewProviderFlow, NewProviderTokens, ProviderProfile, RefreshedTokens,
    Session, SessionProvider, Store,
};
use secrecy::{ExposeSecret as _, SecretString};
use uuid::Uuid;

fn secret(text: &str) -> SecretString {
    SecretString::from(text)
}

fn profile(groups: &[&str]) -> ProviderProfile {
    ProviderProfile {
        email: Some("ada@example.test".to_owned()),
        groups: groups.iter().map(|group| (*group).to_owned()).collect(),
        ..ProviderProfile::default()
    }
}

async fn vouched_for(store: &Store, subject: &str, sid: Option<&str>) -> Session {
    let provider = SessionProvider {
        id: "corp".to_owned(),
        subject: subject.to_owned(),
        sid: sid.map(str::to_owned),
        profile: profile(&["ops"]),
        expires_at: Some(at(300)),
    };
    let (_, session) = store
        .sessions()
        .create_of_provider(&new_session(subject), provider, at(0))
        .await
        .unwrap();
    let tokens = NewProviderTokens {
        session: session.id,
        provider: "corp".to_owned(),
        refresh_token: Some(secret("refresh-1")),
        access_token: secret("access-1"),
        id_token: Some(secret("id-1")),
    };
    store.provider_tokens().store(&tokens, at(0)).await.unwrap();
    session
}

fn refreshed(refresh: Option<&str>, groups: &[&str]) -> RefreshedTokens {
    RefreshedTokens {
        refresh_token: refresh.map(secret),
        access_token: secret("access-2"),
        id_token: None,
        profile: Some(profile(groups)),
        expires_at: at(600),
    }
}

const LEASE_TTL: SignedDuration = SignedDuration::from_secs(20);

pub async fn a_flow_of_a_provider_belongs_to_its_browser_and_is_taken_once(database: &Database) {
    let flows = database.store.provider_flows();
    let new = NewProviderFlow {
        provider: "corp".to_owned(),
        state: secret("state"),
        browser: secret("browser"),
        nonce: secret("nonce"),
        verifier: secret("verifier"),
        return_path: "/projects/p".to_owned(),
    };
    flows.begin(&new, at(0)).await.unwrap();
    for (provider, state, browser, when) in [
        ("other", "state", "browser", 1),
        ("corp", "stat", "browser", 1),
        ("corp", "state", "another", 1),
        ("corp", "state", "browser", 900),
    ] {
        let taken = flows.take(provider, state, browser, at(when)).await;
        assert!(taken.unwrap().is_none(), "{provider} {state} {browser}");
    }
    let flow = flows.take("corp", "state", "browser", at(899)).await;
    let flow = flow.unwrap().unwrap();
    assert_eq!(flow.nonce.expose_secret(), "nonce");
    assert_eq!(flow.verifier.expose_secret(), "verifier");
    assert_eq!(flow.return_path, "/projects/p");
    let again = flows.take("corp", "state", "browser", at(1)).await;
    assert!(again.unwrap().is_none());
}

pub async fn a_session_keeps_its_provider_for_the_whole_family(database: &Database) {
    let store = &database.store;
    let root = vouched_for(store, "ada", Some("s1")).await;
    let (cookie, _) = on_app(store, root.id).await;
    let child = store
        .sessions()
        .find(&cookie, at(2))
        .await
        .unwrap()
        .unwrap();
    let provider = child.provider.clone().unwrap();
    assert_eq!(
        (provider.id.as_str(), provider.subject.as_str()),
        ("corp", "ada")
    );
    assert_eq!(provider.expires_at, Some(at(300)));
    assert!(!child.has_keystone());
    let known = store
        .sessions()
        .set_provider(root.id, &profile(&["dev"]), Some(at(500)), at(2))
        .await;
    assert!(known.unwrap());
    let child = store
        .sessions()
        .find(&cookie, at(3))
        .await
        .unwrap()
        .unwrap();
    let provider = child.provider.unwrap();
    assert_eq!(provider.profile.groups, ["dev"]);
    assert_eq!(provider.expires_at, Some(at(500)));
    let (_, plain) = signed_in(store, "devi").await;
    assert!(plain.provider.is_none() && plain.has_keystone());
}

pub async fn one_holder_refreshes_at_a_time(database: &Database) {
    let store = &database.store;
    let session = vouched_for(store, "ada", None).await;
    let tokens = store.provider_tokens();
    let (one, other) = (Uuid::new_v4(), Uuid::new_v4());
    let Lease::Yours(held) = tokens
        .lease(session.id, one, LEASE_TTL, at(0))
        .await
        .unwrap()
    else {
        panic!("free");
    };
    assert_eq!(held.refresh_token.unwrap().expose_secret(), "refresh-1");
    assert_eq!(held.id_token.unwrap().expose_secret(), "id-1");
    let lease = tokens
        .lease(session.id, other, LEASE_TTL, at(19))
        .await
        .unwrap();
    assert!(matches!(lease, Lease::Taken { version: 1, until } if until == at(20)));
    // what is not one's own cannot be given back
    tokens.release(session.id, other).await.unwrap();
    let lease = tokens
        .lease(session.id, other, LEASE_TTL, at(19))
        .await
        .unwrap();
    assert!(matches!(lease, Lease::Taken { .. }));
    tokens.release(session.id, one).await.unwrap();
    let lease = tokens
        .lease(session.id, other, LEASE_TTL, at(19))
        .await
        .unwrap();
    assert!(matches!(lease, Lease::Yours(_)));
}

pub async fn a_lease_of_a_dead_holder_runs_out(database: &Database) {
    let store = &database.store;
    let session = vouched_for(store, "ada", None).await;
    let tokens = store.provider_tokens();
    let dead = tokens
        .lease(session.id, Uuid::new_v4(), LEASE_TTL, at(0))
        .await;
    assert!(matches!(dead.unwrap(), Lease::Yours(_)));
    let next = tokens
        .lease(session.id, Uuid::new_v4(), LEASE_TTL, at(20))
        .await;
    let Lease::Yours(held) = next.unwrap() else {
        panic!("run out");
    };
    let new = refreshed(Some("refresh-2"), &["dev"]);
    assert!(
        tokens
            .replace(session.id, held.version, &new, at(21))
            .await
            .unwrap()
    );
    // the dead one comes back late: what it has is older
    assert!(
        !tokens
            .replace(session.id, 1, &refreshed(Some("late"), &[]), at(22))
            .await
            .unwrap()
    );
    let now = tokens.find(session.id).await.unwrap().unwrap();
    assert_eq!(now.version, 2);
    assert_eq!(now.refresh_token.unwrap().expose_secret(), "refresh-2");
    assert_eq!(now.access_token.expose_secret(), "access-2");
    assert_eq!(now.id_token.unwrap().expose_secret(), "id-1");
    assert_eq!(now.leased_until, None);
    let session = store.sessions().get(session.id).await.unwrap().unwrap();
    let provider = session.provider.unwrap();
    assert_eq!(provider.profile.groups, ["dev"]);
    assert_eq!(provider.expires_at, Some(at(600)));
}

pub async fn parallel_leases_have_one_winner(database: &Database) {
    let store = &database.store;
    let session = vouched_for(store, "ada", None).await;
    let tries = (0..8).map(|_| {
        let (store, id) = (store.clone(), session.id);
        tokio::spawn(async move {
            let lease = store
                .provider_tokens()
                .lease(id, Uuid::new_v4(), LEASE_TTL, at(0));
            matches!(lease.await.unwrap(), Lease::Yours(_))
        })
    });
    let mut winners = 0;
    for one in tries.collect::<Vec<_>>() {
        winners += usize::from(one.await.unwrap());
    }
    assert_eq!(winners, 1);
}

pub async fn tokens_of_an_ended_session_wait_for_their_revocation(database: &Database) {
    let store = &database.store;
    let session = vouched_for(store, "ada", None).await;
    let tokens = store.provider_tokens();
    assert!(tokens.ended(10, at(5)).await.unwrap().is_empty());
    store
        .sessions()
        .end(session.id, EndReason::SignedOut, at(5))
        .await
        .unwrap();
    let lease = tokens
        .lease(session.id, Uuid::new_v4(), LEASE_TTL, at(6))
        .await;
    assert!(matches!(lease.unwrap(), Lease::Gone));
    let ended = tokens.ended(10, at(6)).await.unwrap();
    assert_eq!(ended.len(), 1);
    let token = ended[0].tokens.refresh_token.as_ref().unwrap();
    assert_eq!(token.expose_secret(), "refresh-1");
    tokens.revocation_failed(session.id, at(60)).await.unwrap();
    assert!(tokens.ended(10, at(59)).await.unwrap().is_empty());
    assert_eq!(tokens.ended(10, at(60)).await.unwrap()[0].attempts, 1);
    tokens.forget(session.id).await.unwrap();
    assert!(tokens.find(session.id).await.unwrap().is_none());
}

pub async fn a_provider_means_one_session_or_all_of_a_subject(database: &Database) {
    let store = &database.store;
    let one = vouched_for(store, "ada", Some("s1")).await;
    let two = vouched_for(store, "ada", Some("s2")).await;
    let unnamed = vouched_for(store, "ada", None).await;
    let other = vouched_for(store, "devi", Some("s3")).await;
    let meant = async |subject: Option<&str>, sid: Option<&str>| {
        let found = store
            .sessions()
            .list_of_provider("corp", subject, sid, at(1))
            .await
            .unwrap();
        let mut ids: Vec<Uuid> = found.into_iter().map(|session| session.id).collect();
        ids.sort();
        ids
    };
    let sorted = |mut ids: Vec<Uuid>| {
        ids.sort();
        ids
    };
    assert_eq!(meant(None, Some("s1")).await, [one.id]);
    assert_eq!(
        meant(Some("ada"), Some("s1")).await,
        sorted(vec![one.id, unnamed.id])
    );
    assert_eq!(
        meant(Some("ada"), None).await,
        sorted(vec![one.id, two.id, unnamed.id])
    );
    // another user's session is not ended by a token that names another subject
    assert_eq!(meant(Some("devi"), Some("s1")).await, Vec::<Uuid>::new());
    assert_eq!(meant(None, None).await, Vec::<Uuid>::new());
    let ended = store
        .sessions()
        .end_of_provider("corp", Some("devi"), Some("s3"), at(1))
        .await
        .unwrap();
    assert_eq!(ended.len(), 1);
    assert_eq!(ended[0].id, other.id);
    let elsewhere = store
        .sessions()
        .list_of_provider("other", Some("ada"), None, at(1))
        .await;
    assert!(elsewhere.unwrap().is_empty());
}

pub async fn a_logout_token_counts_once(database: &Database) {
    let marks = database.store.logout_marks();
    assert!(marks.mark("corp", "j1", at(60)).await.unwrap());
    assert!(!marks.mark("corp", "j1", at(60)).await.unwrap());
    assert!(marks.mark("other", "j1", at(60)).await.unwrap());
    database.store.sweep(at(60)).await.unwrap();
    assert!(marks.mark("corp", "j1", at(120)).await.unwrap());
}
