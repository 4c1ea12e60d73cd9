"""The problem's own code, disposable: makes inputs and weights from the lane's seeds, and answers in fp64 when asked."""
