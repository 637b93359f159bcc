//! The kernel's own CUBIC without its HyStart, as another congestion control.

use std::fmt;

use libbpf_rs::{ErrorKind, Link, MapCore, Object, ObjectBuilder, OpenObject};

use crate::error::LoadError;
use crate::loader::{BPF_F_LINK, CUBIC, explained, name_operations, valid_name};

/// CUBIC without HyStart in the kernel; dropping it takes its name away. Connections that use it keep it.
pub struct PlainCubic {
    name: String,
    // Fields drop in this order: the name goes before the program.
    link: Option<Link>,
    object: Object,
}

impl PlainCubic {
    /// Name to set as `TCP_CONGESTION`.
    pub fn name(&self) -> &str {
        &self.name
    }
}

impl fmt::Debug for PlainCubic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PlainCubic").field("name", &self.name).finish_non_exhaustive()
    }
}

/// Registers the kernel's own CUBIC under another name, with its HyStart off for the connections that choose it.
///
/// The kernel's own switch, a module parameter, holds for every connection of the machine.
pub fn load_cubic_without_hystart(name: &str) -> Result<PlainCubic, LoadError> {
    if !valid_name(name) {
        return Err(LoadError::Name { name: name.to_owned() });
    }
    let load = |link| open(name, link).and_then(OpenObject::load);
    let object = match explained("loading the program", || load(true)) {
        Ok(object) => object,
        // Before Linux 6.4. Any other trouble comes again.
        Err(first) => explained("loading the program", || load(false)).map_err(|_| first)?,
    };
    let mut cubic = PlainCubic { name: name.to_owned(), link: None, object };
    let mut taken = false;
    let link = explained("registering the congestion control", || {
        let mut maps = cubic.object.maps_mut();
        let map = maps.find(|map| map.name() == "cubic");
        map.expect("the object has its operations").attach_struct_ops().inspect_err(|error| {
            taken = error.kind() == ErrorKind::AlreadyExists;
        })
    });
    cubic.link = Some(match link {
        Err(_) if taken => return Err(LoadError::NameTaken { name: name.to_owned() }),
        other => other?,
    });
    Ok(cubic)
}

fn open(name: &str, link: bool) -> libbpf_rs::Result<OpenObject> {
    let mut object = ObjectBuilder::default().name("ramp")?.open_memory(CUBIC)?;
    for mut map in object.maps_mut() {
        if map.name() == "cubic" {
            if let Some(operations) = map.initial_value_mut() {
                name_operations(operations, name);
            }
            map.set_map_flags(if link { BPF_F_LINK } else { 0 })?;
        }
    }
    Ok(object)
}
