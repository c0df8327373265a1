"""Small real graphs, bundled with the package for examples, demonstrations and tests."""

from graphlode.datasets.load import dataset, dataset_info, dataset_names, dataset_path
from graphlode.datasets.table import Dataset

__all__ = ["Dataset", "dataset", "dataset_info", "dataset_names", "dataset_path"]
