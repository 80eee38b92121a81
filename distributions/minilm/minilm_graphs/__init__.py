"""Makes the files of the distribution remembrancer-minilm from the published weights: `python -m minilm_graphs`."""
