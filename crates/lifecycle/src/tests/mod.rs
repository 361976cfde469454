mod capabilities;
mod failure;
mod labels;
mod quota;
mod status;
