"""A pool of learners that rank rows, labelled against unlabelled, and the weights of each."""
