use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use crate::{Error, ErrorKind, Kind, Plugin, Result};

/// A plugin that [`register_plugin!`](crate::register_plugin) linked into this binary.
#[derive(Debug)]
pub struct Registered(pub &'static Plugin);

inventory::collect!(Registered);

/// Makes a `static` [`Plugin`] known to [`Registry::linked`] of every binary that links its crate.
#[macro_export]
macro_rules! register_plugin {
    ($plugin:path) => {
        $crate::__private::inventory::submit! { $crate::Registered(&$plugin) }
    };
}

/// The plugins a program can open, by kind and name.
#[derive(Debug, Clone, Default)]
pub struct Registry {
    plugins: BTreeMap<(Kind, &'static str), &'static Plugin>,
}

impl Registry {
    /// Creates a registry of exactly these plugins.
    ///
    /// # Errors
    ///
    /// `InvalidInput` when two different plugins share kind and name.
    pub fn new(plugins: impl IntoIterator<Item = &'static Plugin>) -> Result<Self> {
        plugins.into_iter().try_fold(Self::default(), Self::with)
    }

    /// Creates a registry of all plugins linked into this binary.
    ///
    /// # Errors
    ///
    /// `InvalidInput` when two different plugins share kind and name.
    pub fn linked() -> Result<Self> {
        Self::new(
            inventory::iter::<Registered>
                .into_iter()
                .map(|registered| registered.0),
        )
    }

    /// Adds a plugin; adding the same one again changes nothing.
    ///
    /// # Errors
    ///
    /// `InvalidInput` when another plugin has its kind and name.
    pub fn with(mut self, plugin: &'static Plugin) -> Result<Self> {
        match self.plugins.entry((plugin.kind(), plugin.name)) {
            Entry::Vacant(entry) => {
                entry.insert(plugin);
                Ok(self)
            }
            Entry::Occupied(entry) if std::ptr::eq(*entry.get(), plugin) => Ok(self),
            Entry::Occupied(_) => {
                let message = format!("two {} plugins are named `{}`", plugin.kind(), plugin.name);
                Err(Error::new(ErrorKind::InvalidInput, message).with_hint("link one of them only"))
            }
        }
    }

    /// Returns the plugins, ordered by kind and name.
    pub fn iter(&self) -> impl Iterator<Item = &'static Plugin> {
        self.plugins.values().copied()
    }

    /// Returns the plugin of this kind and name.
    ///
    /// # Errors
    ///
    /// `Config` with the names that are linked and how a plugin gets linked.
    pub fn get(&self, kind: Kind, name: &str) -> Result<&'static Plugin> {
        if let Some(plugin) = self
            .iter()
            .find(|plugin| plugin.kind() == kind && plugin.name == name)
        {
            return Ok(plugin);
        }
        let linked: Vec<_> = self
            .iter()
            .filter(|plugin| plugin.kind() == kind)
            .map(|plugin| plugin.name)
            .collect();
        let linked = if linked.is_empty() {
            "none".to_owned()
        } else {
            linked.join(", ")
        };
        let message = format!("unknown {kind} plugin `{name}`, linked: {linked}");
        Err(Error::new(ErrorKind::Config, message).with_hint(
            "a plugin is linked when the program names it: `App::with_default_plugins().plugin(&its_crate::PLUGIN)`",
        ))
    }
}
