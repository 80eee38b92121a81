"""What models are told and asked: instructions of ours, untrusted text fenced in, the shape of an answer, its check."""
