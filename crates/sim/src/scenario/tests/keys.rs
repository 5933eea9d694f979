//! The schema against the reader: what one says of a key the other does.
