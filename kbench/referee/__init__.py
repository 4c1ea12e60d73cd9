"""The referee. `client` is the driver's end; everything else runs in the lane process, which alone judges."""
