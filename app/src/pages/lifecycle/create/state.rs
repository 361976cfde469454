//! The state of the form for a new cluster.
use super::{
    problems,
    stored::{Storage, Stored},
};
use crate::{
    api::lifecycle::{create_cluster, review_creation},
    components::use_toasts,
    error::{UiError, UiErrorKind},
    hooks::Timer,
};
use leptos::prelude::*;
use portico_domain::panel::lifecycle::{
    CreationForm, CreationOptions, CreationOutcome, CreationRefusal, CreationReview, DEFAULT_GROUP,
    FieldProblem, FormPage, GroupForm, TemplateOption, UnknownCreation,
};
use std::time::Duration;
use uuid::Uuid;
use wasm_bindgen::JsCast;
use web_sys::HtmlElement;

/// The ID of the heading of the step that is shown.
pub const STEP_HEADING: &str = "new-cluster-step";
/// How long the form must rest before it is checked.
const CHECK_DELAY: Duration = Duration::from_millis(700);

/// `Copy`.
#[derive(Clone, Copy)]
pub struct Wizard {
    pub form: RwSignal<CreationForm>,
    pub page: RwSignal<FormPage>,
    /// The last page that was reached. What is wrong on the pages before it is shown.
    pub furthest: RwSignal<FormPage>,
    /// Incremented when the form was replaced as a whole: its fields are made again.
    pub replaced: RwSignal<u32>,
    pub options: StoredValue<CreationOptions>,
    /// The last review; of an earlier form while `is_outdated`.
    pub review: RwSignal<Option<CreationReview>>,
    pub is_outdated: RwSignal<bool>,
    /// The index of the notation that the review shows the form in.
    pub notation: RwSignal<usize>,
    /// Why the form could not be checked or sent.
    pub failure: RwSignal<Option<UiError>>,
    pub refusal: RwSignal<Option<CreationRefusal>>,
    pub unknown: RwSignal<Option<UnknownCreation>>,
    /// Where the form differs from the file that was read into it, as sentences.
    pub file_notices: RwSignal<Vec<String>>,
    /// The step on which a text is being read that replaces the form; other steps cannot be changed
    /// meanwhile.
    pub reading_on: RwSignal<Option<FormPage>>,
    pub attempt: RwSignal<Option<Uuid>>,
    /// Whether the form was sent and the outcome is not known: it cannot be changed.
    pub is_sent: RwSignal<bool>,
    pub busy: RwSignal<bool>,
    timer: Timer,
    /// The number of the last change or check: answers to earlier ones are dropped.
    latest: StoredValue<u32>,
    storage: Storage,
    on_created: Callback<Uuid>,
}

impl Wizard {
    /// Makes the state from what the tab has stored. `on_created` runs when the cluster exists.
    pub fn new(
        options: CreationOptions,
        stored: Stored,
        storage: Storage,
        on_created: Callback<Uuid>,
    ) -> Self {
        // a form that was sent can only be continued, or changed from there
        let page = if stored.is_sent {
            FormPage::Review
        } else {
            stored.page
        };
        Self {
            form: RwSignal::new(with_default_group(stored.form)),
            page: RwSignal::new(page),
            furthest: RwSignal::new(stored.furthest.max(page)),
            replaced: RwSignal::new(0),
            options: StoredValue::new(options),
            review: RwSignal::new(None),
            is_outdated: RwSignal::new(true),
            notation: RwSignal::new(0),
            failure: RwSignal::new(None),
            refusal: RwSignal::new(None),
            unknown: RwSignal::new(None),
            file_notices: RwSignal::new(Vec::new()),
            reading_on: RwSignal::new(None),
            attempt: RwSignal::new(stored.attempt),
            is_sent: RwSignal::new(stored.is_sent),
            busy: RwSignal::new(false),
            timer: Timer::new(),
            latest: StoredValue::new(0),
            storage,
            on_created,
        }
    }

    /// Returns whether anything was entered.
    pub fn has_values(self) -> bool {
        let empty = with_default_group(CreationForm::default());
        self.form.with_untracked(|form| *form != empty)
    }

    /// Changes the form, stores it, and checks it once it rests.
    pub fn change(self, change: impl FnOnce(&mut CreationForm)) {
        self.form.update(change);
        self.changed();
        self.timer.start(CHECK_DELAY, move || self.check());
    }

    /// Replaces the form as a whole.
    pub fn replace(self, form: CreationForm) {
        self.form.set(with_default_group(form));
        self.changed();
        self.replaced.update(|replaced| *replaced += 1);
        self.check();
    }

    /// Empties the form.
    pub fn start_again(self) {
        self.page.set(FormPage::default());
        self.furthest.set(FormPage::default());
        self.replace(CreationForm::default());
        self.storage.clear();
    }

    fn changed(self) {
        self.latest
            .try_update_value(|latest| *latest = latest.wrapping_add(1));
        self.is_outdated.set(true);
        self.refusal.set(None);
        self.failure.set(None);
        self.save();
    }

    fn save(self) {
        self.storage.write(&Stored {
            form: self.form.get_untracked(),
            page: self.page.get_untracked(),
            furthest: self.furthest.get_untracked(),
            attempt: self.attempt.get_untracked(),
            is_sent: self.is_sent.get_untracked(),
        });
    }

    /// Shows a step, and moves the focus to its heading.
    pub fn go(self, page: FormPage) {
        self.page.set(page);
        self.furthest
            .update(|furthest| *furthest = (*furthest).max(page));
        self.save();
        if page == FormPage::Review && self.is_outdated.get_untracked() {
            self.check();
        }
        // once the step is in the page
        request_animation_frame(|| {
            let heading = document().get_element_by_id(STEP_HEADING);
            if let Some(heading) = heading.and_then(|found| found.dyn_into::<HtmlElement>().ok()) {
                let _ = heading.focus();
            }
        });
    }

    /// Returns whether what is wrong on a page is shown: once it was left, and not while the form was
    /// sent and cannot be changed.
    pub fn shows_problems(self, page: FormPage) -> bool {
        if self.is_sent.get() {
            return false;
        }
        let furthest = self.furthest.get();
        furthest > page || furthest == FormPage::Review
    }

    /// Returns what is wrong with a field of the file, or of the fields below it.
    pub fn problem(self, field: &str) -> Signal<Option<String>> {
        let field = field.to_owned();
        let page = FormPage::of_field(&field);
        self.problem_on(page, move |problems| problems::of_field(problems, &field))
    }

    /// Returns what `find` finds among the problems, once those of the page are shown.
    pub fn problem_on(
        self,
        page: FormPage,
        find: impl Fn(&[FieldProblem]) -> Option<String> + Send + Sync + 'static,
    ) -> Signal<Option<String>> {
        Signal::derive(move || {
            if !self.shows_problems(page) {
                return None;
            }
            let refused = self
                .refusal
                .with(|refusal| find(&refusal.as_ref()?.problems));
            refused.or_else(|| self.review.with(|review| find(&review.as_ref()?.problems)))
        })
    }

    /// Returns the chosen template; `None` if none is chosen, or it does not exist. Not tracked: a step
    /// is made once, and not with each change.
    pub fn template(self) -> Option<TemplateOption> {
        let chosen = self
            .form
            .with_untracked(|form| form.template.trim().to_owned());
        self.options.with_value(|options| {
            let mut templates = options.templates.iter();
            templates
                .find(|template| template.name == chosen || template.id.to_string() == chosen)
                .cloned()
        })
    }

    /// Returns a label of the chosen template that is a truth value.
    pub fn flag_of_template(self, label: &str) -> Option<bool> {
        let template = self.template()?;
        let value = template.labels.get(label)?;
        value.to_ascii_lowercase().parse().ok()
    }

    /// Checks the form now.
    pub fn check(self) {
        self.timer.cancel();
        let number = self.latest.try_update_value(|latest| {
            *latest = latest.wrapping_add(1);
            *latest
        });
        self.failure.set(None);
        let asked = review_creation(self.form.get_untracked());
        leptos::task::spawn_local(async move {
            let answer = asked.await;
            if self.latest.try_get_value() != number {
                return;
            }
            match answer {
                Ok(review) => {
                    let _ = self.review.try_set(Some(review));
                    let _ = self.is_outdated.try_set(false);
                }
                Err(error) => {
                    let _ = self.failure.try_set(Some(error));
                }
            }
        });
    }

    /// Creates the cluster. The attempt is stored before the request, so that a lost response is
    /// continued with the same attempt, also by a page that is loaded again.
    pub fn send(self) {
        if self.busy.get_untracked() {
            return;
        }
        let is_first = !self.is_sent.get_untracked();
        let attempt = self.attempt.get_untracked().unwrap_or_else(Uuid::new_v4);
        self.busy.set(true);
        self.attempt.set(Some(attempt));
        self.is_sent.set(true);
        self.refusal.set(None);
        self.unknown.set(None);
        self.failure.set(None);
        self.save();
        let form = self.form.get_untracked();
        let toasts = use_toasts();
        let (storage, on_created) = (self.storage, self.on_created);
        let asked = create_cluster(form.clone(), attempt);
        leptos::task::spawn_local(async move {
            let answer = asked.await;
            if self.busy.try_set(false).is_some() {
                // the page was left: what it stored continues the attempt
                return;
            }
            match answer {
                Ok(
                    CreationOutcome::Accepted { cluster }
                    | CreationOutcome::AlreadyCreated { cluster },
                ) => {
                    toasts.say(format!("Magnum creates the cluster {}.", form.name));
                    storage.made(cluster, form);
                    on_created.run(cluster);
                }
                Ok(CreationOutcome::Refused(refusal)) => {
                    self.release();
                    self.refusal.set(Some(*refusal));
                }
                Ok(CreationOutcome::Unknown(unknown)) => self.unknown.set(Some(unknown)),
                Err(error) => {
                    if is_first && nothing_was_sent(error.kind) {
                        self.release();
                    }
                    self.failure.set(Some(error));
                }
            }
        });
    }

    /// Ends the attempt: the form can be changed, and is sent with another one. It is reviewed again
    /// first: the last review does not know what the attempt has made.
    pub fn release(self) {
        self.attempt.set(None);
        self.is_sent.set(false);
        self.unknown.set(None);
        self.is_outdated.set(true);
        self.save();
        self.check();
    }
}

/// Returns whether an error of the first request means that Magnum was not asked.
fn nothing_was_sent(kind: UiErrorKind) -> bool {
    !matches!(kind, UiErrorKind::Unavailable | UiErrorKind::Internal)
}

/// Returns a form that has the group which Magnum makes in any case.
fn with_default_group(mut form: CreationForm) -> CreationForm {
    if !form.groups.iter().any(|group| group.name == DEFAULT_GROUP) {
        let group = GroupForm {
            name: DEFAULT_GROUP.to_owned(),
            ..GroupForm::default()
        };
        form.groups.insert(0, group);
    }
    form
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_form_has_the_default_group_once() {
        let form = with_default_group(CreationForm::default());
        assert_eq!(form.groups.len(), 1);
        assert_eq!(with_default_group(form.clone()), form);
    }

    #[test]
    fn a_lost_response_keeps_its_attempt() {
        assert!(!nothing_was_sent(UiErrorKind::Unavailable));
        assert!(!nothing_was_sent(UiErrorKind::Internal));
        assert!(nothing_was_sent(UiErrorKind::Invalid));
    }
}
