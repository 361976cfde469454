mod capabilities;
mod examples;
mod failure;
mod labels;
mod quota;
mod spec;
mod status;
mod version;
