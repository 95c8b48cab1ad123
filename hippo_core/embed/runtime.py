"""ONNX Runtime as every model here uses it: one thread, quietly, reporting to nobody. Knows no model."""

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import onnxruntime


def open_session(model: str | bytes, folder: str, *, unpacked: bool = True) -> "onnxruntime.InferenceSession":
    """The model, from its file or its bytes; what it keeps outside lies in `folder`. Raises what the runtime raises.

    unpacked: the runtime may rewrite the graph for speed, which takes time and memory.
    """
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"  # read at import; without it the runtime reports its use to its makers
    import numpy  # noqa: F401  the runtime begins in NumPy's middle, which fails a thread that imports it meanwhile
    import onnxruntime

    onnxruntime.disable_telemetry_events()  # what Windows builds report to the system's own event log
    options = onnxruntime.SessionOptions()
    # More threads would spin beside the user's builds; one is what the figures were measured with.
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 4  # what it refuses is told by whoever asked for it, not by its own complaint
    options.enable_mem_pattern = False  # plans for each shape of a batch, none of which comes again: 20 to 80 MB
    options.add_session_config_entry("session.model_external_initializers_file_folder_path", folder)
    if not unpacked:
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
