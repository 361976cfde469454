//! Redis as an attacker sees it who has its password and not our keys.
use ::redis::aio::MultiplexedConnection;
use ::redis::{Client, FromRedisValue, ToRedisArgs, cmd};
use std::collections::HashMap;

pub struct Raw {
    connection: MultiplexedConnection,
    pub prefix: String,
}

impl Raw {
    /// Behind a store's URL, with the prefix that it names.
    pub async fn connect(url: &str) -> Self {
        let (server, query) = url.split_once('?').unwrap_or((url, ""));
        let prefix = query.strip_prefix("prefix=").unwrap_or("portico:");
        let client = Client::open(server).unwrap();
        Self {
            connection: client.get_multiplexed_async_connection().await.unwrap(),
            prefix: prefix.to_owned(),
        }
    }

    pub async fn ask<T: FromRedisValue>(&mut self, words: &[&str]) -> T {
        let mut command = cmd(words[0]);
        command.arg(&words[1..]);
        command.query_async(&mut self.connection).await.unwrap()
    }

    pub fn key(&self, kind: &str, id: impl std::fmt::Display) -> String {
        format!("{}{kind}:{id}", self.prefix)
    }

    pub async fn keys(&mut self, kind: &str) -> Vec<String> {
        let pattern = format!("{}{kind}*", self.prefix);
        self.ask(&["KEYS", &pattern]).await
    }

    pub async fn hash(&mut self, key: &str) -> HashMap<String, String> {
        self.ask(&["HGETALL", key]).await
    }

    /// Puts one entry in the place of another.
    pub async fn copy(&mut self, from: &str, to: &str) {
        let copied: i64 = self.ask(&["COPY", from, to, "REPLACE"]).await;
        assert_eq!(copied, 1, "{from}");
    }

    pub async fn set_field(&mut self, key: &str, field: &str, value: impl ToRedisArgs) {
        let mut command = cmd("HSET");
        command.arg(key).arg(field).arg(value);
        let _: i64 = command.query_async(&mut self.connection).await.unwrap();
    }

    /// Every key with everything that is in it, as text.
    pub async fn everything(&mut self) -> Vec<String> {
        let mut all = Vec::new();
        for key in self.keys("").await {
            let kind: String = self.ask(&["TYPE", &key]).await;
            let words: Vec<String> = match kind.as_str() {
                "string" => vec![self.ask(&["GET", &key]).await],
                "hash" => self.ask(&["HGETALL", &key]).await,
                "set" => self.ask(&["SMEMBERS", &key]).await,
                "zset" => self.ask(&["ZRANGE", &key, "0", "-1"]).await,
                other => panic!("{key} is a {other}"),
            };
            all.push(key);
            all.extend(words);
        }
        all
    }
}
