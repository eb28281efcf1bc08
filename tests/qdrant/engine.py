"""Qdrant's gRPC protocol in front of Qdrant's own engine, for tests on machines that cannot have the server.

Collections live in a temporary directory. Calls and options that it does not know are refused as UNIMPLEMENTED.
"""

import argparse
import functools
import itertools
import os
import shutil
import signal
import tempfile
import threading
import time
import traceback
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from importlib.metadata import version

import grpc
import numpy
import qdrant_edge as engine
from grpc import StatusCode
from qdrant_client import grpc as qdrant
from qdrant_client.conversions.conversion import grpc_to_payload, payload_to_grpc

# How the engine begins the errors which are not the caller's fault.
TROUBLE = (
    "All appendable segments",
    "Inconsistent storage",
    "Operation cancelled",
    "Out of memory",
    "Service runtime error",
    "Storage file not found",
    "Timeout error",
)


class Refusal(Exception):
    def __init__(self, code, words):
        super().__init__(words)
        self.code = code


def unknown(what):
    return Refusal(StatusCode.UNIMPLEMENTED, f"{what} is not supported by this stand-in")


def invalid(what):
    return Refusal(StatusCode.INVALID_ARGUMENT, f"Validation error in body: [{what}]")


def status_of(failure):
    if isinstance(failure, Refusal):
        return failure.code, str(failure)
    if type(failure) in (Exception, ValueError) and not str(failure).startswith(TROUBLE):
        return StatusCode.INVALID_ARGUMENT, f"Wrong input: {failure}"
    traceback.print_exception(failure)
    return StatusCode.INTERNAL, f"Service internal error: {failure}"


def answers(call):
    """Turns a method from request to response into a servicer's method."""

    @functools.wraps(call)
    def method(self, request, context):
        started = time.perf_counter()
        try:
            response = call(self, request)
        except BaseException as failure:  # a panic of the engine is not an Exception
            context.abort(*status_of(failure))
        response.time = time.perf_counter() - started
        return response

    return method


# Reading requests


def only(message, known):
    """Refuses the fields that would otherwise be passed over in silence."""
    for field, _ in message.ListFields():
        if field.name not in known.split():
            raise unknown(f"{message.DESCRIPTOR.name}.{field.name}")


def given(message, field):
    return getattr(message, field) if message.HasField(field) else None


def read_variant(message, oneof, readers):
    kind = message.WhichOneof(oneof)
    if kind is None:
        raise invalid(f"{message.DESCRIPTOR.name}.{oneof}: missing")
    if kind not in readers:
        raise unknown(f"{message.DESCRIPTOR.name}.{kind}")
    return readers[kind](getattr(message, kind))


def read_name(name, members):
    """The engine's member of an enumeration, which it calls as the protocol does."""
    if not hasattr(members, name):
        raise invalid(f"{members.__name__}: {name}")
    return getattr(members, name)


def read_id(point_id):
    return read_variant(point_id, "point_id_options", {"num": int, "uuid": str})


def read_ids(ids):
    return [read_id(point_id) for point_id in ids]


def read_dense(vector):
    return list(vector.data)


def read_sparse(vector):
    return checked_sparse(vector.indices, vector.values)


def checked_sparse(indices, values):
    """The engine leaves these checks to the server, and breaks without them."""
    if len(indices) != len(values):
        raise invalid("values: must be the same length as indices")
    if len(set(indices)) != len(indices):
        raise invalid("indices: must be unique")
    return engine.SparseVector(list(indices), list(values))


def read_vector(vector):
    if vector.WhichOneof("vector"):
        return read_variant(vector, "vector", {"dense": read_dense, "sparse": read_sparse})
    only(vector, "data indices")
    if vector.HasField("indices"):
        return checked_sparse(vector.indices.data, vector.data)
    return read_dense(vector)


def read_named_vectors(named):
    return {name: read_vector(vector) for name, vector in named.vectors.items()}


def read_point(point):
    if not point.HasField("vectors"):
        raise Refusal(StatusCode.INVALID_ARGUMENT, "Expected some vectors")
    vectors = read_variant(point.vectors, "vectors_options", {"vector": read_vector, "vectors": read_named_vectors})
    return engine.Point(read_id(point.id), vectors, grpc_to_payload(point.payload))


def read_match(match):
    readers = {
        "keyword": engine.MatchValue,
        "integer": engine.MatchValue,
        # The engine's binding takes Python's bool for an integer, but not numpy's.
        "boolean": lambda value: engine.MatchValue(numpy.bool_(value)),
        "keywords": lambda value: engine.MatchAny(list(value.strings)),
        "integers": lambda value: engine.MatchAny(list(value.integers)),
    }
    return read_variant(match, "match_value", readers)


def read_range(bounds):
    return engine.RangeFloat(**{end: given(bounds, end) for end in ("gte", "gt", "lte", "lt")})


def read_field_condition(field):
    only(field, "key match range")
    if not field.HasField("match") and not field.HasField("range"):
        raise invalid("match: At least one field condition must be specified")
    return engine.FieldCondition(
        field.key,
        match=read_match(field.match) if field.HasField("match") else None,
        range=read_range(field.range) if field.HasField("range") else None,
    )


def read_condition(condition):
    readers = {
        "field": read_field_condition,
        "filter": read_conditions,
        "has_id": lambda condition: engine.HasIdCondition(set(read_ids(condition.has_id))),
        "is_empty": lambda condition: engine.IsEmptyCondition(condition.key),
        "is_null": lambda condition: engine.IsNullCondition(condition.key),
    }
    return read_variant(condition, "condition_one_of", readers)


def read_conditions(conditions):
    only(conditions, "must should must_not")
    return engine.Filter(
        must=[read_condition(condition) for condition in conditions.must],
        should=[read_condition(condition) for condition in conditions.should],
        must_not=[read_condition(condition) for condition in conditions.must_not],
    )


def read_filter(request, field="filter"):
    return read_conditions(getattr(request, field)) if request.HasField(field) else None


def read_with_payload(request, default):
    if not request.HasField("with_payload"):
        return default
    readers = {
        "enable": bool,
        "include": lambda selector: list(selector.fields),
        "exclude": lambda selector: engine.PayloadSelector.Exclude(list(selector.fields)),
    }
    return read_variant(request.with_payload, "selector_options", readers)


def read_with_vectors(request):
    readers = {"enable": bool, "include": lambda selector: list(selector.names)}
    return request.HasField("with_vectors") and read_variant(request.with_vectors, "selector_options", readers)


def at_least_one(name, value):
    if value < 1:
        raise invalid(f"{name}: value {value} invalid, must be 1 or larger")
    return value


def read_limit(request):
    return at_least_one("limit", request.limit) if request.HasField("limit") else 10


def read_search_params(params):
    only(params, "hnsw_ef exact indexed_only idf")
    return engine.SearchParams(
        hnsw_ef=given(params, "hnsw_ef"),
        exact=params.exact,
        indexed_only=params.indexed_only,
        idf=engine.IdfParams(read_filter(params.idf, "corpus")) if params.HasField("idf") else None,
    )


def read_nearest(request):
    vectors = {"dense": read_dense, "sparse": read_sparse}
    nearest = {"nearest": lambda vector: read_variant(vector, "variant", vectors)}
    return engine.Query.Nearest(read_variant(request.query, "variant", nearest), given(request, "using"))


def read_query(request):
    only(
        request,
        "collection_name query using filter params score_threshold limit offset with_vectors with_payload "
        "read_consistency timeout",
    )
    return engine.QueryRequest(
        limit=read_limit(request),
        offset=request.offset,
        query=read_nearest(request) if request.HasField("query") else None,
        filter=read_filter(request),
        score_threshold=given(request, "score_threshold"),
        params=read_search_params(request.params) if request.HasField("params") else None,
        with_vector=read_with_vectors(request),
        with_payload=read_with_payload(request, default=False),
    )


def read_vector_params(params):
    only(params, "size distance hnsw_config on_disk memory")
    distance = read_name(qdrant.Distance.Name(params.distance), engine.Distance)
    return engine.EdgeVectorParams(size=at_least_one("size", params.size), distance=distance)


def read_sparse_vector_params(params):
    only(params, "index modifier")
    only(params.index, "full_scan_threshold on_disk memory")
    modifier = read_name(qdrant.Modifier.Name(params.modifier), engine.Modifier)
    return engine.EdgeSparseVectorParams(modifier=modifier)


def read_engine_config(request):
    only(request.vectors_config, "params_map")
    dense, sparse = request.vectors_config.params_map.map, request.sparse_vectors_config.map
    return engine.EdgeConfig(
        vectors={name: read_vector_params(params) for name, params in dense.items()},
        sparse_vectors={name: read_sparse_vector_params(params) for name, params in sparse.items()},
        wal_enabled=False,
    )


# Writing responses


def write_id(point_id):
    return qdrant.PointId(num=point_id) if isinstance(point_id, int) else qdrant.PointId(uuid=str(point_id))


def write_vector(vector):
    if isinstance(vector, engine.SparseVector):
        return qdrant.VectorOutput(sparse=qdrant.SparseVector(indices=vector.indices, values=vector.values))
    return qdrant.VectorOutput(dense=qdrant.DenseVector(data=vector))


def write_vectors(vectors):
    if vectors is None:
        return None
    named = {name: write_vector(vector) for name, vector in vectors.items()}
    return qdrant.VectorsOutput(vectors=qdrant.NamedVectorsOutput(vectors=named))


def write_point(kind, point, **more):
    payload = payload_to_grpc(point.payload or {})
    return kind(id=write_id(point.id), payload=payload, vectors=write_vectors(point.vector), **more)


def write_records(records):
    return [write_point(qdrant.RetrievedPoint, record) for record in records]


def write_scored(points):
    return [write_point(qdrant.ScoredPoint, point, score=point.score, version=point.version) for point in points]


def write_index(index):
    kind = str(index.data_type).removeprefix("PayloadSchemaType.")
    return qdrant.PayloadSchemaInfo(data_type=qdrant.PayloadSchemaType.Value(kind), points=index.points)


def write_config(request):
    params = qdrant.CollectionParams(
        shard_number=1,
        on_disk_payload=request.on_disk_payload,
        vectors_config=given(request, "vectors_config"),
        sparse_vectors_config=given(request, "sparse_vectors_config"),
    )
    return qdrant.CollectionConfig(
        params=params,
        hnsw_config=given(request, "hnsw_config"),
        optimizer_config=given(request, "optimizers_config"),
        wal_config=given(request, "wal_config"),
    )


# The collections and the services


class Collection:
    def __init__(self, request, directory):
        self.lock = threading.Lock()
        self.config = write_config(request)
        self.directory = directory
        self.shard = engine.EdgeShard.create(directory, read_engine_config(request))

    def drop(self):
        with self.lock:
            self.shard.close()
        shutil.rmtree(self.directory)


class Store:
    def __init__(self, directory):
        self.lock = threading.Lock()
        self.collections = {}
        self.directories = (os.path.join(directory, str(number)) for number in itertools.count())

    def create(self, request):
        name = request.collection_name
        with self.lock:
            if name in self.collections:
                raise Refusal(StatusCode.ALREADY_EXISTS, f"Wrong input: Collection `{name}` already exists!")
            self.collections[name] = Collection(request, next(self.directories))

    def drop(self, name):
        with self.lock:
            collection = self.collections.pop(name, None)
        if collection:
            collection.drop()
        return collection is not None

    def close(self):
        for name in list(self.collections):
            self.drop(name)

    @contextmanager
    def collection(self, name):
        """The collection, which is this caller's alone for as long."""
        found = self.collections.get(name)
        if found:
            with found.lock:
                # It may have been dropped while we waited.
                if self.collections.get(name) is found:
                    yield found
                    return
        raise Refusal(StatusCode.NOT_FOUND, f"Not found: Collection `{name}` doesn't exist!")


class Health(qdrant.QdrantServicer):
    def HealthCheck(self, request, context):
        # Clients compare the version with their own, so it is the protocol's and not the engine's.
        return qdrant.HealthCheckReply(
            title="qdrant - vector search engine",
            version=version("qdrant-client"),
            commit=f"qdrant-edge-py {version('qdrant-edge-py')}",
        )


class Collections(qdrant.CollectionsServicer):
    def __init__(self, store):
        self.store = store

    @answers
    def Get(self, request):
        with self.store.collection(request.collection_name) as collection:
            info = collection.shard.info()
        result = qdrant.CollectionInfo(
            status=qdrant.CollectionStatus.Green,
            optimizer_status=qdrant.OptimizerStatus(ok=True),
            segments_count=info.segments_count,
            config=collection.config,
            payload_schema={field: write_index(index) for field, index in info.payload_schema.items()},
            points_count=info.points_count,
            indexed_vectors_count=info.indexed_vectors_count,
        )
        return qdrant.GetCollectionInfoResponse(result=result)

    @answers
    def List(self, request):
        names = [qdrant.CollectionDescription(name=name) for name in list(self.store.collections)]
        return qdrant.ListCollectionsResponse(collections=names)

    @answers
    def CollectionExists(self, request):
        exists = request.collection_name in self.store.collections
        return qdrant.CollectionExistsResponse(result=qdrant.CollectionExists(exists=exists))

    @answers
    def Create(self, request):
        only(
            request,
            "collection_name vectors_config sparse_vectors_config hnsw_config wal_config optimizers_config "
            "on_disk_payload timeout",
        )
        self.store.create(request)
        return qdrant.CollectionOperationResponse(result=True)

    @answers
    def Delete(self, request):
        return qdrant.CollectionOperationResponse(result=self.store.drop(request.collection_name))


class Points(qdrant.PointsServicer):
    def __init__(self, store):
        self.store = store

    def update(self, request, operation):
        with self.store.collection(request.collection_name) as collection:
            collection.shard.update(operation)
        status = qdrant.UpdateStatus.Completed if request.wait else qdrant.UpdateStatus.Acknowledged
        return qdrant.PointsOperationResponse(result=qdrant.UpdateResult(status=status))

    @answers
    def Upsert(self, request):
        only(request, "collection_name wait points ordering timeout")
        points = [read_point(point) for point in request.points]
        return self.update(request, engine.UpdateOperation.upsert_points(points))

    @answers
    def Delete(self, request):
        only(request, "collection_name wait points ordering timeout")
        readers = {
            "points": lambda points: engine.UpdateOperation.delete_points(read_ids(points.ids)),
            "filter": lambda filter: engine.UpdateOperation.delete_points_by_filter(read_conditions(filter)),
        }
        return self.update(request, read_variant(request.points, "points_selector_one_of", readers))

    @answers
    def CreateFieldIndex(self, request):
        only(request, "collection_name wait field_name field_type ordering timeout")
        if not request.HasField("field_type"):
            raise invalid("field_type: missing")
        kind = qdrant.FieldType.Name(request.field_type).removeprefix("FieldType")
        schema = read_name(kind, engine.PayloadSchemaType)
        return self.update(request, engine.UpdateOperation.create_field_index(request.field_name, schema))

    @answers
    def Get(self, request):
        only(request, "collection_name ids with_payload with_vectors read_consistency timeout")
        ids, with_payload = read_ids(request.ids), read_with_payload(request, default=False)
        with self.store.collection(request.collection_name) as collection:
            records = collection.shard.retrieve(ids, with_payload, read_with_vectors(request))
        return qdrant.GetResponse(result=write_records(records))

    @answers
    def Scroll(self, request):
        only(request, "collection_name filter offset limit with_payload with_vectors read_consistency timeout")
        scroll = engine.ScrollRequest(
            offset=read_id(request.offset) if request.HasField("offset") else None,
            limit=read_limit(request),
            filter=read_filter(request),
            with_payload=read_with_payload(request, default=True),
            with_vector=read_with_vectors(request),
        )
        with self.store.collection(request.collection_name) as collection:
            records, following = collection.shard.scroll(scroll)
        offset = None if following is None else write_id(following)
        return qdrant.ScrollResponse(result=write_records(records), next_page_offset=offset)

    @answers
    def Count(self, request):
        only(request, "collection_name filter exact read_consistency timeout")
        exact = request.exact if request.HasField("exact") else True
        count = engine.CountRequest(exact=exact, filter=read_filter(request))
        with self.store.collection(request.collection_name) as collection:
            counted = collection.shard.count(count)
        return qdrant.CountResponse(result=qdrant.CountResult(count=counted))

    @answers
    def Query(self, request):
        query = read_query(request)
        with self.store.collection(request.collection_name) as collection:
            points = collection.shard.query(query)
        return qdrant.QueryResponse(result=write_scored(points))

    @answers
    def QueryBatch(self, request):
        only(request, "collection_name query_points read_consistency timeout")
        batch = engine.QueryBatchRequest([read_query(query) for query in request.query_points])
        with self.store.collection(request.collection_name) as collection:
            answered = collection.shard.query_batch(batch)
        results = [qdrant.BatchResult(result=write_scored(points)) for points in answered]
        return qdrant.QueryBatchResponse(result=results)


def serve(store, port):
    # A batch of points is easily larger than the 4 MB which gRPC takes by default.
    options = [("grpc.max_receive_message_length", -1), ("grpc.max_send_message_length", -1), ("grpc.so_reuseport", 0)]
    server = grpc.server(ThreadPoolExecutor(), options=options)
    qdrant.add_QdrantServicer_to_server(Health(), server)
    qdrant.add_CollectionsServicer_to_server(Collections(store), server)
    qdrant.add_PointsServicer_to_server(Points(store), server)
    bound = server.add_insecure_port(f"127.0.0.1:{port}")
    server.start()
    return server, bound


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, default=0)
    port = parser.parse_args().port
    stopped = threading.Event()
    for name in (signal.SIGINT, signal.SIGTERM):
        signal.signal(name, lambda *_: stopped.set())
    with tempfile.TemporaryDirectory(prefix="segue-qdrant-") as directory:
        store = Store(directory)
        server, bound = serve(store, port)
        print(f"Qdrant's engine answers on http://127.0.0.1:{bound}", flush=True)
        stopped.wait()
        server.stop(grace=1).wait()
        store.close()


if __name__ == "__main__":
    main()
