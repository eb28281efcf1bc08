"""/openapi.json against the OpenAPI 3.1 schema itself."""

import json

from openapi_spec_validator import OpenAPIV31SpecValidator

from check import check, request, run_all


@check("the document is OpenAPI 3.1")
async def _():
    status, _, body = request("GET", "/openapi.json")
    document = json.loads(body)
    assert status == 200 and document["openapi"].startswith("3.1"), document.get("openapi")
    problems = [error.message for error in OpenAPIV31SpecValidator(document).iter_errors()]
    assert not problems, problems


if __name__ == "__main__":
    run_all("openapi")
