"""Running a program before and after a rewrite under TensorFlow, and comparing what it computed.

``wire``, ``shim``, ``probes``, ``modes`` and ``worker`` run inside the process that imports
TensorFlow, which may be Python 3.7 with TensorFlow 1.15: they keep to its syntax and standard
library. The other modules run in the tool's own process and never import TensorFlow.
"""
