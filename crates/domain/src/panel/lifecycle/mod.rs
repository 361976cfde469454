//! The pages of clusters that Magnum makes: list, creation, progress, health, deletion, enrolment,
//! upgrade, certificates, templates.
//!
//! Plain types: the server fills them with the rules of `portico-lifecycle`, the pages show them. All
//! sentences are made by the server. Times are Unix seconds.
mod action;
mod certificates;
mod change;
mod cluster;
mod creation;
mod deletion;
mod enrolment;
mod failure;
mod form;
mod health;
mod journal;
mod journal_filter;
mod node_groups;
mod node_progress;
mod nodes;
mod options;
mod ownership;
mod progress;
mod protection;
mod quota;
mod review;
mod settlement;
mod templates;
mod upgrade;
mod usage;
mod waiting;

pub use action::{ActionOffer, Check, CheckLevel, ClusterAction, FieldProblem, FormPage};
pub use certificates::{
    AuthorityReading, CertificateView, ClusterCertificates, Expiry, OtherAuthority,
    OtherAuthorityKind, RecordedAuthority,
};
pub use change::ChangeOutcome;
pub use cluster::{
    ManagedCluster, ManagedClusters, MissingFeature, NodeGroupRow, UnfinishedCreation,
};
pub use creation::{CreationOutcome, CreationRefusal, UnknownCreation};
pub use deletion::{
    ACCEPTED_ARGUMENT, DeletionInventory, DeletionItem, DeletionOptions, DeletionOutcome,
    DeletionRecord, Fate, LeftoverItem, Leftovers,
};
pub use enrolment::{
    ApiServerConfiguration, ConfigurationBlock, EnrolmentOutcome, EnrolmentState, RemovedRecord,
};
pub use failure::{FailureAction, FailureCard, FailureStep, Responsibility};
pub use form::{
    AUTO_HEALING_LABEL, AUTO_SCALING_LABEL, AUTO_UPGRADE_LABEL, ApiExposure, ClusterFile,
    ControlPlaneForm, CreationForm, DEFAULT_GROUP, ExistingNetwork, GroupForm,
};
pub use health::{
    ApiServerProbe, AutoHealing, ClusterHealth, HealthChange, HealthHistory, HealthPart,
    ProbeResult, ReportedHealth,
};
pub use journal::{ClusterJournal, JournalAgreement, JournalRow, JournalSource};
pub use journal_filter::JournalFilter;
pub use node_groups::{
    NewNodeGroup, NodeGroupChange, NodeGroupDetail, NodeGroupReview, NodeGroups,
};
pub use node_progress::{NodeProgress, NodeTable, NodeVersion};
pub use nodes::{
    ClusterNode, ClusterNodes, KubernetesNode, NodeDrain, NodeDrainStage, NodeRemoval,
    NodeReplacement, ReplacementStage,
};
pub use options::{
    CapabilityLine, CreationOptions, FlavorOption, LabelOption, NetworkOption, SubnetOption,
    TemplateDefaults, TemplateOption,
};
pub use ownership::{OwnerStanding, Ownership};
pub use progress::{
    ClusterProgress, Operation, PlannedStep, PlannedStepState, ProgressOutcome, ProgressStep,
    ProgressUpdate, StepState,
};
pub use protection::{DeleteProtection, Protected};
pub use quota::{QuotaFit, QuotaProjection, QuotaUsage, QuotaUse};
pub use review::{CreationReview, LabelLine, LabelOrigin, PlanImpact, PlanLine};
pub use settlement::{SettledSize, Settlement};
pub use templates::{
    ClusterTemplates, TemplateChoices, TemplateDetails, TemplateFlag, TemplateLabel,
    TemplateOutcome, TemplateRefusals, TemplateRow, TemplateValues,
};
pub use upgrade::{
    LabelDifference, UpgradeOptions, UpgradeReview, UpgradeSelection, UpgradeTarget,
};
pub use usage::{ClusterStats, ProjectUsage};
pub use waiting::{ChangeQueue, WaitingChange, WaitingState};
