"""torch.package: archives of code, pickles and resources.  SPDX-License-Identifier: Apache-2.0"""
from .package_importer import PackageImporter
