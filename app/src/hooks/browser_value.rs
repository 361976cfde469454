//! State that only the browser has: sockets, elements, buffers. On the server there is none, as
//! such values must not move between threads, and a page's memory is freed on any free thread.
#[cfg(not(feature = "ssr"))]
use leptos::prelude::*;
use std::marker::PhantomData;

/// A `Copy` handle to a value in the browser, which lives as long as its component.
pub struct BrowserValue<T: 'static> {
    #[cfg(not(feature = "ssr"))]
    inner: StoredValue<T, LocalStorage>,
    value: PhantomData<fn() -> T>,
}

impl<T> Clone for BrowserValue<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for BrowserValue<T> {}

#[cfg(not(feature = "ssr"))]
impl<T: Default + 'static> Default for BrowserValue<T> {
    fn default() -> Self {
        Self {
            inner: StoredValue::new_local(T::default()),
            value: PhantomData,
        }
    }
}

#[cfg(feature = "ssr")]
impl<T: Default + 'static> Default for BrowserValue<T> {
    fn default() -> Self {
        Self { value: PhantomData }
    }
}

#[cfg(not(feature = "ssr"))]
impl<T: 'static> BrowserValue<T> {
    /// Returns `None` on the server, and after the component was removed.
    pub fn try_update_value<U>(&self, change: impl FnOnce(&mut T) -> U) -> Option<U> {
        self.inner.try_update_value(change)
    }

    /// Returns `None` on the server, and after the component was removed.
    pub fn try_with_value<U>(&self, look: impl FnOnce(&T) -> U) -> Option<U> {
        self.inner.try_with_value(look)
    }
}

#[cfg(feature = "ssr")]
impl<T: 'static> BrowserValue<T> {
    /// Returns `None` on the server, and after the component was removed.
    pub fn try_update_value<U>(&self, _: impl FnOnce(&mut T) -> U) -> Option<U> {
        None
    }

    /// Returns `None` on the server, and after the component was removed.
    pub fn try_with_value<U>(&self, _: impl FnOnce(&T) -> U) -> Option<U> {
        None
    }
}
