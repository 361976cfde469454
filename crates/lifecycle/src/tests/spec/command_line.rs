//! `portico cluster create`.
use super::{minimal, shop};
use crate::spec::{ClusterDocument, CommandLine, CommandLineError, Exposure};

fn read(line: &str) -> Result<ClusterDocument, CommandLineError> {
    let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
    CommandLine::read(&words)
}

#[test]
fn a_simple_cluster_is_one_line() {
    let line = "portico cluster create shop -t k8s-1.32 --masters 3 --workers 2 --flavor m1.small \
                --master-flavor m1.medium --keypair ops --network net --subnet sub --api \
                198.51.100.0/24,203.0.113.0/24 --zone az1 --create-timeout 60 --cloud acme --project prod \
                --reason CHG-12 --set auto_healing_enabled=true --set boot_volume_size=40";
    let document = read(line).unwrap();
    assert_eq!(document.spec.api.exposure, Some(Exposure::Public));
    assert_eq!(document.spec.api.allowed_cidrs.len(), 2);
    assert_eq!(CommandLine::of(&document).to_shell(), line);
}

#[test]
fn both_forms_of_flags_are_read() {
    let document = read("shop --template=k8s -p prod --masters=1 --api=private").unwrap();
    assert_eq!(document.metadata.project.as_deref(), Some("prod"));
    assert_eq!(document.spec.control_plane.replicas, Some(1));
    assert_eq!(document.spec.api.exposure, Some(Exposure::Private));
}

#[test]
fn what_flags_cannot_express_refers_to_the_file() {
    let document = ClusterDocument::read(shop()).unwrap();
    let CommandLine::File { words, because } = CommandLine::of(&document) else {
        panic!("flags cannot express node groups");
    };
    assert_eq!(words.join(" "), "portico cluster create -f shop.yaml");
    assert_eq!(because, ["further node groups", "services", "protection"]);
}

#[test]
fn words_are_quoted_for_a_shell() {
    let mut document = minimal("shop", "k8s 1.32");
    document
        .spec
        .labels
        .insert("note".to_owned(), "it's $HOME".to_owned());
    assert_eq!(
        CommandLine::of(&document).to_shell(),
        r"portico cluster create shop -t 'k8s 1.32' --set 'note=it'\''s $HOME'"
    );
}

#[test]
fn errors_name_the_flag() {
    for (line, expected) in [
        (
            "shop -t k8s --bogus 1",
            CommandLineError::UnknownFlag("--bogus".to_owned()),
        ),
        ("shop -t", CommandLineError::MissingValue("-t".to_owned())),
        (
            "shop -t k8s --masters three",
            CommandLineError::Number {
                flag: "--masters".to_owned(),
                value: "three".to_owned(),
            },
        ),
        (
            "shop -t k8s --set a",
            CommandLineError::Label("a".to_owned()),
        ),
        (
            "shop -t k8s -t k9s",
            CommandLineError::Twice("-t".to_owned()),
        ),
        (
            "shop shop2 -t k8s",
            CommandLineError::Twice("the name".to_owned()),
        ),
        (
            "shop -t k8s --set a=1 --set a=2",
            CommandLineError::Twice("--set a".to_owned()),
        ),
        ("-t k8s", CommandLineError::NameMissing),
        ("shop", CommandLineError::TemplateMissing),
    ] {
        assert_eq!(read(line), Err(expected), "{line}");
    }
}
