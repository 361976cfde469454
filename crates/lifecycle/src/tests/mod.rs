mod capabilities;
mod failure;
mod status;
