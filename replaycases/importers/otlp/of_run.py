"""What spans and their resources say of the run record."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from replaycases.importers.otlp.selection import Selection
from replaycases.importers.otlp.spans import Span
from replaycases.importers.run_record import host_of, of_trace, repository_of

JSON = Any
_IMAGE = ("container.image.repo_digests", "oci.manifest.digest", "container.image.id")
_DEPLOYMENT = ("deployment.environment.name", "deployment.environment")
_ADDRESSES = ("server.address", "url.full", "http.url")
_REQUEST_IDS = ("gen_ai.response.id", "http.response.header.x-request-id", "http.response.header.request-id")


def record_in(selection: Selection, spans: Sequence[Span]) -> dict[str, str]:
    """The run is its outermost span; a parent of that which is not in the file is the run that it was a part of. Where
    several spans say something, each thing is kept once."""
    roots = selection.roots
    resources = list({id(span.resource): span.resource for span in spans}.values())
    models = [place.site.span for place in selection.places if place.taken and place.kind == "model"]
    return of_trace(
        run_id=roots[0].span_id if len(roots) == 1 else None,
        parent_run_id=roots[0].parent_id if len(roots) == 1 else None,
        repository=[repository_of(url) for url in _said(resources, "vcs.repository.url.full")],
        commit=list(_said(resources, "vcs.ref.head.revision")),
        image_digest=list(_said(resources, *_IMAGE)),
        toolchain=[_runtime(resource) for resource in resources],
        deployment=list(_said(resources, *_DEPLOYMENT)),
        endpoint=[_host(span.attributes) for span in models],
        request_ids=list(_said((span.attributes for span in models), *_REQUEST_IDS)),
    )


def _said(attributes: Iterable[Mapping[str, JSON]], *keys: str) -> Iterator[JSON]:
    """Of each the first that it names; what is a list one by one."""
    for one in attributes:
        value = next((one[key] for key in keys if one.get(key)), None)
        yield from value if isinstance(value, list) else [value]


def _host(attributes: Mapping[str, JSON]) -> str:
    address = next((attributes[key] for key in _ADDRESSES if attributes.get(key)), None)
    return host_of(address, attributes.get("server.port"))


def _runtime(resource: Mapping[str, JSON]) -> str:
    named, version = (resource.get(f"process.runtime.{part}") for part in ("name", "version"))
    return " ".join(part for part in (named, version) if isinstance(part, str)) if named else ""
