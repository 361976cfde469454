//! Users of a run in the real Keystone, and the expected responses for their tokens.
use crate::kube_auth::client::Ask;
use crate::kube_auth::expected::Expected;
use crate::kube_auth::webhook::Workplace;
use anyhow::Result;
use portico_testkit::{KeystoneAdmin, TestEnv, TestUser};
use secrecy::SecretString;

/// More than one, so that a response for the wrong user is noticed.
const USERS: usize = 2;

/// Users who exist as long as the run.
pub struct Users {
    admin: KeystoneAdmin,
    users: Vec<TestUser>,
    pub project: String,
}

impl Users {
    /// Creates them, with a role in a project of the stack.
    pub async fn create(env: &TestEnv) -> Result<Self> {
        let admin = KeystoneAdmin::sign_in(env).await?;
        let project = env.get("PROJECT_ID_ACME")?.to_owned();
        let mut all = Self {
            admin,
            users: Vec::new(),
            project,
        };
        for role in ["ROLE_ID_K8S_DEVELOPER", "ROLE_ID_K8S_VIEWER"]
            .into_iter()
            .cycle()
            .take(USERS)
        {
            let user = all.admin.create_user("bench").await?;
            all.users.push(user);
            if let Some(user) = all.users.last() {
                all.admin
                    .grant(&user.id, &all.project, env.get(role)?)
                    .await?;
            }
        }
        Ok(all)
    }

    /// Returns a new Keystone token for each user.
    pub async fn sign_in(&self) -> Result<Vec<SecretString>> {
        let mut tokens = Vec::new();
        for user in &self.users {
            tokens.push(self.admin.token_of(user, &self.project).await?);
        }
        Ok(tokens)
    }

    /// Returns a new Keystone token of the first user.
    pub async fn sign_in_one(&self) -> Result<SecretString> {
        self.admin.token_of(&self.users[0], &self.project).await
    }

    /// Returns the expected response for the token of user number `index`.
    pub fn expected(&self, index: usize) -> Expected {
        let uid = &self.users[index].id;
        Expected::User {
            uid: uid.clone(),
            others: self
                .users
                .iter()
                .map(|user| user.id.clone())
                .filter(|id| id != uid)
                .collect(),
        }
    }

    /// Returns `each` reviews for each user, of one Keystone token each, every one sealed
    /// separately.
    pub async fn asks(&self, workplace: &Workplace, each: usize) -> Result<Vec<Ask>> {
        let mut asks = Vec::new();
        for (index, token) in self.sign_in().await?.iter().enumerate() {
            for _ in 0..each {
                let sealed = workplace.seal(token)?;
                asks.push(Ask::new(&sealed, self.expected(index)));
            }
        }
        Ok(asks)
    }

    /// Deletes them.
    pub async fn delete(self) -> Result<()> {
        for user in &self.users {
            self.admin.delete_user(&user.id).await?;
        }
        Ok(())
    }
}
