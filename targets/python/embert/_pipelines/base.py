# SPDX-License-Identifier: Apache-2.0
"""What the pipelines share: their arguments, given when a pipeline is made or called, and texts to objects of the tool."""

from typing import Any, ClassVar, Dict, List, Optional, Sequence

from .._binding.handle import Texts
from .._binding.texts import as_list, pack
from .._model import Model, StrPath, positive, require_task
from .._refuse import PIPELINE, Refused, refuse


class Pipeline(Model):
    """A pipeline of transformers. Arguments of a call can also be given where the pipeline is made. `batch_size` changes nothing:
    texts are not padded, and one call uses all threads."""

    task: ClassVar[str]
    TASK_OF_TOOL: ClassVar[str]
    ARGUMENTS: ClassVar[Dict[str, Any]]  # with their defaults
    REFUSED: ClassVar[Dict[str, Refused]] = {}

    def __init__(
        self, path: StrPath, threads: Optional[int], cache_folder: Optional[StrPath], arguments: Dict[str, Any]
    ) -> None:
        arguments = _without_batch_size(arguments)
        own = {name: value for name, value in arguments.items() if name in self.ARGUMENTS}
        rest = {name: value for name, value in arguments.items() if name not in own}
        refuse(f'pipeline("{self.task}")', rest, {**PIPELINE, **self.REFUSED})
        super().__init__(path, threads=threads, cache_folder=cache_folder)
        require_task(self, self.TASK_OF_TOOL, type(self))
        self._given = own

    def _merged(self, arguments: Dict[str, Any]) -> Dict[str, Any]:
        """Returns all arguments of a call."""
        arguments = _without_batch_size(arguments)
        rest = {name: value for name, value in arguments.items() if name not in self.ARGUMENTS}
        refuse(f'pipeline("{self.task}")', rest, {"num_workers": PIPELINE["num_workers"], **self.REFUSED})
        return {**self.ARGUMENTS, **self._given, **arguments}

    def _run(
        self, texts: Sequence[str], options: Dict[str, Any], pairs: Optional[Sequence[str]] = None, name: str = "inputs"
    ) -> List[Dict[str, Any]]:
        """Returns the object of the tool for each text."""
        if not texts:
            return []
        packed = Texts(pack(texts, name), None if pairs is None else pack(pairs, name))
        return self._handle.run_task(self.TASK_OF_TOOL, packed, options)

    def _items(self, inputs: Any) -> Any:
        items, is_single = as_list(inputs, "inputs")
        pack(items, "inputs")
        return items, is_single


def _without_batch_size(arguments: Dict[str, Any]) -> Dict[str, Any]:
    if arguments.get("batch_size") is not None:
        positive("batch_size", arguments["batch_size"])
    return {name: value for name, value in arguments.items() if name != "batch_size"}
