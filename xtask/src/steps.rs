//! What the steps of the build share: where things are, and how a step is run.
use anyhow::{Context, Result, anyhow, ensure};
use std::{
    cmp::Reverse,
    fs,
    num::NonZero,
    path::{Path, PathBuf},
    process::Command,
    sync::atomic::{AtomicUsize, Ordering},
    thread,
    time::Instant,
};

pub struct Paths {
    pub root: PathBuf,
    /// Cargo's output for the browser: a directory of its own, so that it neither waits for the
    /// server's build nor mixes features with it.
    pub front: PathBuf,
    pub site: PathBuf,
    pub pkg: PathBuf,
    pub node_bin: PathBuf,
}

/// The files of a folder, sorted.
pub fn files(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut files: Vec<PathBuf> = fs::read_dir(folder)?
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<Result<_, _>>()?;
    files.retain(|file| file.is_file());
    files.sort();
    Ok(files)
}

/// The same files, largest first: the order in which parallel work on them takes the least time.
pub fn largest_first(files: Vec<PathBuf>) -> Result<Vec<PathBuf>> {
    let mut sized: Vec<(u64, PathBuf)> = files
        .into_iter()
        .map(|file| Ok((file.metadata()?.len(), file)))
        .collect::<Result<_>>()?;
    sized.sort_by_key(|(size, _)| Reverse(*size));
    Ok(sized.into_iter().map(|(_, file)| file).collect())
}

pub fn processors() -> usize {
    thread::available_parallelism().map_or(1, NonZero::get)
}

/// Does the work for each item, on as many threads as there are processors. Returns the results in the
/// order of the items.
///
/// # Errors
/// An error of the work. Items that are not begun by then are left out.
pub fn in_parallel<T, R, F>(items: &[T], work: F) -> Result<Vec<R>>
where
    T: Sync,
    R: Send,
    F: Fn(&T) -> Result<R> + Sync,
{
    let next = AtomicUsize::new(0);
    let worker = || -> Result<Vec<(usize, R)>> {
        let mut results = Vec::new();
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(item) = items.get(index) else {
                return Ok(results);
            };
            let result = work(item);
            if result.is_err() {
                next.store(items.len(), Ordering::Relaxed);
            }
            results.push((index, result?));
        }
    };
    let of_threads = thread::scope(|scope| {
        let threads: Vec<_> = (0..processors()).map(|_| scope.spawn(worker)).collect();
        threads
            .into_iter()
            .map(|thread| {
                thread
                    .join()
                    .map_err(|_| anyhow!("a thread of the build panicked"))?
            })
            .collect::<Result<Vec<_>>>()
    })?;
    let mut results: Vec<(usize, R)> = of_threads.into_iter().flatten().collect();
    results.sort_by_key(|(index, _)| *index);
    Ok(results.into_iter().map(|(_, result)| result).collect())
}

pub fn run(what: &str, command: &mut Command) -> Result<()> {
    let start = Instant::now();
    let status = command.status().with_context(|| format!("start {what}"))?;
    ensure!(status.success(), "{what} failed: {status}");
    done(what, start);
    Ok(())
}

pub fn done(what: &str, start: Instant) {
    eprintln!("{what}: {:.1} s", start.elapsed().as_secs_f32());
}

/// Returns bytes as hexadecimal digits.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::{in_parallel, largest_first};
    use anyhow::{Result, bail};
    use std::fs;

    #[test]
    fn results_of_parallel_work_are_in_the_order_of_the_items() {
        let items: Vec<u32> = (0..100).collect();
        let doubled = in_parallel(&items, |item| Ok(item * 2)).unwrap();
        assert_eq!(
            doubled,
            items.iter().map(|item| item * 2).collect::<Vec<_>>()
        );
        let none: Vec<u32> = in_parallel(&[], |item: &u32| Ok(*item)).unwrap();
        assert!(none.is_empty());
    }

    #[test]
    fn an_error_of_parallel_work_is_returned() {
        let items: Vec<u32> = (0..100).collect();
        let result: Result<Vec<()>> = in_parallel(&items, |item| {
            if *item == 7 {
                bail!("item {item}");
            }
            Ok(())
        });
        assert_eq!(result.unwrap_err().to_string(), "item 7");
    }

    #[test]
    fn larger_files_are_first() {
        let folder = tempfile::tempdir().unwrap();
        let files = ["a", "bbb", "cc"].map(|text| {
            let file = folder.path().join(text);
            fs::write(&file, text).unwrap();
            file
        });
        let [one, three, two] = files.clone();
        assert_eq!(largest_first(files.to_vec()).unwrap(), [three, two, one]);
    }
}
