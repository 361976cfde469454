mod capabilities;
mod status;
