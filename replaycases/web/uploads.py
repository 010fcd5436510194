"""Uploaded files, on pages and in the API: written to a file without a name, where Django's own would lie in the
temporary folder under one until they are closed, and stay there if the process is killed."""

from __future__ import annotations

from typing import Any

from django.core.files.uploadedfile import UploadedFile
from django.core.files.uploadhandler import FileUploadHandler

from replaycases.cases import incoming


class NamelessUpload(FileUploadHandler):
    def new_file(self, *args: Any, **kwargs: Any) -> None:
        super().new_file(*args, **kwargs)
        self.file = incoming.spool()

    def receive_data_chunk(self, raw_data: bytes, start: int) -> None:
        self.file.write(raw_data)

    def file_complete(self, file_size: int) -> UploadedFile[Any]:
        self.file.seek(0)
        return UploadedFile(
            file=self.file,
            name=self.file_name,
            content_type=self.content_type,
            size=file_size,
            charset=self.charset,
            content_type_extra=self.content_type_extra,
        )

    def upload_interrupted(self) -> None:
        if hasattr(self, "file"):
            self.file.close()
