use super::Database;
use super::fixtures::at;
use portico_store::NamespaceCandidate;
use uuid::Uuid;

const DAY: i64 = 24 * 3600;

fn candidate(cluster: u128, namespace: &str) -> NamespaceCandidate {
    NamespaceCandidate {
        cluster: Uuid::from_u128(cluster),
        namespace: namespace.to_owned(),
    }
}

fn subjects(all: &[&str]) -> Vec<String> {
    all.iter().map(|&one| one.to_owned()).collect()
}

pub async fn a_candidate_is_found_for_its_subject_and_cluster(database: &Database) {
    let all = database.store.namespace_candidates();
    for (subject, one) in [
        ("a-role", candidate(1, "shop")),
        ("a-role", candidate(2, "bank")),
        ("portico:user:ada", candidate(1, "shop")),
        ("portico:user:ada", candidate(1, "blog")),
        ("portico:user:devi", candidate(1, "secret")),
    ] {
        all.add(subject, &one, at(0)).await.unwrap();
    }
    let found = all
        .of(&subjects(&["portico:user:ada", "a-role"]), at(1))
        .await
        .unwrap();
    let expected = [
        candidate(1, "blog"),
        candidate(1, "shop"),
        candidate(2, "bank"),
    ];
    assert_eq!(found, expected);
    let none = all.of(&subjects(&["a-rol", "%", ""]), at(1)).await.unwrap();
    assert_eq!(none, []);
    assert_eq!(all.of(&[], at(1)).await.unwrap(), []);
}

pub async fn the_oldest_candidates_of_a_subject_make_room(database: &Database) {
    let all = database.store.namespace_candidates();
    let other = candidate(1, "untouched");
    all.add("other", &other, at(0)).await.unwrap();
    for number in 0..103 {
        let one = candidate(1, &format!("n{number:03}"));
        all.add("a-role", &one, at(number)).await.unwrap();
    }
    let found = all.of(&subjects(&["a-role"]), at(200)).await.unwrap();
    assert_eq!(found.len(), 100);
    assert_eq!(found[0], candidate(1, "n003"));
    let found = all.of(&subjects(&["other"]), at(200)).await.unwrap();
    assert_eq!(found, [other]);
}

pub async fn a_candidate_expires_unless_it_is_added_again(database: &Database) {
    let all = database.store.namespace_candidates();
    let (old, again) = (candidate(1, "old"), candidate(1, "again"));
    for one in [&old, &again] {
        all.add("a-role", one, at(0)).await.unwrap();
    }
    all.add("a-role", &again, at(DAY)).await.unwrap();
    let mine = subjects(&["a-role"]);
    let before = all.of(&mine, at(400 * DAY - 1)).await.unwrap();
    assert_eq!(before, [again.clone(), old]);
    let late = at(400 * DAY);
    database.store.sweep(late).await.unwrap();
    assert_eq!(all.of(&mine, late).await.unwrap(), [again]);
}
