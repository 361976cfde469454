use super::*;

#[test]
fn the_hash_of_an_entry_covers_every_field_and_its_place() {
    let key = JournalKey {
        project_id: "acme".to_owned(),
        cluster: Uuid::from_u128(1),
    };
    let entry = NewJournalEntry {
        source: JournalSource::Request,
        content: "{}".to_owned(),
    };
    let hash = digest("x", &key, 1, 7, &entry);
    let other_key = JournalKey {
        project_id: "globex".to_owned(),
        ..key.clone()
    };
    let other_cluster = JournalKey {
        cluster: Uuid::from_u128(2),
        ..key.clone()
    };
    let other_source = NewJournalEntry {
        source: JournalSource::Observation,
        ..entry.clone()
    };
    let other_content = NewJournalEntry {
        content: "[]".to_owned(),
        ..entry.clone()
    };
    for changed in [
        digest("y", &key, 1, 7, &entry),
        digest("x", &other_key, 1, 7, &entry),
        digest("x", &other_cluster, 1, 7, &entry),
        digest("x", &key, 2, 7, &entry),
        digest("x", &key, 1, 8, &entry),
        digest("x", &key, 1, 7, &other_source),
        digest("x", &key, 1, 7, &other_content),
    ] {
        assert_ne!(hash, changed);
    }
}

#[test]
fn an_entry_is_named_by_its_place_and_its_hash() {
    let head: JournalHead = "12:ab-c_d".parse().unwrap();
    assert_eq!((head.sequence, head.hash.as_str()), (12, "ab-c_d"));
    assert_eq!(head.to_string(), "12:ab-c_d");
    for text in ["", "12", "0:a", "x:a", "3:"] {
        assert!(text.parse::<JournalHead>().is_err(), "{text}");
    }
}
